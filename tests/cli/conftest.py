"""A shell for tests: commands run in this process, in a folder of their own."""

import pytest
from click.testing import CliRunner

from halfmoon.cli.app import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder):
    """run("fill", ...) gives what the command said and its exit code."""

    def run(*args, given=None):
        return CliRunner().invoke(app, list(map(str, args)), input=given)

    return run
