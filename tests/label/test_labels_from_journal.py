"""Answers are matched to the rows of a changed table, and fill it."""

import json
import random
from pathlib import Path

import pytest

from halfmoon._label.answers import Answers
from halfmoon._label.journal import Journal, head_of
from halfmoon._label.labels_from_journal import (
    joined_lines,
    key_columns,
    matched_rows,
    row_keys,
)
from halfmoon.table._files import open_table
from small_tables import a_line, error_of, read_csv, told_of, two_groups, write_csv

QUICK = ("--budget", "0.000001", "--no-report", "--json")


@pytest.fixture
def run(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from halfmoon._cli.commands import app

    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(map(str, args)))


def label(name, target, values, path="t.labels.jsonl", who="ann"):
    """Write a file of answers, by row number from 0."""
    with open_table(name) as table, Journal(path) as journal:
        columns = key_columns(table, target)
        keys = [k for b in table.batches() for k in row_keys(b.plain, columns)]
        for number, value in values.items():
            line = {
                "id": f"{who}{number}",
                "head": head_of(columns),
                "row": number + table.first_row,
                "key": keys[number],
                "column": target,
                "value": value,
                "who": who,
                "when": f"2026-01-01T00:00:00.{number:03}Z",
            }
            journal.append(line, columns)


def answers_in(run, *files, target="side", name="t.csv"):
    told = told_of(
        run("fill", name, "-t", target, "--labels", *files, "-o", "o.csv", *QUICK)
    )
    return told, read_csv("o.csv")


def test_answers_fill_the_table(run):
    rows, truth = two_groups(labels=4)
    write_csv("t.csv", rows)
    before = Path("t.csv").read_bytes()
    label("t.csv", "side", {i: str(truth[i]) for i in range(10, 16)})
    told, out = answers_in(run, "t.labels.jsonl")
    assert (told["given"], told["predicted"]) == (10, 30)
    assert "6 labels came from the labeling page." in told["notes"]
    for i in range(10, 16):
        assert out[i + 1][3:5] == [truth[i], "given"]
    assert Path("t.csv").read_bytes() == before


def test_a_table_that_was_sorted_and_grew_still_matches(run):
    rows, truth = two_groups(labels=4)
    write_csv("t.csv", rows)
    label("t.csv", "side", {i: f"{truth[i]}" for i in range(10, 20)})
    mixed = [[*row, str(truth[i])] for i, row in enumerate(rows[1:])]
    random.Random(1).shuffle(mixed)
    new = [["99.5", "n9", "-99.5", "", "right"]] * 3
    both = [*new, *mixed]
    write_csv("t.csv", [[*rows[0], "more"], *both])  # a column more as well
    asked = ("--exclude", "more")
    told = told_of(
        run(
            *("fill", "t.csv", "-t", "side", "--labels", "t.labels.jsonl"),
            *("-o", "o.csv", *asked, *QUICK),
        )
    )
    assert told["given"] == 14
    out = read_csv("o.csv")
    given = [row for row in out[1:] if row[5] == "given"]
    assert len(given) == 14
    assert all(row[3] == row[4] for row in given)


def test_equal_rows_are_matched_by_position(run):
    rows = [["x", "y"], *([["1", ""]] * 3), ["2", ""], *([["1", ""]] * 2)]
    write_csv("t.csv", rows)
    label("t.csv", "y", {1: "b", 4: "c"})
    lines = [
        json.loads(each) for each in Path("t.labels.jsonl").read_text().splitlines()
    ][1:]
    places = [(each["head"], each["key"], each["row"]) for each in lines]
    heads = {lines[0]["head"]: ("x",)}
    with open_table("t.csv") as table:
        assert list(matched_rows(table, places, heads).values()) == [1, 4]
    write_csv("t.csv", [rows[0], ["2", ""], ["1", ""], ["1", ""]])
    with open_table("t.csv") as table:  # one has stayed, one is the other
        assert sorted(matched_rows(table, places, heads).values()) == [1, 2]
    write_csv("t.csv", [rows[0], ["2", ""], ["1", ""]])
    with open_table("t.csv") as table:
        assert list(matched_rows(table, places, heads).values()) == [1, 1]


def test_files_of_several_people(run):
    rows, truth = two_groups(labels=4)
    write_csv("t.csv", rows)
    label("t.csv", "side", {i: str(truth[i]) for i in range(10, 16)}, "ann.jsonl")
    label("t.csv", "side", {i: str(truth[i]) for i in (15, 16)}, "bob.jsonl", "bob")
    told, _ = answers_in(run, "ann.jsonl", "bob.jsonl")
    assert told["given"] == 4 + 7
    both = Path("bob.jsonl").read_text() + Path("ann.jsonl").read_text()
    Path("both.jsonl").write_text(both)
    again, _ = answers_in(run, "both.jsonl", "--overwrite")
    assert again["given"] == 11


