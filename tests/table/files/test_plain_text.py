"""Plain lines at a glance: the same batches, bytes and errors as record by record."""

import io

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table.errors import TableError
from halfmoon.table.files import new_table, open_table, text, text_pieces
from halfmoon.table.files.plain_lines import PlainLines, plain_lines

CELLS = ["1", "-2.5", "", "x", "NA", "two words", " padded ", "é", "日本", "=1+1"]
QUOTED = ['"q"', '"a,b;c"', '"two\nlines"', '"a ""b"""', 'in"side', '"cr\r\nlf"', '"']


def random_text(rng):
    """A table of text, most of it plain, with something odd in every other one."""
    width = int(rng.integers(1, 6))
    delimiter = str(rng.choice(list(",;\t|")))
    cells = CELLS + (QUOTED if rng.random() < 0.3 else [])
    ends = [["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"]][
        rng.choice(4, p=[0.5, 0.3, 0.1, 0.1])
    ]
    odd = rng.random() < 0.3
    lines = [delimiter.join(f"c{i}" for i in range(width))]
    for _ in range(int(rng.integers(0, 80))):
        n = width
        if odd and rng.random() < 0.1:
            n = int(rng.choice([0, 1, width + 1], p=[0.7, 0.2, 0.1]))
        row = [str(rng.choice(cells)) for _ in range(n)]
        lines.append(delimiter.join(row) if n else str(rng.choice(["", "  "])))
    made = "".join(line + str(rng.choice(ends)) for line in lines)
    if rng.random() < 0.3:
        made = made.rstrip("\r\n")
    if rng.random() < 0.02:
        made = made.replace("x", "\0")
    return made, delimiter


def random_file(rng):
    made, delimiter = random_text(rng)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"]))
    data = made.encode(encoding, "replace")
    if rng.random() < 0.05:
        data = data.replace(b"x", b"\xff\xfe")
    return data, {"delimiter": delimiter, "encoding": encoding}


def new_values(rng, n):
    """What is written into the table, as lists and as arrays."""
    labels = [None if rng.random() < 0.4 else str(rng.choice(CELLS)) for _ in range(n)]
    numbers = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(2))
    given = pa.array([None if rng.random() < 0.2 else "given" for _ in range(n)])
    return labels, numbers, given


def outcome(data, options, seed):
    """Batches and output of a table, or the error."""
    rng, out = np.random.default_rng(seed), io.BytesIO()
    batches = []
    try:
        with open_table(io.BytesIO(data), **options) as table:
            columns = table.columns
            with new_table(out, like=table) as new:
                for batch in table.batches():
                    raw = list(batch.raw)
                    batches.append(
                        (batch.start, batch.rows.to_pylist(), raw, dict(batch.blanks))
                    )
                    labels, numbers, given = new_values(rng, len(batch))
                    replaced = {columns[seed % len(columns)]: labels}
                    if seed % 3 == 0 and len(columns) > 1:
                        replaced[columns[(seed + 1) % len(columns)]] = pa.array(labels)
                    added = {"new": pa.array(numbers), "from": given, "again": labels}
                    new.write(batch, replace=replaced, append=added)
            return batches, out.getvalue(), table.blank_lines, new.escaped
    except TableError as error:
        return batches, type(error).__name__, str(error)


class Seen(list):
    def append(self, *given):
        super().append(given)


def check_files(monkeypatch, seeds):
    plain = errors = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        data, options = random_file(rng)
        options["batch_rows"] = int(rng.choice([1, 7, 8192]))
        piece, characters = (
            int(rng.choice([1, 30, 2**20])),
            int(rng.choice([50, 2**22])),
        )
        with monkeypatch.context() as patch:
            patch.setattr(text_pieces, "PIECE_CHARACTERS", piece)
            patch.setattr(text, "BATCH_CHARACTERS", characters)
            quick = outcome(data, options, seed)
            seen = Seen()
            patch.setattr(text_pieces, "plain_lines", seen.append)
            assert quick == outcome(data, options, seed), (seed, data)
        plain += any(plain_lines(*given) for given in seen)
        errors += len(quick) == 3
    return plain / len(seeds), errors / len(seeds)


def test_random_files_come_out_the_same(monkeypatch):
    plain, errors = check_files(monkeypatch, range(150))
    assert plain > 0.5  # most of them took the quick way, at least in part
    assert 0.02 < errors < 0.5


@pytest.mark.slow
def test_a_thousand_random_files_come_out_the_same(monkeypatch):
    check_files(monkeypatch, range(1000, 2000))


def test_a_plain_file_takes_the_quick_way_throughout(tmp_path, monkeypatch):
    monkeypatch.setattr(text_pieces, "PIECE_CHARACTERS", 1000)
    rows = "".join(f"{i},{i % 7},é{i}\r\n" for i in range(20_000))
    (tmp_path / "a.csv").write_bytes(("a,b,c\r\n" + rows).encode())
    monkeypatch.setattr(text_pieces, "read_records", None)  # would fail
    with open_table(tmp_path / "a.csv") as table:
        batches = list(table.batches())
    assert [len(batch) for batch in batches] == [8192, 8192, 3616]
    assert all(isinstance(batch.raw, PlainLines) for batch in batches)
    assert "".join(raw for batch in batches for raw in batch.raw) == rows
    assert batches[2].rows.slice(3615).to_pylist() == [
        {"a": "19999", "b": "0", "c": "é19999"}
    ]


def test_a_quoted_cell_may_run_over_the_end_of_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(text_pieces, "PIECE_CHARACTERS", 8)
    cell = '"' + "line\n" * 20 + '"'
    (tmp_path / "a.csv").write_text(f"a,b\n1,2\n3,{cell}\n5,6\n7,8,9\n")
    with (
        open_table(tmp_path / "a.csv") as table,
        pytest.raises(TableError, match="line 25 has 3 cells"),
    ):
        list(table.batches())


def test_lines_of_several_pieces_are_one_after_the_other():
    lines = [plain_lines(f"{x},é{x}\n" * 3, ",", 2)[1:] for x in "abc"]
    both = PlainLines.joined(lines)
    assert list(both) == [f"{x},é{x}\n" for x in "aabbcc"]
    np.testing.assert_array_equal(both.characters, 5)
    schema = pa.schema([("x", pa.string()), ("y", pa.string())])
    assert both[2:5].rows(schema).to_pydict() == {
        "x": ["b", "b", "c"],
        "y": ["éb", "éb", "éc"],
    }
