"""Tables with bars or spaces between their columns are read as if they were CSV."""

import numpy as np
import pandas as pd
import pytest

from halfmoon.table import Settings, fill_table, open_table
from halfmoon.table._files.printed_tables import row_splitter
from halfmoon.table._table_errors import ReadError

FRAME = pd.DataFrame(
    {
        "size": [4.5, 5.1, 12.0, 3.25, 6.0],
        "kind": ["a", "b", "b", "a", "b"],
        "place": ["New York", "Rome", "", "Los Angeles", "Ulm"],
    }
)
CELLS = [[str(cell) for cell in row] for row in FRAME.to_numpy()]
SHORT = [row[:2] for row in CELLS]  # without spaces and empty cells


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|:---:|--:|", *lines[1:]]) + "\n"


def grid(rows, footer):
    lines = ["|" + "|".join(f" {cell:>12} " for cell in row) + "|" for row in rows]
    rule = "+--------------+--------------+--------------+"
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, footer, ""])


def psql(rows):
    lines = ["|".join(f" {cell:<12} " for cell in row) for row in rows]
    rule = "--------------+--------------+--------------"
    return "\n".join([lines[0], rule, *lines[1:], f"({len(rows) - 1} rows)", ""])


def sap(rows):
    lines = ["|" + "|".join(f"{cell:<12}" for cell in row) + "|" for row in rows]
    rule = "-" * 40
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, ""])


def read(path, text, **options):
    path.write_text(text, encoding="utf-8")
    with open_table(path, **options) as table:
        rows = [row for batch in table.batches() for row in batch.rows.to_pylist()]
        notes = [str(note) for note in table.notes]
    return rows, notes


@pytest.mark.parametrize(
    "text",
    [
        markdown([list(FRAME), *CELLS]),
        grid([list(FRAME), *CELLS], "5 rows in set (0.00 sec)"),
        psql([list(FRAME), *CELLS]),
        sap([list(FRAME), *CELLS]),
        FRAME.to_string(index=False).replace("  Ulm", "  Ulm") + "\n",
    ],
    ids=["markdown", "mysql", "psql", "sap", "aligned"],
)
def test_printed_tables_are_read(tmp_path, text):
    rows, notes = read(tmp_path / "t.txt", text)
    assert [list(row) for row in rows] == [list(FRAME)] * 5
    values = [[float(row["size"]), row["kind"], row["place"]] for row in rows]
    assert values == FRAME.to_numpy().tolist()
    assert any("printed with spaces or bars" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (FRAME[["size", "kind"]].to_string(), ["", "size", "kind"]),
        (FRAME[["size", "kind"]].to_csv(sep=" ", index=False), ["size", "kind"]),
        ('"size" "kind"\n"r 1" 4.5 "a"\n"2" 5.1 "b"\n' + '"3" 1 "b"\n' * 3, None),
    ],
)
def test_row_names_have_no_name(tmp_path, text, names):
    rows, _ = read(tmp_path / "t.txt", text)
    names = names or ["", "size", "kind"]
    assert [list(row) for row in rows] == [names] * 5
    assert [row["kind"] for row in rows][:2] == ["a", "b"]
    assert [float(row["size"]) for row in rows][:2] == [4.5, 5.1]


@pytest.mark.parametrize(
    "text",
    [
        "full name\n" + "Ann Lee\n" * 9,  # one column of words
        "comment\n" + "a long text 5\nshort 7\nand one 8\n" * 3,
        "a,b\n" + "1 2,3\n" * 9,
        "a b\n1 2\n",  # too few rows
        "x\n" + "5\n" * 9,
        "size kind\n" + "4.5 a\n" * 5 + "3 b c\n",
        "",
    ],
)
def test_other_texts_are_not_printed_tables(tmp_path, text):
    found = row_splitter(text, True)
    if "," in text:
        rows, _ = read(tmp_path / "t.csv", text)
        assert rows == [{"a": "1 2", "b": "3"}] * 9
    else:
        assert found is None


def test_a_delimiter_that_is_named_counts(tmp_path):
    text = FRAME[["size", "kind"]].to_csv(sep=" ", index=False)
    rows, notes = read(tmp_path / "t.txt", text, delimiter=" ")
    assert (rows[0], notes) == ({"size": "4.5", "kind": "a"}, [])


def test_a_later_line_of_another_shape_is_refused_with_its_number(tmp_path):
    text = "size kind\n" + "4.5 a\n" * 300 + "5 a b\n"
    with pytest.raises(ReadError, match="line 302 has not the 2 columns of the lines"):
        read(tmp_path / "t.txt", text)


def test_a_printed_table_is_filled(tmp_path):
    x = np.arange(40) % 8
    label = np.where(x > 3, "high", "low").astype(object)
    label[15:] = "NA"
    frame = pd.DataFrame({"x": x + 0.5, "label": label})
    (tmp_path / "t.txt").write_text(frame.to_string(index=False), encoding="utf-8")
    with open_table(tmp_path / "t.txt") as table:
        settings = Settings("label", budget=1e-9)
        fill_table(table, tmp_path / "o.csv", settings)
    filled = pd.read_csv(tmp_path / "o.csv")
    assert filled["label"].tolist() == np.where(x > 3, "high", "low").tolist()
    assert (tmp_path / "t.txt").exists()
