"""Run commands in this process, in a temporary folder."""

import pytest
from click.testing import CliRunner
from tests.small_tables import two_groups, write_csv

from halfmoon._cli.commands import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder):
    """run("fill", ...) returns the output of the command and its exit code."""

    def run(*args, given=None):
        return CliRunner().invoke(app, list(map(str, args)), input=given)

    return run


@pytest.fixture
def groups(folder):
    """A table of two groups of rows, in groups.csv, and its truth."""
    rows, truth = two_groups()
    write_csv(folder / "groups.csv", rows)
    return rows, truth
