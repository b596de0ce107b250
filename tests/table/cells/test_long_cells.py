"""The time to recognize a cell grows with its length, not with the square of it."""

import time

import pyarrow as pa
import pytest

from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._files import header_rows, printed_tables
from halfmoon.table._labels.label_checks import spelling_key

LENGTH = 100_000  # its square takes a minute or more
SHAPES = ["1{}", "1{}x", "-{}x", "{}1.", "{}a", "{} ▼1"]
PIECES = ["1", "0", "-", ".", ",", "1-", "1.", "_1", "$1 ", "1e", "2020-01-01 ", "{"]


def long_cells():
    return [
        shape.format(piece * (LENGTH // len(piece)))
        for piece in PIECES
        for shape in SHAPES
    ]


def seconds(function, *args):
    begin = time.process_time()
    function(*args)
    return time.process_time() - begin


@pytest.mark.parametrize(
    "function",
    [
        spelling_key,
        header_rows.NUMBER.fullmatch,
        printed_tables.NUMBER.fullmatch,
        printed_tables.RULE.fullmatch,
        printed_tables.WORD.findall,
    ],
    ids=["spelling", "header", "printed number", "rule", "word"],
)
def test_one_long_cell(function):
    assert seconds(lambda: [function(cell) for cell in long_cells()]) < 20


@pytest.mark.parametrize("piece", PIECES)
def test_a_column_of_long_cells(piece):
    for shape in SHAPES:
        cells = [shape.format(str(i) + piece * (LENGTH // 4)) for i in range(20)]
        assert seconds(Columns.of, pa.table({"a": cells})) < 20


def test_a_long_cell_among_numbers_is_another_cell():
    cells = [f"{i}.5 kg" for i in range(40)] + ["1" * 501]
    style = number_style(pa.array(cells), 0.05)
    assert style.suffix == " kg"
    assert number_style(pa.array(cells), 0.01) is None
    assert number_style(pa.array(["0." + "1" * 498, "2"]), 0.0).digits == 498
