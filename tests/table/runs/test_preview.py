"""What `predict` finds in a new table before it predicts: totals, other styles."""

import csv
import datetime as dt

import pyarrow as pa
import pytest

from halfmoon.table import Settings, fill_table, open_table, predict_table
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._runs.preview import _reading

N = 60
DAY = dt.date(2024, 1, 1)


def written(path, number=str, date=str, target=True, extra=()):
    rows = []
    for i in range(N):
        label = ("high" if i % 12 > 5 else "low") if i < 40 else ""
        day = DAY + dt.timedelta(days=7 * (i % 12) + i // 30)
        cells = [f"n{i}", number(1000.5 + 250 * (i % 12)), date(day)]
        rows.append([*cells, *[label][: int(target)]])
    header = ["name", "size", "day", *["kind"][: int(target)]]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows, *extra])
    return path


@pytest.fixture
def model(tmp_path):
    settings = Settings("kind", budget=1e-9, exclude=("name",))
    path = written(tmp_path / "t.csv")
    return fill_table(str(path), tmp_path / "o.csv", settings).model


def predicted(model, path):
    with open_table(path) as table:
        done = predict_table(table, path.with_name("p.csv"), model, overwrite=True)
    with path.with_name("p.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return rows, [str(note) for note in done.notes]


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def usual(tmp_path, model):
    """Predictions of the same rows, written as they were learned from."""
    rows, notes = predicted(model, written(tmp_path / "usual.csv", target=False))
    assert notes == []
    return [(row["kind"], row["kind_confidence"]) for row in rows]


def test_rows_of_totals_are_not_predicted(tmp_path, model, usual):
    extra = [["Total", "99999.5", ""]]
    path = written(tmp_path / "new.csv", target=False, extra=extra)
    rows, notes = predicted(model, path)
    assert [row["kind"] for row in rows] == [*(kind for kind, _ in usual), ""]
    assert rows[-1]["kind_source"] == ""
    assert any("The last row ('Total') looks like totals" in note for note in notes)


def test_a_table_of_totals_alone_is_predicted(tmp_path, model):
    path = tmp_path / "one.csv"
    path.write_text("name;size;day\nTotal;1000.5;2024-01-01\n", encoding="utf-8")
    rows, notes = predicted(model, path)
    assert (rows[0]["kind"], notes) == ("low", [])


def test_a_total_with_a_label_is_not_scored(tmp_path, model):
    extra = [["Total", "99999.5", "", "40"]]
    with open_table(written(tmp_path / "new.csv", extra=extra)) as table:
        done = predict_table(table, tmp_path / "p.csv", model)
    assert done.scored.learned.n + done.scored.new.n == 40


@pytest.mark.parametrize(
    ("number", "date", "words"),
    [
        (german, str, "written with points between thousands and decimal commas."),
        ("{:,.1f} kg".format, str, "written with commas and kg."),
        (str, "{:%d.%m.%Y}".format, "'day' are written in another way"),
        (str, "{:%d/%m/%Y}".format, "day before month."),
        (str, "{:%B %d, %Y}".format, "the model learned from"),
    ],
)
def test_other_ways_of_writing_are_found(tmp_path, model, usual, number, date, words):
    path = written(tmp_path / "new.csv", number, date, target=False)
    before = model.columns_.uses
    rows, notes = predicted(model, path)
    found = [(row["kind"], row["kind_confidence"]) for row in rows]
    assert [(kind, sure.replace(",", ".")) for kind, sure in found] == usual
    assert len([note for note in notes if words in note]) == 1
    assert len(notes) == 1
    assert model.columns_.uses is before  # the model is as it was


@pytest.fixture
def of_kg(tmp_path):
    settings = Settings("kind", budget=1e-9, exclude=("name",))
    path = written(tmp_path / "kg.csv", "{:.1f} kg".format)
    return fill_table(str(path), tmp_path / "o2.csv", settings).model


def test_another_unit_is_converted(tmp_path, of_kg):
    path = written(tmp_path / "kg2.csv", "{:.1f} kg".format, target=False)
    usual, _ = predicted(of_kg, path)

    def grams(kilograms):
        return f"{1000 * kilograms:,.0f} g"

    rows, notes = predicted(of_kg, written(tmp_path / "g.csv", grams, target=False))
    assert [row["kind_confidence"] for row in rows] == [
        row["kind_confidence"] for row in usual
    ]
    (note,) = notes
    assert note == (
        "The numbers in 'size' are written in another way than those that the model "
        "learned from: written with commas and kg; g converted to kg."
    )


def test_a_unit_of_something_else_stays_unread(tmp_path, of_kg):
    _, notes = predicted(of_kg, written(tmp_path / "m.csv", "{:.1f} m".format))
    assert any("'size' has no value that can be read" in note for note in notes)
    assert not any("written in another way" in note for note in notes)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_cells_that_were_read_keep_their_value(share):
    learned = Columns.of(pa.table({"x": ["4,503", "39,000", "1,250"] * 9})).uses[0]
    n = int(100 * share)
    cells = [f"{i % 9 + 1},503" for i in range(100 - n)] + ["0,951"] * n
    new = _reading(learned, pa.array(cells))
    if share < 0.5:  # a model that took 4,503 for 4503
        assert new is None
    else:
        assert new.read(pa.array(["0,951"]))[0].tolist() == [0.951]
