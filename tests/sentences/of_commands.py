"""Commands that are refused, and what they and the others say."""

import inspect
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

import click
import numpy as np
from click.testing import CliRunner

import halfmoon
from halfmoon._cli.command_inputs import blaming_model, save_model
from halfmoon._cli.commands import app
from halfmoon._cli.common_options import CommonOptions
from halfmoon._cli.exit_codes import exit_with_code
from halfmoon._cli.process_limits import (
    input_stream,
    output_stream,
    refuse_small_memory,
    system_failure,
)
from halfmoon._cli.run_model import _lines as inspected
from halfmoon._cli.terminal import print_runs
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.run_summary import record_of
from report.situations import QUALITIES
from sentences import of_folders as folders
from sentences.of_files import refused
from small_tables import a_line, two_groups, write_csv

GROUPS, _ = two_groups()
LABELED = [row for row in GROUPS if row[3]]

#: Tables by their names, as rows.
TABLES = {
    "t.csv": GROUPS,
    "line.csv": a_line()[0],
    "labeled.csv": LABELED,
    "asked.csv": [[*row[:3], row[3] or "?"] for row in GROUPS],
    "blank.csv": [[*row[:3], ""] if i else row for i, row in enumerate(GROUPS)],
    "one_label.csv": [row if i < 2 else [*row[:3], ""] for i, row in enumerate(GROUPS)],
    "one_class.csv": [row for row in GROUPS if row[3] != "right"],
    "header.csv": GROUPS[:1],
    "target.csv": [["side"], ["left"], ["right"], [""]],
    "two_blanks.csv": [
        row if i != 3 else ["", *row[1:]] for i, row in enumerate(GROUPS)
    ],
    "many_blanks.csv": [[f"c{j}" for j in range(14)], ["1"] * 14, ["NA"] * 14],
    "taken.csv": [[*GROUPS[0], "side_confidence"], *([*row, ""] for row in GROUPS[1:])],
    "filled.csv": [
        [*GROUPS[0], "side_source"],
        *([*row, "given" if row[3] else "predicted"] for row in GROUPS[1:]),
    ],
    "many.csv": [["x", "name"], *([i, f"n{i}"] for i in range(300)), [0, ""]],
    "names.csv": [["x", "name"], *([i, f"n{i}"] for i in range(30)), [0, ""]],
    "skus.csv": [["x", "sku"], *([i, f"n{i % 250}"] for i in range(750)), [0, ""]],
    "days.csv": [
        ["x", "day"],
        *([i, f"2024-0{1 + i % 7}-{1 + i % 28:02d}"] for i in range(28)),
        [0, ""],
    ],
    "mixed.csv": [
        ["x", "y"],
        *([i, f"{i}.5" if i % 4 else "on request"] for i in range(40)),
        [0, ""],
    ],
    "mixed4.csv": [
        ["x", "y"],
        *([i, f"{i}.5" if i % 4 else f"<{i}"] for i in range(40)),
        [0, ""],
    ],
    "codes.csv": [["x", "y"], *([i, 7 * i] for i in range(300)), [0, ""]],
    "huge.csv": [["x", "y"], [1, "1e200"], [2, "2.5"], [3, "3.5"], [4, ""]],
    "alike.csv": [["x", "y"], [1, "2.5"], [2, "2.5"], [3, ""]],
    "words.csv": [["x", "y"], [1, "2.5"], [2, "low"], [3, "high"], [4, ""]],
    "colors.csv": [["x", "y"], [1, "red"], [2, "green"], [3, "blue"], [4, ""]],
    "ends.csv": [
        ["x", "least", "most"],
        *([i, i, i + 2] for i in range(8)),
        [3, "", ""],
    ],
    "nothing.csv": [["a", "b", "y"], ["", 1, "u"], ["", 1, "v"], ["", 1, ""]],
    # Lists of rows to label
    "list.csv": [["row", "x", "side"], [2, GROUPS[1][0], "left"]],
    "list_empty.csv": [["row", "side"], [30, ""]],
    "list_far.csv": [["row", "side"], [400, "left"]],
    "list_odd.csv": [["row", "side"], ["first", "left"]],
    "list_none.csv": [["side"], ["left"]],
    "list_two.csv": [["row", "side"], [30, "left"], [30, "right"]],
    "list_other.csv": [["row", "x", "z", "side"], [30, "0", "0", "left"]],
    "list_against.csv": [["row", "side"], [2, "right"]],
}

