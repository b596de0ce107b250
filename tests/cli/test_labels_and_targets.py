"""Lists of rows to label, their labels, and several targets in one run."""

import json

import numpy as np
import openpyxl
import pytest

from small_tables import error_of, read_csv, told_of, two_groups, write_csv

QUICK = ("--budget", "0.000001", "--no-report", "--json")


@pytest.fixture
def table(folder):
    rows, truth = two_groups()
    write_csv("t.csv", rows)
    return rows, truth


@pytest.fixture
def todo(run, table):
    """A list of six rows to label, and their positions in t.csv."""
    record = told_of(
        run("fill", "t.csv", "-t", "side", "--to-label", "6", "todo.csv", *QUICK)
    )
    assert record["to_label"] == "todo.csv"
    return read_csv("todo.csv")


def test_a_list_of_rows_to_label(table, todo):
    rows, truth = table
    assert todo[0] == [
        *("row", "side", "side_predicted", "side_confidence", "x", "note", "z")
    ]
    assert len({row[0] for row in todo[1:]}) == 6
    filled = read_csv("t.filled.csv")
    for row in todo[1:]:
        at = int(row[0]) - 1  # line of the file; the header is row 1
        assert row[4:] == rows[at][:3]
        assert row[1] == rows[at][3] == ""
        assert row[2] == truth[at - 1]
        assert float(row[3]) == float(filled[at][5])


def test_typed_labels_are_used(run, table, todo):
    _, truth = table
    for row in todo[1:4]:
        row[1] = f" {truth[int(row[0]) - 2]} "
    todo[2][4] = f"{float(todo[2][4]):.6f}"  # as another program may write it
    write_csv("todo.csv", todo)
    record = told_of(
        run(
            "fill", "t.csv", "-t", "side", "--labels", "todo.csv", "-o", "b.csv", *QUICK
        )
    )
    assert (record["given"], record["predicted"]) == (13, 27)
    assert "3 labels came from lists of rows to label." in record["notes"]
    out = read_csv("b.csv")
    for row in todo[1:4]:
        assert out[int(row[0]) - 1][3:] == [row[1].strip(), "given", ""]
    assert out[int(todo[4][0]) - 1][4] == "predicted"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "todo.csv has no labels yet. Type them into the column 'side'"),
        ({"side": "left", "row": "99"}, "row 99, but t.csv ends before it"),
        ({"side": "left", "row": "1"}, "row '1', but t.csv has no such row"),
        ({"side": "left", "row": "x"}, "row 'x', but t.csv has no such row"),
        ({"side": "left", "x": "77", "z": "77"}, "is not the same as in todo.csv"),
        ({"side": "left", "row": "2"}, "Row 2 of t.csv is not the same"),
    ],
)
def test_lists_that_do_not_fit(run, table, todo, change, words):
    for name, value in change.items():
        todo[1][todo[0].index(name)] = value
    write_csv("todo.csv", todo)
    line = error_of(
        run("fill", "t.csv", "-t", "side", "--labels", "todo.csv", "-o", "b", *QUICK)
    )
    assert words in line


def test_two_labels_for_a_row(run, table, todo):
    rows, _ = table
    todo[1][1], todo[2] = "left", [todo[1][0], "right", *todo[1][2:]]
    write_csv("todo.csv", todo)
    options = ("-t", "side", "--labels", "todo.csv", "-o", "b.csv", *QUICK)
    assert f"two labels for row {todo[1][0]}: 'left' and 'right'" in (
        error_of(run("fill", "t.csv", *options))
    )
    write_csv("todo.csv", todo[:2])
    rows[int(todo[1][0]) - 1][3] = "right"
    write_csv("t.csv", rows)
    assert f"Row {todo[1][0]} has the label 'right' in the table, but 'left'" in (
        error_of(run("fill", "t.csv", *options))
    )


