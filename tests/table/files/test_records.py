"""The fast path of plain lines: the same batches, bytes and errors as the parser."""

import io

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._files import new_table, open_table, records
from halfmoon.table._files.records import PlainLines, plain_lines
from halfmoon.table._table_errors import TableError

CELLS = ["1", "-2.5", "", "x", "NA", "two words", " padded ", "é", "日本", "=1+1"]
QUOTED = ['"q"', '"a,b;c"', '"two\nlines"', '"a ""b"""', 'in"side', '"cr\r\nlf"', '"']


def random_text(rng):
    """A text table, mostly plain; every other one has an oddity."""
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
    """New values, as lists and as arrays."""
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
            return batches, out.getvalue(), table.lead, new.escaped
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
        piece = int(rng.choice([1, 30, 2**20]))
        with monkeypatch.context() as patch:
            patch.setattr(records, "PIECE_CHARACTERS", piece)
            fast = outcome(data, options, seed)
            seen = Seen()
            patch.setattr(records, "plain_lines", seen.append)
            assert fast == outcome(data, options, seed), (seed, data)
        plain += any(plain_lines(*given) for given in seen)
        errors += len(fast) == 3
    return plain / len(seeds), errors / len(seeds)


def test_random_files_are_read_alike_by_both_paths(monkeypatch):
    plain, errors = check_files(monkeypatch, range(50))
    assert plain > 0.5  # most files took the fast path, at least in part
    assert 0.02 < errors < 0.5


@pytest.mark.slow
def test_a_thousand_random_files_are_read_alike_by_both_paths(monkeypatch):
    check_files(monkeypatch, range(1000, 2000))


def test_a_plain_file_takes_the_fast_path_throughout(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE_CHARACTERS", 150_000)
    rows = "".join(f"{i},{i % 7},é{i}\r\n" for i in range(20_000))
    (tmp_path / "a.csv").write_bytes(("a,b,c\r\n" + rows).encode())
    monkeypatch.setattr(records, "read_records", None)  # would fail
    with open_table(tmp_path / "a.csv") as table:
        batches = list(table.batches())
    assert [len(batch) for batch in batches] == [8192, 2572, 8192, 1044]
    assert all(isinstance(batch.raw, PlainLines) for batch in batches)
    assert "".join(raw for batch in batches for raw in batch.raw) == rows
    assert batches[-1].rows.slice(len(batches[-1]) - 1).to_pylist() == [
        {"a": "19999", "b": "0", "c": "é19999"}
    ]


def test_a_quoted_cell_may_run_over_the_end_of_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE_CHARACTERS", 8)
    cell = '"' + "line\n" * 20 + '"'
    (tmp_path / "a.csv").write_text(f"a,b\n1,2\n3,{cell}\n5,6\n7,8,9\n")
    with (
        open_table(tmp_path / "a.csv") as table,
        pytest.raises(TableError, match="line 25 has 3 cells"),
    ):
        list(table.batches())


def test_a_slice_of_lines_is_lines():
    lines = plain_lines("a,éa\nb,éb\nc,éc\n", ",", 2)[1:]
    assert list(lines) == ["b,éb\n", "c,éc\n"]
    schema = pa.schema([("x", pa.string()), ("y", pa.string())])
    assert lines.rows(schema).to_pydict() == {"x": ["b", "c"], "y": ["éb", "éc"]}