#: Each is refused before anything is learned.
REFUSED = """
fill t.csv
fill two_blanks.csv
fill many_blanks.csv
fill labeled.csv
fill labeled.csv -t 's*'
fill t.csv -t 'n*'
fill t.csv -t sides
fill t.csv -t SIDE --features w
fill t.csv -t side --features 'w*'
fill t.csv -t side --features side
fill t.csv -t side --known x --exclude x
fill filled.csv -t side --features side_source
fill target.csv -t side
fill taken.csv -t side
fill labeled.csv -t side
fill asked.csv -t side
fill blank.csv -t side
fill one_label.csv -t side
fill one_class.csv -t side
fill header.csv -t side
fill many.csv -t name
fill skus.csv -t sku
fill days.csv -t day
fill mixed.csv -t y
fill mixed4.csv -t y
fill names.csv -t name
fill codes.csv -t y --task classes
fill huge.csv -t y
fill alike.csv -t y --task numbers
fill words.csv -t y --task numbers
fill colors.csv -t y --task ordered
fill colors.csv -t y --order red red
fill colors.csv -t y --order red green
fill colors.csv -t y --order red --task classes
fill nothing.csv -t y
fill t.csv -t x side --low z
fill t.csv -t x side --model m
fill t.csv -t side --report -
fill t.csv -t side --report a --model a
fill t.csv -t side --model /dev/null
fill t.csv -t side -o t.csv
fill t.csv -t side -o taken.csv
fill t.csv -t side -o there/t.csv
fill t.csv -t side -o .
fill t.csv -t side -o ''
fill t.csv -t side -o t.pdf
fill t.csv -t side --to-label 5 list.csv --overwrite
fill t.csv -t side --labels list_empty.csv
fill t.csv -t side --labels list_far.csv
fill t.csv -t side --labels list_odd.csv
fill t.csv -t side --labels list_none.csv
fill t.csv -t side --labels list_two.csv
fill t.csv -t side --labels list_other.csv
fill t.csv -t side --labels list_against.csv
fill '*.csv' -t side
fill 'parts/*.csv' -t side
fill '*/t.csv' -t side
fill t.csv -t side --seed 1 --seed 2
fill t.csv line.csv -t side
fill t.csv side
fill t.csv -t side --seed 1 more words
fill t.csv -t side --budget soon
fill t.csv -t side --level 90
fill t.csv -t side --seed x
fill t.csv -t side --to-label 0 todo.csv
label t.csv
label t.csv -t sides
label - -t side
label line.csv -t y --classes a,b --task numbers
label t.csv -t side --host 203.0.113.1 --no-browser
predict t.csv line.csv
predict nowhere.halfmoon t.csv
predict estimator.halfmoon t.csv
predict m.halfmoon line.csv
explain t.csv --model m.halfmoon --row 400
explain t.csv --model m.halfmoon --row 5 --target x
"""


def run(*args):
    return CliRunner().invoke(app, list(map(str, args)))


def make_tables():
    Path("june").mkdir()
    write_csv("june/t.csv", GROUPS)
    for name, rows in TABLES.items():
        write_csv(name, rows)


def make_models():
    """A model of a table, and one of rows of numbers."""
    done = run("fill", "t.csv", "-t", "side", "--budget", "0.000001", "--no-report",
               "-o", "done.csv", "--model", "m.halfmoon", "--quiet")  # fmt: skip
    assert done.exit_code == 0, done.output
    done = run("fill", "ends.csv", "-t", "y", "--low", "least", "--high", "most",
               "--budget", "0.000001", "--no-report", "--quiet")  # fmt: skip
    assert done.exit_code == 0, done.output
    line = np.arange(8.0)
    estimator = halfmoon.FredholmRegressor().fit(line[:, None], line)
    halfmoon.save(estimator, "estimator.halfmoon")
    with refused(), blaming_model("m.halfmoon"):
        raise KeyError("columns")
    with refused():
        save_model(estimator, "there/m.halfmoon", overwrite=False)
    with refused():
        save_model(estimator, os.devnull, overwrite=False)
    with refused():
        save_model(estimator, "estimator.halfmoon", overwrite=False)


def refusals(commands):
    """Run commands that end in an error."""
    for line in commands.strip().splitlines():
        done = run(*shlex.split(line))
        assert done.exit_code not in (0, 1), (line, done.output, done.exception)
    with mock.patch.dict(sys.modules, {"uvicorn": None}):
        assert run("label", "t.csv", "-t", "side").exit_code == 2


def helps():
    """The help of each command and of each option."""
    lines = ["# halfmoon --help", *_help(app), *_text(app.epilog)]
    for name, command in app.commands.items():
        lines += ["", f"# halfmoon {name} --help", *_help(command)]
    return lines


def _help(command):
    yield from _text(command.help)
    for option in command.params:
        if isinstance(option, click.Option) and option.help:
            yield f"  {option.opts[-1]} {option.metavar or ''} {option.help}"


def _text(text):
    return inspect.cleandoc(text).replace("\b\n", "").splitlines()


def outcomes():
    """What a command says when it is done, and when it fails."""
    yield "# halfmoon fill, halfmoon inspect"
    found = replace(QUALITIES["most recovered"], date="2024-01-02", seconds=1.0)
    places = {"report": "wines.report.html"}
    record = record_of(found, Settings("cultivar"))
    options = CommonOptions("wines.csv")
    yield from _output(lambda: print_runs([(record, places)], options))
    kept = {"file": "m.halfmoon", "estimator": "HalfmoonClassifier", **record}
    kept |= {"columns": [{"name": "a", "kind": "number", "role": "feature", "why": ""}]}
    yield from inspected(kept | {"versions": {"halfmoon": "1.0"}})
    yield "# failures"
    for error in (
        KeyboardInterrupt(),
        MemoryError(),
        RuntimeError("can't start new thread"),
        BrokenPipeError(32, "Broken pipe"),
        OSError(24, "Too many open files"),
        OSError(13, "Permission denied", "t.csv"),
        ZeroDivisionError("division by zero"),
    ):
        yield from _output(lambda error=error: _fail(error))
    with mock.patch.multiple(sys, stdin=None, stdout=None):
        with refused():
            input_stream()
        with refused():
            output_stream()
    limit = mock.patch("resource.getrlimit", return_value=(4 * 10**8, 4 * 10**8))
    with limit, refused():
        refuse_small_memory()
    with mock.patch("halfmoon._cli.process_limits._has_folder", return_value=False):
        system_failure(FileNotFoundError(2, "No such file or directory"))


def _fail(error):
    with exit_with_code(debug=False):
        raise error


def _output(function):
    return CliRunner().invoke(click.command()(function)).output.splitlines()


def all_of_commands():
    """All of these."""
    make_tables()
    folders.make_folders()
    make_models()
    refusals(REFUSED)
    refusals(folders.REFUSED)
    folders.of_folders()
    yield from (*helps(), "", *outcomes())
