"""Old Excel workbooks, made byte by byte, since no library writes them."""

from struct import pack

SECTOR, END, FREE = 512, 0xFFFFFFFE, 0xFFFFFFFF


def record(kind, data=b""):
    return pack("<HH", kind, len(data)) + data


def cell(row, column, value):
    """Return the record of a text or a number."""
    if isinstance(value, str):
        text = pack("<HB", len(value), 0) + value.encode("latin-1")
        return record(0x204, pack("<HHH", row, column, 0) + text)
    return record(0x203, pack("<HHHd", row, column, 0, value))


def records_of(sheets, more=b""):
    """Return the records of a workbook, given those of its sheets."""
    bodies = [record(0x809, pack("<HHQ", 0x600, 0x10, 0)) + x for x in sheets]

    def head(starts):
        named = [
            record(0x85, pack("<IH", start, 0) + pack("<BB", 2, 0) + b"S%d" % i)
            for i, start in enumerate(starts)
        ]
        first = record(0x809, pack("<HHQ", 0x600, 5, 0))
        return first + more + b"".join(named) + record(0x0A)

    at = len(head([0] * len(sheets)))
    starts = [at + sum(len(x) + 4 for x in bodies[:i]) for i in range(len(bodies))]
    return head(starts) + b"".join(body + record(0x0A) for body in bodies)


def xls_of(stream, size=None):
    """Return a file whose only file is a workbook; a small one has small sectors."""
    size = len(stream) if size is None else size
    is_small = size < 4096
    n = -(-len(stream) // SECTOR)
    table = [0xFFFFFFFD, END, END, *range(4, n + 3), END]
    table += [FREE] * (SECTOR // 4 - len(table))
    small = [*range(1, len(stream) // 64 + 1), END]
    small += [FREE] * (SECTOR // 4 - len(small))
    root = _entry("Root Entry", 5, 3 if is_small else END, n * SECTOR, 1)
    book = _entry("Workbook", 2, 0 if is_small else 3, size)
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    head += pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += pack("<9I", 0, 1, 2, 0, 4096, 1, 1, END, 0) + pack(
        "<109I", 0, *[FREE] * 108
    )
    parts = [
        head,
        pack("<128I", *table),
        pack("<128I", *small),
        root + book + bytes(256),
        stream.ljust(n * SECTOR, b"\0"),
    ]
    return b"".join(parts)


def _entry(name, kind, start, size, child=FREE):
    text = name.encode("utf-16-le")
    links = pack("<HBBIII", len(text) + 2, kind, 1, FREE, FREE, child)
    return text.ljust(64, b"\0") + links + bytes(36) + pack("<IQ", start, size)