def test_whole_numbers_typed_into_a_workbook(run, table):
    rows, truth = table
    for i, row in enumerate(rows[1:11]):
        row[3] = "1" if truth[i] == "left" else "2"
    write_csv("t.csv", rows)
    told_of(run("fill", "t.csv", "-t", "side", "--to-label", "3", "a.csv", *QUICK))
    listed = read_csv("a.csv")
    numbers = [int(row[0]) for row in listed[1:]]
    book = openpyxl.Workbook()
    book.active.append(["row", "side", "x", "z"])
    for number in numbers:
        x, _, z, _ = rows[number - 1]
        book.active.append([number, 1, float(x), float(z)])
    book.save("todo.xlsx")
    record = told_of(
        run("fill", "t.csv", "-t", "side", "--labels", "todo.xlsx", "-o", "b", *QUICK)
    )
    assert record["given"] == 13
    assert set(record["classes"]) == {"1", "2"}


def test_a_file_that_is_not_a_list(run, table):
    line = error_of(run("fill", "t.csv", "-t", "side", "--labels", "t.csv", *QUICK))
    assert "t.csv has no column 'row'" in line


def test_the_list_has_the_table_s_delimiter_and_harmless_labels(run, table, folder):
    rows, truth = table
    for i, row in enumerate(rows):
        row[0] = "row" if i == 0 else row[0]
        if 0 < i <= 10:
            row[3] = "=a;b" if truth[i - 1] == "left" else "right"
    text = "\n".join(";".join(f'"{cell}"' for cell in row) for row in rows)
    (folder / "t.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    told_of(run("fill", "t.csv", "-t", "side", "--to-label", "9", "todo.csv", *QUICK))
    content = (folder / "todo.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfhalfmoon_row;side;side_predicted;")
    assert b';"\'=a;b";' in content
    lines = content.decode("utf-8-sig").splitlines()
    lines[1] = lines[1].replace(";;", ";right;", 1)
    (folder / "todo.csv").write_text("\n".join(lines))
    record = told_of(
        run("fill", "t.csv", "-t", "side", "--labels", "todo.csv", "-o", "b", *QUICK)
    )
    assert record["given"] == 11


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_lists_in_other_formats(run, table, ending):
    told_of(
        run("fill", "t.csv", "-t", "side", "--to-label", "3", f"todo.{ending}", *QUICK)
    )
    from halfmoon.table._files import open_table

    with open_table(f"todo.{ending}") as made:
        (batch,) = made.batches()
    assert batch.rows.num_rows == 3
    assert batch.rows.schema.names[:3] == ["row", "side", "side_predicted"]


def test_lists_do_not_overwrite_inputs(run, table, folder):
    options = ("-t", "side", "--overwrite", *QUICK)
    line = error_of(run("fill", "t.csv", *options, "--to-label", "3", "t.csv"))
    assert "is the input" in line
    line = error_of(run("fill", "t.csv", *options, "--to-label", "3", "t.filled.csv"))
    assert "--output and --to-label are both t.filled.csv" in line
    assert "--to-label - is standard output" in (
        error_of(run("fill", "t.csv", *options, "--to-label", "3", "-"))
    )
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv"]


def test_typed_labels_are_not_lost(run, table, todo):
    options = ("-t", "side", "--to-label", "6", "todo.csv", "--overwrite", *QUICK)
    told_of(run("fill", "t.csv", *options))  # no labels were typed yet
    todo[1][1] = "left"
    write_csv("todo.csv", todo)
    line = error_of(run("fill", "t.csv", *options))
    assert "todo.csv holds 1 label, which would be lost. Give the new list" in line
    assert read_csv("todo.csv") == todo


@pytest.fixture
def two_targets(folder):
    """Two targets with blanks: the side of a group, and a number that depends on x."""
    rows, truth = two_groups()
    for i, row in enumerate(rows):
        known = i % 3 == 0
        row.append("size" if i == 0 else f"{2 * float(row[0]):.3f}" if known else "")
    write_csv("t.csv", rows)
    return rows, truth


@pytest.mark.slow
def test_two_targets_at_once(run, two_targets, folder):
    rows, truth = two_targets
    record = told_of(
        run("fill", "t.csv", "-t", "side", "size", "--json", "--budget", "0.000001")
    )
    assert [each["target"] for each in record] == ["side", "size"]
    for each in record:
        assert set(each["learned_from"]["columns"]) <= {"x", "note", "z"}
        assert each["table"] == "t.filled.csv"
    assert "'size' was not learned from: some of its cells" in " ".join(
        record[0]["notes"]
    )
    out = read_csv("t.filled.csv")
    assert out[0][5:] == [
        *("side_source", "side_confidence", "size_source", "size_low", "size_high")
    ]
    assert [row[:3] for row in out] == [row[:3] for row in rows]
    assert [row[3] for row in out[1:]] == list(truth)
    size, x = (np.array([float(row[at]) for row in out[1:]]) for at in (4, 0))
    assert np.abs(size - 2 * x).max() < 1.5
    assert sorted(path.name for path in folder.glob("*.html")) == [
        *("t.side.report.html", "t.size.report.html")
    ]


@pytest.mark.slow
def test_a_target_is_filled_alike_alone_and_among_others(run, two_targets):
    # No budget: where it cuts the search depends on the machine.
    options = ("--no-report", "-q")
    run("fill", "t.csv", "-t", "size", "side", "-o", "both.csv", *options)
    run("fill", "t.csv", "-t", "side", "--exclude", "size", "-o", "one.csv", *options)
    both, one = read_csv("both.csv"), read_csv("one.csv")
    assert both[0][-2:] == one[0][-2:] == ["side_source", "side_confidence"]
    assert [row[-2:] for row in both] == [row[-2:] for row in one]


def test_targets_by_pattern_and_by_repetition(run, two_targets):
    record = told_of(run("fill", "t.csv", "--target", "s*", *QUICK))
    assert [each["target"] for each in record] == ["side", "size"]
    result = run("fill", "t.csv", "-t", "size", "-t", "side", "-o", "b.csv", *QUICK)
    assert [each["target"] for each in json.loads(result.stdout)] == ["size", "side"]
    assert "No column matches 'q*' (target)" in error_of(
        run("fill", "t.csv", "-t", "q*", *QUICK)
    )
    line = error_of(run("fill", "t.csv", "-t", "n*", *QUICK))
    assert "No column that matches 'n*' has both labels and blanks." in line
    assert "'side' (30 blank), 'size' (27 blank)" in line


def test_another_target_may_be_named_as_a_feature(run, two_targets):
    record = told_of(
        run("fill", "t.csv", "-t", "side", "size", "--features", "x", "z", *QUICK)
    )
    assert [each["learned_from"]["columns"] for each in record] == [["x", "z"]] * 2
    assert record[0]["notes"] == []


@pytest.mark.parametrize("option", [("--model", "m"), ("--to-label", "3", "todo.csv")])
def test_options_for_one_target(run, two_targets, option):
    line = error_of(run("fill", "t.csv", "-t", "side", "size", *option, *QUICK))
    assert f"{option[0]} is for one target, but 2 were named" in line


@pytest.mark.slow
def test_reports_of_several_targets_by_name(run, two_targets, folder):
    told_of(
        run(
            *("fill", "t.csv", "-t", "side", "size", "--report", "r.html"),
            *("--budget", "0.000001", "--json"),
        )
    )
    assert {path.name for path in folder.glob("r*")} == {"r.side.html", "r.size.html"}


def test_labels_in_several_spellings_and_marks(run, table):
    rows, _ = table
    for i, row in enumerate(rows[1:]):
        if i >= 10:
            row[3] = ["?", "unknown", ""][i % 3]
        elif i % 4 == 0:
            row[3] = row[3].upper()
    write_csv("t.csv", rows)
    options = ("-t", "side", "--unlabeled", "?", "unknown", "--overwrite", *QUICK)
    record = told_of(run("fill", "t.csv", *options, "--merge-labels"))
    assert (record["given"], record["predicted"]) == (10, 30)
    assert len(record["classes"]) == 2
    assert record["settings"]["merge_labels"] is True
    assert "--unlabeled '?' unknown --merge-labels" in record["command"]


def test_a_scale_by_its_order(run, table):
    rows, _ = table
    for row in rows[1:11:3]:
        row[3] = "middle"
    write_csv("t.csv", rows)
    options = ("-t", "side", "--order", "left", "middle", "right", *QUICK)
    record = told_of(run("fill", "t.csv", *options))
    assert record["settings"]["task"] == "ordered"
    assert record["settings"]["order"] == ["left", "middle", "right"]
    line = error_of(run("fill", "t.csv", *options, "--task", "numbers"))
    assert "needs --task ordered, but the task is 'numbers'" in line