def test_files_of_people_who_sorted_their_copies(run):
    rows, truth = two_groups(labels=4)
    write_csv("t.csv", rows)
    label("t.csv", "side", {i: str(truth[i]) for i in range(10, 16)}, "ann.jsonl")
    n = len(truth)
    write_csv("sorted.csv", [rows[0], *rows[:0:-1]])
    values = {n - 1 - i: str(truth[i]) for i in range(10, 16)}
    label("sorted.csv", "side", values, "bob.jsonl", "bob")
    read = joined_lines(["ann.jsonl", "bob.jsonl"])
    answers = Answers("side")
    answers.add_all(read.lines)
    places = [answer.place for answer in answers.every.values()]
    with open_table("t.csv") as table:
        answers.rows = matched_rows(table, places, read.heads)
    assert answers.labels() == {i: truth[i] for i in range(10, 16)}
    assert answers.agreement() == (6, 6)
    told, _ = answers_in(run, "ann.jsonl", "bob.jsonl")
    assert told["given"] == 4 + 6
    assert not any("not in the table" in note for note in told["notes"])


def test_a_damaged_head_does_not_lose_the_answers(run):
    rows, truth = two_groups(labels=4)
    write_csv("t.csv", rows)
    label("t.csv", "side", {i: str(truth[i]) for i in range(10, 16)})
    text = Path("t.labels.jsonl").read_text()
    Path("t.labels.jsonl").write_text("damaged" + text[30:])
    told, out = answers_in(run, "t.labels.jsonl")
    assert told["given"] == 10
    assert [out[i + 1][3] for i in range(10, 16)] == [*truth[10:16]]


def test_an_answer_replaces_a_label_of_the_table(run):
    rows, truth = two_groups(labels=10)
    write_csv("t.csv", rows)
    label("t.csv", "side", {2: "middle", 3: "middle"})
    _, out = answers_in(run, "t.labels.jsonl")
    assert [row[3] for row in out[1:6]] == [*truth[:2], "middle", "middle", truth[4]]


def test_numbers_are_written_as_the_table_writes_them(run):
    rows, _ = a_line()
    comma = [[row[0], row[1].replace(".", ",")] for row in rows]
    write_csv("t.csv", comma)
    label("t.csv", "y", {40: 2.5, 41: -1.0})
    told, out = answers_in(run, "t.labels.jsonl", target="y")
    assert told["given"] == 32
    assert (out[41][1], out[42][1]) == ("2,5", "-1")


def test_numbers_in_a_column_with_a_type(run):
    import pandas as pd

    rows, _ = a_line()
    frame = pd.DataFrame(rows[1:], columns=rows[0]).replace("NA", None).astype(float)
    frame.to_parquet("t.parquet")
    label("t.parquet", "y", {40: 2.5, 41: -1})
    told = told_of(
        run(
            *("fill", "t.parquet", "-t", "y", "--labels", "t.labels.jsonl"),
            *("-o", "o.parquet", *QUICK),
        )
    )
    assert told["given"] == 32
    assert pd.read_parquet("o.parquet")["y"][40] == 2.5


def test_problems_of_a_file_are_reported(run):
    rows, truth = two_groups()
    write_csv("t.csv", rows)
    label("t.csv", "side", {i: str(truth[i]) for i in range(10, 16)})
    lines = Path("t.labels.jsonl").read_text()
    Path("torn.jsonl").write_text(lines[:-20])
    told, _ = answers_in(run, "torn.jsonl")
    assert told["given"] == 15
    assert any("cut off" in note for note in told["notes"])
    fewer = [rows[0], *(row for i, row in enumerate(rows[1:]) if i not in (10, 11))]
    write_csv("t.csv", fewer)
    told, _ = answers_in(run, "t.labels.jsonl", "--overwrite")
    assert told["given"] == 14
    assert any("2 answers in t.labels.jsonl are for rows" in x for x in told["notes"])
    write_csv(
        "t.csv",
        [
            ["x", "note", "z", "side"],
            *[["5", "n", str(i), "a"] for i in range(9)],
            ["5", "n", "9", "b"],
            ["0", "n", "3", ""],
        ],
    )
    asked = ("fill", "t.csv", "-t", "side", "--labels")
    assert "None of the 6 answers" in error_of(run(*asked, "t.labels.jsonl"))
    Path("none.jsonl").write_text(lines.splitlines()[0] + "\n")
    assert "has no answers for 'side'" in error_of(run(*asked, "none.jsonl"))
