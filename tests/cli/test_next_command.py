"""``halfmoon next``: rows to label next, printed or written."""

import pytest
from tests.small_tables import a_line, error_of, told_of, write_csv

from halfmoon._cli.commands import next_rows
from halfmoon.table._runs.rows_to_label import RULES

QUICK = ("--budget", "0.000001")  # one candidate, on the fastest machine too


@pytest.mark.parametrize("rule", RULES)
def test_rows_without_a_label(run, groups, rule):
    rows, _ = groups
    asked = ("next", "groups.csv", "-t", "side", "-n", 5, "--by", rule, *QUICK)
    record = told_of(run(*asked, "--json"))
    assert (record["target"], record["by"], record["list"]) == ("side", rule, None)
    assert len({row["row"] for row in record["rows"]}) == 5
    for row in record["rows"]:
        # The header is row 1.
        given = dict(zip(rows[0], rows[row["row"] - 1], strict=True))
        assert row["cells"] == given
        assert given["side"] == ""
        assert 0 < row["confidence"] <= 1
    assert told_of(run(*asked, "--json")) == record


def test_every_rule_is_an_option():
    (by,) = [each for each in next_rows.params if each.name == "rule"]
    assert list(by.type.choices) == list(RULES)


def test_fill_writes_the_same_list(run, groups, folder):
    """Both commands write the same rows in the same order."""
    run("next", "groups.csv", "-t", "side", "-n", 6, "-o", "one.csv", *QUICK)
    run("fill", "groups.csv", "-t", "side", "--to-label", 6, "two.csv", *QUICK)
    one, two = ((folder / name).read_text() for name in ("one.csv", "two.csv"))
    assert one == two
    assert len(one.splitlines()) == 7


def test_printed_text(run, groups):
    result = run("next", "groups.csv", "-t", "side", "-n", 3, *QUICK)
    assert result.exit_code == 0, result.output
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["row", "side", "confidence", "x", "note", "z"]
    assert len(lines) == 3
    assert all(line.split()[3] == "%" for line in lines)
    result = run("next", "groups.csv", "-t", "side", "-n", 1, "-o", "l.csv", *QUICK)
    assert result.stdout == "Wrote 1 row to label next in 'side' to l.csv.\n"
    quiet = run("next", "groups.csv", "-t", "side", "-n", 1, "-q", *QUICK)
    assert quiet.stdout == ""


@pytest.mark.parametrize("rule", ["margin", "variance"])
def test_numbers_have_intervals(run, folder, rule):
    write_csv(folder / "line.csv", a_line()[0])
    asked = ("next", "line.csv", "-t", "y", "-n", 2, "--by", rule, *QUICK)
    for row in told_of(run(*asked, "--json"))["rows"]:
        assert float(row["low"]) < float(row["prediction"]) < float(row["high"])
    shown = run(*asked).stdout.splitlines()
    assert shown[0].split()[:3] == ["row", "y", "interval"]
    assert " to " in shown[1]


def test_typed_labels_are_not_asked_for_again(run, groups, folder):
    asked = ("next", "groups.csv", "-t", "side", "-n", 4, *QUICK)
    told_of(run(*asked, "-o", "todo.csv", "--json"))
    lines = (folder / "todo.csv").read_text().splitlines()
    before = [line.split(",")[0] for line in lines[1:]]
    typed = [line.replace(",,", ",left,", 1) for line in lines[1:]]
    (folder / "done.csv").write_text("\n".join([lines[0], *typed]) + "\n")
    again = told_of(run(*asked, "--labels", "done.csv", "--json"))["rows"]
    assert not {str(row["row"]) for row in again} & set(before)


def test_more_rows_than_there_are(run, groups):
    rows, _ = groups
    blank = sum(row[3] == "" for row in rows[1:])
    asked = ("next", "groups.csv", "-t", "side", "-n", 500, *QUICK, "--json")
    for rule in RULES:
        assert len(told_of(run(*asked, "--by", rule))["rows"]) == blank


def test_errors(run, groups, folder):
    rows, _ = groups
    write_csv(folder / "full.csv", [row for row in rows if row[3]])
    message = error_of(run("next", "full.csv", "-t", "side", *QUICK))
    assert "Every row of 'side' has a label" in message
    message = error_of(run("next", "groups.csv", "-t", "sid", *QUICK))
    assert "sid" in message
    (folder / "todo.csv").write_text("row,side\n30,left\n")
    asked = ("next", "groups.csv", "-t", "side", "-o", "todo.csv", *QUICK)
    assert "exists" in error_of(run(*asked))
    assert "would be lost" in error_of(run(*asked, "--overwrite"))
