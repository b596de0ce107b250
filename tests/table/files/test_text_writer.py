"""New cells: quoted if needed, and never a formula by default."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._files import new_table, open_table
from halfmoon.table._files.text_writer import NewCells
from halfmoon.table._table_errors import CommandError

FORMULAS = [
    "=1+1",
    '="a"&x+"b"',
    "+x",
    "-x",
    "@sum",
    "\tx",
    "\rx",
    "\n=x",
    "＝1",
    "-1+1|cmd",
    "--1",
]
FORMULAS += ["-$x", "-5 A1", "-5 kg*2", "-USD", "+1(2)"]
HARMLESS = [
    '="a b"',
    "-1",
    "+1.5",
    "-1,5",
    "-.5e-3",
    "1",
    "x=1",
    "",
    " =x",
    "'=x",
    "a-b",
]
HARMLESS += ["-$1,053.20", "-26 kg", "-1 234,5 €", "-1\u202f234", "-7.5%"]
HARMLESS += ["+", "-", "--", "+/-", "\u2212"]  # may be classes


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_an_apostrophe(text):
    cells = NewCells(",", "escape")
    (cell,) = next(csv.reader([cells.text(text)], strict=True))
    assert cell == "'" + text
    assert cells.escaped == 1
    kept = NewCells(",", "keep")
    assert next(csv.reader([kept.text(text)], strict=True)) == [text]
    assert kept.escaped == 0


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_texts_are_unchanged(text):
    cells = NewCells(";", "escape")
    assert (next(csv.reader([cells.text(text)], delimiter=";"), None) or [""]) == [text]
    assert cells.escaped == 0


def test_every_kind_of_value():
    values = [-0.1, np.float64(-0.1), np.float32(0.5), 3, np.int64(-3), True, None]
    new = NewCells(",", "escape")
    cells = new.array([*values, np.nan, "-x", "-x", np.str_("a,b")]).to_pylist()
    assert cells[:7] == ["-0.1", "-0.1", "0.5", "3", "-3", "true", None]
    assert cells[7:] == [None, "'-x", "'-x", '"a,b"']
    assert new.escaped == 2


def test_floats_round_trip_exactly(rng):
    values = np.exp(50 * rng.standard_normal(300))
    for column in (list(values), pa.array(values)):
        cells = NewCells(",", "escape").array(column).to_pylist()
        assert list(map(float, cells)) == list(values)


def test_input_formulas_are_kept_and_new_ones_escaped():
    data = b"=a,b\n=1+1,\n@x,\n"
    stream = io.BytesIO()
    with (
        open_table(io.BytesIO(data)) as table,
        new_table(stream, table) as out,
    ):
        for batch in table.batches():
            out.write(batch, {"b": ["=1+1", -2.5]}, {"=a_source": ["@x", "ok"]})
    assert stream.getvalue() == b"=a,b,'=a_source\n=1+1,'=1+1,'@x\n@x,-2.5,ok\n"
    assert out.escaped == 3


def test_an_unknown_choice_is_refused():
    with pytest.raises(CommandError, match="'escape' or 'keep' is needed"):
        NewCells(",", "maybe")


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "-2.50", None, "", "0.5"],
        ["-", "1"],
        ["1", "-"],
        ["1-2", "3"],
        ["--1"],
        ["-1.2.3", "4"],
        ["", ""],
        [None],
        ["1", "=2"],
        ["1,5", "2"],
        ["12", "x"],
    ],
)
@pytest.mark.parametrize("start", [0, 1])
def test_columns_of_cells_are_those_of_each_value(texts, start):
    column = pa.array([*["-"] * start, *texts], pa.string()).slice(start)
    at_once, one_by_one = NewCells(",", "escape"), NewCells(",", "escape")
    cells = at_once.array(column).to_pylist()
    assert [cell or "" for cell in cells] == [one_by_one.text(t or "") for t in texts]
    assert at_once.escaped == one_by_one.escaped
