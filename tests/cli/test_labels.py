"""Labels as people write them: spellings, words for blanks, totals."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from small_tables import a_line, error_of, read_csv, told_of, two_groups, write_csv

QUICK = ("--no-report", "--budget", "0.000001")


def fill(run, *options, target="side"):
    return told_of(run("fill", "t.csv", "-t", target, "--json", *options, *QUICK))


def filled(column, name="t.filled.csv"):
    """The cells of a column, and which of them were predicted."""
    header, *rows = read_csv(name)
    at = [header.index(each) for each in (column, f"{column}_source")]
    return np.array([[row[i] for i in at] for row in rows]).T


@pytest.fixture
def messy():
    """Sides in several spellings, all but the first 12 blank."""
    rows, truth = two_groups(labels=12)
    for i, row in enumerate(rows[1:13]):
        row[3] = (str.upper, str.title, str)[i // 2 % 3](row[3])
    return rows, truth


def test_spellings_of_one_class(run, messy):
    rows, truth = messy
    write_csv("t.csv", rows)
    record = fill(run)
    assert len(record["classes"]) == 6
    assert any("look like one class, but were taken as 3" in n for n in record["notes"])
    record = fill(run, "--merge-labels", "--overwrite")
    assert len(record["classes"]) == 2
    cells, source = filled("side")
    assert cells[:12].tolist() == [row[3] for row in rows[1:13]]  # unchanged
    new = source == "predicted"
    assert new.sum() == 28
    assert [cell.lower() for cell in cells[new]] == truth[new].tolist()
    assert len(set(cells[new])) == 2
    assert not any("look like one class" in n for n in record["notes"])


def test_words_that_mean_a_blank(run):
    rows, truth = two_groups(labels=16)
    for i, mark in zip(range(13, 17), ("?", "unknown", "?", "TBD"), strict=True):
        rows[i][3] = mark
    write_csv("t.csv", rows)
    record = fill(run)
    assert record["given"] == 16
    (note,) = [n for n in record["notes"] if "blank" in n]
    assert note == (
        "'?' (2 labels), 'unknown' (1 label) and 'TBD' (1 label) look like blanks, but "
        "were taken as classes. To have such cells filled, use --unlabeled '?' unknown "
        "TBD."
    )
    record = fill(run, "--unlabeled", "?", "unknown", "TBD", "--overwrite")
    assert (record["given"], record["predicted"]) == (12, 28)
    cells, _ = filled("side")
    assert cells.tolist() == truth.tolist()
    assert not any("blank" in n for n in record["notes"])


def test_an_unused_value_for_blanks_and_the_usual_ones(run):
    rows, _ = two_groups()
    rows[12][3] = "N/A"
    write_csv("t.csv", rows)
    record = fill(run, "--unlabeled", "rigth")
    assert record["predicted"] == 30
    assert record["notes"][0] == (
        "No cell of 'side' is 'rigth', which is named in --unlabeled. Did you mean "
        "--unlabeled right?"
    )


@pytest.mark.slow
def test_a_class_called_none_is_not_filled_without_a_word(run):
    rows, _ = two_groups()
    rows[1][3], rows[4][3], rows[7][3] = "none", "none", "NA"
    write_csv("t.csv", rows)
    record = fill(run)
    assert record["notes"][0] == (
        "3 cells of 'side' say 'none' and 'NA'. They were filled like an empty cell. "
        "If one of these is a class, use --unlabeled ''."
    )
    record = fill(run, "--unlabeled", "", "NA", "--overwrite")
    assert record["classes"]["none"]["given"] == 2
    assert not any("filled like" in note for note in record["notes"])


def test_blanks_that_all_say_na_are_no_surprise(run):
    rows, _ = two_groups()
    for row in rows[1:]:
        row[3] = row[3] or "NA"
    write_csv("t.csv", rows)
    assert not any("filled like" in note for note in fill(run)["notes"])


def test_words_among_numbers_are_kept_and_not_learned_from(run):
    rows, truth = a_line()
    rows[3][1], rows[9][1] = "about 3", "low"
    write_csv("t.csv", rows)
    record = fill(run, target="y")
    assert (record["task"], record["given"], record["predicted"]) == ("numbers", 28, 30)
    assert record["learned_from"]["unlabeled_rows"] == 30
    assert record["notes"][0].startswith(
        "2 labels of 'y' are not numbers ('about 3', 'l"
    )
    cells, source = filled("y")
    assert (cells[2], cells[8]) == ("about 3", "low")
    assert source[:30].tolist() == ["given"] * 30
    assert np.abs(cells[30:].astype(float) - truth[30:]).max() < 0.5


@pytest.mark.parametrize("label", ["", "right"])
def test_a_row_of_totals_is_not_learned_from_and_not_filled(run, label):
    rows, truth = two_groups()
    write_csv("t.csv", [*rows, ["Total", "", "", label]])
    record = fill(run)
    assert (record["rows"], record["given"], record["predicted"]) == (41, 10, 30)
    assert record["notes"][0].startswith(
        "The last row ('Total') looks like totals or notes below the table"
    )
    cells, source = filled("side")
    assert cells[:40].tolist() == truth.tolist()
    assert (cells[40], source[40]) == (label, "given" if label else "")


@pytest.mark.slow
def test_columns_that_only_labeled_rows_have(run):
    """Flowers, 30 of them named, with who named them and a code of the name."""
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    given = np.isin(np.arange(150), np.random.default_rng(0).permutation(150)[:30])
    rows = [["a", "b", "c", "d", "reviewed_by", "code", "species"]]
    for i in range(150):
        extra = [["ann", "bob"][i % 2], f"x{y[i]}", names[i]]
        rows.append([*map(str, X[i]), *(extra if given[i] else [""] * 3)])
    write_csv("t.csv", rows)
    options = ("-t", "species", "--json", "--no-report", "--budget", "5")
    record = told_of(run("fill", "t.csv", *options))
    assert record["learned_from"]["columns"] == ["a", "b", "c", "d"]
    said = "was not learned from: it has values only in labeled rows."
    assert [said in note for note in record["notes"][:2]] == [True, True]
    cells, source = filled("species")
    new = source == "predicted"
    accuracy = (cells == names)[new].mean()
    assert accuracy >= 0.9
    claimed = record["leave_one_out"]["accuracy"]  # not above the truth
    assert claimed["low"] <= claimed["value"] <= accuracy
    columns = ("--features", "a", "b", "c", "d", "code", "--overwrite")
    assert "code" in fill(run, *columns, target="species")["learned_from"]["columns"]


@pytest.mark.slow
def test_ordered_classes_and_their_model(run):
    rows, y = a_line(n=90, labels=40)
    steps = ["bad", "ok", "good"]
    truth = [steps[k] for k in np.digitize(y, [0, 2])]
    for i, row in enumerate(rows[1:]):
        row[1] = truth[i] if i < 40 else ""
    write_csv("t.csv", rows)
    record = fill(run, "--task", "ordered", "--model", "m.halfmoon", target="y")
    assert record["task"] == "classes"
    cells, _ = filled("y")
    assert np.mean(cells == truth) > 0.9
    assert run("predict", "m.halfmoon", "t.csv", "-o", "p.csv").exit_code == 0
    assert read_csv("p.csv") == read_csv("t.filled.csv")
    for row in rows[1:]:
        row[1] = {"bad": "red", "ok": "amber", "good": "green"}.get(row[1], "")
    write_csv("t.csv", rows)
    line = error_of(run("fill", "t.csv", "-t", "y", "--task", "ordered", "--overwrite"))
    assert "not known. Name all of them from low to high, such as --order amber" in line
    record = fill(run, "--order", "red", "amber", "green", "--overwrite", target="y")
    assert record["settings"]["order"] == ["red", "amber", "green"]
