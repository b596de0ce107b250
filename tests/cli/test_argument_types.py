"""Arguments as people type them."""

import pytest

from halfmoon._cli.argument_types import file_among, repeated
from small_tables import told_of, two_groups, write_csv

QUICK = ("--budget", "0.000001s", "--no-report", "--json")
SEVERAL = {"-t", "--exclude", "--unlabeled"}


@pytest.fixture
def table(folder):
    rows, _ = two_groups()
    write_csv("t.csv", rows)
    return rows


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("t --exclude a b -x", "t --exclude a --exclude b -x"),
        ("--unlabeled -1 ? -.5 -x", "--unlabeled -1 --unlabeled ? --unlabeled -.5 -x"),
        ("--exclude a - -o b c", "--exclude a --exclude - -o b c"),
        ("--exclude a -- b c", "--exclude a -- b c"),
        ("--exclude=a b", "--exclude=a b"),
    ],
)
def test_options_are_repeated_before_each_value(args, expected):
    assert repeated(args.split(), SEVERAL) == expected.split()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("--exclude a t.csv", "t.csv"),
        ("--exclude a t.csv --seed 1", "t.csv"),
        ("-t side t.csv --exclude a b", "t.csv"),
        ("--exclude a -", "-"),
        ("--exclude a side", "side"),  # a file without an ending
        ("-t a side --exclude b none.csv", "side"),  # an existing file comes first
        ("--exclude a none.csv", "none.csv"),
        ("--exclude t.csv", None),  # the option would have no value
        ("--exclude t.csv a", None),
        ("--exclude a b", None),
    ],
)
def test_the_file_is_found_among_the_values_of_options(folder, table, args, expected):
    (folder / "side").write_text("x,y\n")
    spread = repeated(args.split(), SEVERAL)
    at = file_among(spread, SEVERAL)
    assert (None if at is None else spread[at]) == expected


def test_options_whose_values_are_files(folder, table):
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("row,side\n")
    several = {"-t", "--labels"}
    for args in (
        ("-t", "side", "t.csv", "--labels", "a.csv", "b.csv"),
        ("-t", "side", "--labels", "a.csv", "t.csv"),
    ):
        spread = repeated(args, several)
        assert spread[file_among(spread, several, {"--labels"})] == "t.csv"


def test_the_file_after_a_list_of_columns(run, table):
    record = told_of(run("fill", "-t", "side", "--exclude", "note", "t.csv", *QUICK))
    assert record["learned_from"]["columns"] == ["x", "z"]
    assert record["command"].startswith("halfmoon fill t.csv --target side")


def test_a_missing_file_is_named(run, folder):
    result = run("fill", "-t", "side", "--exclude", "note", "none.csv")
    assert "none.csv does not exist" in result.stderr
    result = run("fill", "-t", "side", "--exclude", "note")
    assert "Missing argument 'FILE'" in result.stderr


def test_patterns_of_columns(run, table):
    record = told_of(run("fill", "t.csv", "-t", "side", "--exclude", "n*", "z", *QUICK))
    assert record["learned_from"]["columns"] == ["x"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--seed", "1", "--seed=2"), "Option '--seed' was given 2 times"),
        (("-o", "a", "--output", "b"), "Option '--output' was given 2 times"),
        (("--budget", "2x"), "'2x' is not a time. Give seconds, such as 90"),
        (("--budget", "0"), "'0' is not a time"),
        (("--budget", "-1"), "'-1' is not a time"),
        (("--level", "abc"), "'abc' is not a number between 0 and 1. Give 0.9 for"),
        (("--level", "90"), "'90' is not a number between 0 and 1"),
        (("--level", "nan"), "'nan' is not a number between 0 and 1"),
        (("--seed", "abc"), "'abc' is not a whole number of at least 0."),
        (("--seed", "-1"), "'-1' is not a whole number of at least 0."),
        (("--to-label", "0", "a.csv"), "'0' is not a whole number from 1 to 500."),
    ],
)
def test_ambiguous_arguments_are_refused(run, table, args, words):
    result = run("fill", "t.csv", "-t", "side", *args)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_column_without_its_option(run, table):
    result = run("fill", "t.csv", "side")
    assert result.exit_code == 2
    assert "'side' after 't.csv'. If it is the column to fill, use --target side." in (
        result.stderr
    )
    assert "in quotes" in run("fill", "t.csv", "a", "-t", "side").stderr
    assert "more than one table: 't.csv' and 'u.csv'" in (
        run("fill", "t.csv", "u.csv", "-t", "side").stderr
    )


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("3", 3), ("0.5s", 0.5), ("2m", 120), ("1.5 min", 90), ("1h", 3600)],
)
def test_durations(asked, seconds):
    from halfmoon._cli.argument_types import Seconds

    assert Seconds().convert(asked, None, None) == seconds


@pytest.mark.parametrize(
    ("asked", "share"), [("0.9", 0.9), ("90%", 0.9), ("5 %", 0.05)]
)
def test_shares(asked, share):
    from halfmoon._cli.argument_types import Share

    assert Share().convert(asked, None, None) == share
