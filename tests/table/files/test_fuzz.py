"""Random bytes: cells as the standard library reads them, or a clear error."""

import csv
import io

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfmoon.table._files import new_table, open_table
from halfmoon.table._table_errors import TableError

QUICK = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(QUICK, max_examples=5_000)

SIGNS = ['"', '""', ",", ";", "\t", "|", "\n", "\r", "\r\n", "a", "b", "1", "-2.5", " "]
RARE = ["=1+1", "@x", "\0", "\ufeff", "é", "\u2028", "\x0b", "\x1c", "\ud800", "😀"]
pieces = st.sampled_from([*SIGNS, *RARE])
encodings = st.sampled_from(
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7"]
)
odd_texts = st.lists(pieces, max_size=40).map("".join)
cells = st.text('",;|\t\n\rab1 =@é\ufeff', max_size=4)


@st.composite
def tables(draw):
    """A valid table in a random dialect."""
    width = draw(st.integers(1, 4))
    delimiter = draw(st.sampled_from(",;\t|"))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    # The writer does not quote a line end other than its own.
    quote_all = end != "\r\n" or draw(st.booleans())
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    names = [f"c{i}" for i in range(width)]
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), max_size=5))
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream, delimiter=delimiter, lineterminator=end, quoting=quoting
    )
    writer.writerows([names, *rows])
    text = stream.getvalue()
    if draw(st.booleans()):
        text = text.removesuffix(end)
    return text, delimiter, rows


@st.composite
def mutated(draw, good):
    """A valid table with some bytes changed, removed or inserted."""
    data = bytearray(draw(good))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(data)))
        action = draw(st.sampled_from(["change", "cut", "put"]))
        if action == "put" or place == len(data):
            data[place:place] = draw(st.binary(min_size=1, max_size=3))
        elif action == "cut":
            del data[place : place + draw(st.integers(1, 5))]
        else:
            data[place] = draw(st.integers(0, 255))
    return bytes(data)


def encoded(text, encoding):
    errors = "surrogatepass" if encoding.startswith("utf") else "replace"
    try:
        return text.encode(encoding, errors)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def check(data, **options):
    """Compare with the reader of the standard library; write the table and compare."""
    try:
        with open_table(io.BytesIO(data), **options) as table:
            rows = read(table)
            if not table.is_text:
                return None
            text = data[len(table.format.bom) :].decode(table.format.encoding)
            text, data = with_whole_header(table, text, data)
            assert text.startswith(table.lead + table.header)
            if table.lead.strip():  # a title
                text = text[len(table.lead) :]
            expected = expected_rows(text, table.format.delimiter)
            width = len(expected[0])
            padded = [row + [""] * (width - len(row)) for row in expected]
            if expected[0].count("") > 1:  # trailing commas
                named = enumerate(expected[0], start=1)
                padded[0] = [name or f"column {place}" for place, name in named]
            for name in {each for each in padded[0] if padded[0].count(each) > 1}:
                number = iter(range(1, width + 1))
                padded[0] = [
                    f"{name} ({next(number)})" if each == name else each
                    for each in padded[0]
                ]
            assert [list(table.columns), *rows] == padded
            check_written(table, rows, data if padded == expected else None)
            return rows
    except TableError as error:
        if "\n" in str(error):
            raise
        return None


def with_whole_header(table, text, data):
    """Add the delimiter that a header lacks, before or after its names."""
    header = table.lead + table.header
    if text.startswith(header):
        return text, data
    end = table.header[len(table.header.rstrip("\r\n")) :]
    names, sign = table.header.removesuffix(end), table.format.delimiter
    for lacking in (names.removesuffix(sign), names.removeprefix(sign)):
        above = table.lead + lacking + end
        if text.startswith(above):
            text = header + text[len(above) :]
    return text, table.format.bom + text.encode(table.format.encoding)


def read(table):
    return [
        list(row)
        for batch in table.batches()
        for row in zip(*(c.to_pylist() for c in batch.rows.columns), strict=True)
    ]


def expected_rows(text, delimiter):
    stream = io.StringIO(text, newline="")
    rows, lines = [], io.StringIO(text, newline="").readlines()
    reader = csv.reader(stream, delimiter=delimiter)
    done = 0
    for row in reader:
        raw = "".join(lines[done : reader.line_num])
        done = reader.line_num
        blank = len(row) < 2 and not raw.strip()
        if not blank or (rows and len(rows[0]) == 1):
            rows.append(row or [""])
    return rows


def check_written(table, rows, data):
    """Check that a copy has the same bytes, and old cells are kept with new ones.

    Short rows get the cells that they lack; then `data` is None.
    """
    copy, more = io.BytesIO(), io.BytesIO()
    with new_table(copy, table) as out:
        for batch in table.batches():
            out.write(batch)
    if rows and data is not None:
        assert copy.getvalue() == data
    first = table.columns[0]
    new = ["=x", None, 'q"', "a,b;c\td|e\r\nf"]
    with new_table(more, table, formulas="keep") as out:
        for batch in table.batches():
            places = range(batch.start, batch.start + len(batch))
            values = [new[i % 4] for i in places]
            out.write(batch, {first: values}, {"\x01new": values})
        out.write(table.empty(), {}, {"\x01new": []})
    layout = table.format
    options = {"delimiter": layout.delimiter, "encoding": layout.encoding}
    more.seek(0)
    with open_table(more, format="csv", **options) as again:
        assert again.columns == (*table.columns, "\x01new")
        assert read(again) == [
            [new[i % 4] or row[0], *row[1:], new[i % 4] or ""]
            for i, row in enumerate(rows)
        ]


def check_odd_text(text, encoding, say, rows):
    data = encoded(text, encoding)
    check(data, batch_rows=rows, **({"encoding": encoding} if say else {}))


def check_good_table(made, batch_rows):
    text, delimiter, rows = made
    found = check(text.encode(), delimiter=delimiter, batch_rows=batch_rows)
    assert found == rows


def first_as_bytes(made):
    return made[0].encode()


def check_bytes(data, rows):
    check(data, batch_rows=rows)


def columnar():
    """A small table as Parquet, as Feather, and as an Arrow stream."""
    table = pa.table(
        {
            "number": [1, 2, None] * 10,
            "label": pa.array(["a", "b", None] * 10).dictionary_encode(),
            "list": [[1], [], None] * 10,
        }
    )
    files = [io.BytesIO() for _ in range(3)]
    pq.write_table(table, files[0], row_group_size=20)
    feather.write_feather(table, files[1], chunksize=20)
    with pa.ipc.new_stream(files[2], table.schema) as stream:
        stream.write_table(table)
    return [file.getvalue() for file in files]


few = st.integers(1, 3)
CASES = {
    "odd text": (check_odd_text, (odd_texts, encodings, st.booleans(), few)),
    "good tables": (check_good_table, (tables(), few)),
    "mutated tables": (check_bytes, (mutated(tables().map(first_as_bytes)), few)),
    "random bytes": (check_bytes, (st.binary(max_size=200), few)),
}


@pytest.mark.parametrize("case", CASES)
def test_cells_or_a_clear_error(case):
    function, drawn = CASES[case]
    QUICK(given(*drawn)(function))()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_cells_or_a_clear_error_many(case):
    function, drawn = CASES[case]
    LONG(given(*drawn)(function))()


@pytest.mark.slow
def test_mutated_columns():
    good = st.sampled_from(columnar())
    settings(LONG, max_examples=2_000)(given(mutated(good), few)(check_bytes))()
