"""Parameters in messages, as arguments of Python and as options of the command line."""

import shlex

import pytest

from halfmoon._notes import Note
from halfmoon.table._parameter_text import argument, as_options, with_command


@pytest.mark.parametrize("values", [["?"], ["a b", "it's"], ["`x`"], ["$(rm)", "--y"]])
def test_an_argument_becomes_an_option_with_the_same_values(values):
    option = as_options(f"Use `{argument('unlabeled', values)}`.")
    assert shlex.split(option[4:-1]) == ["--unlabeled", *values]


@pytest.mark.parametrize("text", ["`x`", "`task=numbers`", "`task=`", "a `b=1` c", "`"])
def test_cells_in_backquotes_stay(text):
    assert as_options(text) == text


def test_an_argument_that_the_call_has_is_not_repeated():
    note = Note("Two marks.", "Use `unlabeled='?'`.", "unlabeled='?'")
    called = with_command(note, "halfmoon.fill(df, 'y', unlabeled=('todo',))")
    assert (called.remedy, called.command) == (note.remedy, "")


def test_a_note_without_advice_has_no_command():
    for run in ("halfmoon.fill(df, 'y')", "halfmoon fill t.csv --target y"):
        assert with_command(Note("Two."), run) == Note("Two.")
