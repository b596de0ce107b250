"""Lines in the log: not too many, and only where they are asked for."""

from __future__ import annotations

import io
import logging
import pickle
import re

import numpy as np
import pytest

from halfmoon import _progress as progress
from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    HalfmoonClassifier,
)
from halfmoon._progress import (
    LoggedProgress,
    ProgressLine,
    report_search_to,
    row_progress,
    search_step,
    show_log,
)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when the test sets it."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def bare_logger(monkeypatch):
    """A logger with nothing on it or above it, as where no logging is set up."""
    logger = logging.Logger("halfmoon")  # noqa: LOG001 - one that no other has seen
    monkeypatch.setattr(progress, "logger", logger)
    return logger


@pytest.fixture
def unset_level():
    """The library's logger as it is before any estimator has spoken."""
    logger = logging.getLogger("halfmoon")
    level = logger.level
    logger.setLevel(logging.NOTSET)
    yield
    logger.setLevel(level)


def test_a_line_every_other_second(clock, caplog):
    caplog.set_level(logging.INFO, "halfmoon")
    report = LoggedProgress(clock[0])
    for done in range(1, 11):  # half a second each
        clock[0] += 0.5
        report(done, 10)
    assert caplog.messages == ["4 of 10 rows (40 %)", "8 of 10 rows (80 %)"]


def test_what_is_quick_says_nothing(clock, caplog):
    caplog.set_level(logging.INFO, "halfmoon")
    report = LoggedProgress(clock[0])
    clock[0] += 1.9
    report(10, 10)
    assert caplog.messages == []
    assert pickle.loads(pickle.dumps(report)).last == report.last


def test_lines_are_shown_where_no_logging_is_set_up(bare_logger):
    show_log()
    assert bare_logger.level == logging.INFO
    (handler,) = bare_logger.handlers
    handler.setStream(stream := io.StringIO())
    show_log()  # once is enough
    assert bare_logger.handlers == [handler]
    bare_logger.info("here")
    assert stream.getvalue() == "halfmoon: here\n"


def test_the_users_own_logging_is_left_alone(bare_logger):
    handler = logging.NullHandler()
    bare_logger.addHandler(handler)
    bare_logger.setLevel(logging.ERROR)
    show_log()
    assert bare_logger.handlers == [handler]
    assert bare_logger.level == logging.ERROR


@pytest.mark.usefixtures("unset_level")
def test_verbose_estimators_log(caplog):
    X = np.linspace(0, 1, 20)[:, None]
    ConditionalRegressor(alpha=0.01).fit(X, X[:, 0])
    assert caplog.messages == []
    ConditionalRegressor(alpha=0.01, verbose=1).fit(X, X[:, 0])
    (outcome,) = caplog.messages
    assert re.fullmatch(
        r"Fitted 20 labels among 20 rows in \d\.\d s; leave-one-out R² 0\.\d\d; "
        r"alpha = 0\.01\.",
        outcome,
    )
    ConditionalClassifier(alpha=0.01, verbose=2).fit(X, X[:, 0] > 0.5)
    steps, outcome = caplog.messages[1:]
    assert steps == "ConditionalClassifier: 20 of 20 rows are labeled; 20 functions."
    assert "; leave-one-out accuracy " in outcome


def terminal(monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(progress.sys, "stderr", screen)
    return screen


def test_one_line_on_a_terminal_is_written_over(clock, monkeypatch, caplog):
    screen = terminal(monkeypatch)
    caplog.set_level(logging.INFO, "halfmoon")
    line, seen = ProgressLine(clock[0]), []
    for item in line.over(iter("abc"), 60.0):
        clock[0] += 1.0
        seen.append(item)
    assert seen == ["a", "b", "c"]
    line.end("Tried 3 models.")
    shown = ["1 model tried in 1 of 60 s", "2 models tried in 2 of 60 s"]
    blanks = " " * len(shown[1])
    assert screen.getvalue() == (
        f"\r{shown[0]}\r{shown[1]}\r{blanks}\rTried 3 models.\n"
    )
    assert caplog.messages == []


def test_rows_are_shown_on_the_line(clock, monkeypatch):
    screen = terminal(monkeypatch)
    line = ProgressLine(clock[0])
    for done in (400, 1_000):
        clock[0] += 0.5
        line(done, 1_000)
    text = "400 of 1,000 rows (40 %)"
    assert screen.getvalue() == f"\r{text}\r{' ' * len(text)}\r"
    assert pickle.loads(pickle.dumps(line)) == line


def test_a_notebook_gets_the_line_in_its_output(clock, monkeypatch):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    monkeypatch.setattr(progress.sys, "stdout", out := OutStream())
    ProgressLine(clock[0]).end("done")
    assert out.getvalue() == "done\n"


def test_a_log_gets_few_lines(clock, caplog):
    caplog.set_level(logging.INFO, "halfmoon")
    line = ProgressLine(clock[0])
    for _ in line.over(range(60), 60.0):
        clock[0] += 1.0
    line.end("Tried 60 models.")
    assert len(caplog.messages) == 6
    assert caplog.messages[0] == "10 models tried in 10 of 60 s"
    assert caplog.messages[-1] == "Tried 60 models."


def test_what_verbose_means():
    assert row_progress(0) is None
    assert isinstance(row_progress(1), ProgressLine)
    assert isinstance(row_progress(2), LoggedProgress)


def test_steps_of_a_search_are_reported_and_never_go_back(caplog):
    steps = []
    with caplog.at_level(logging.DEBUG, "halfmoon"):
        with report_search_to(lambda *step: steps.append(step)):
            search_step(1.0, 4.0, "gaussian", logging.DEBUG)
            search_step(9.0, 4.0, "laplace", logging.DEBUG)
            search_step(0.5, 4.0, "laplace in regions", logging.DEBUG)
        search_step(1.0, 4.0, "nobody asked", logging.DEBUG)
    names = ["gaussian", "laplace", "laplace in regions"]
    assert steps == list(zip([0.25, 1.0, 1.0], names, strict=True))
    with report_search_to(lambda *step: steps.append(step), 0.05, 0.8):
        search_step(2.0, 4.0, "a part of the work", logging.DEBUG)
    assert steps[3][0] == pytest.approx(0.45)
    assert len(caplog.records) == 4
    assert caplog.records[0].message == "  1.0 s of 4: gaussian"


def test_whoever_asked_is_forgotten_after_an_error():
    steps = []
    with (
        pytest.raises(ValueError, match="no"),
        report_search_to(lambda *s: steps.append(s)),
    ):
        raise ValueError("no")
    search_step(1.0, 4.0, "gaussian", logging.DEBUG)
    assert steps == []


def test_the_search_of_an_estimator_is_reported(rng):
    X = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) < 12, (X[:, 0] > 0).astype(float), np.nan)
    steps = []
    with report_search_to(lambda *step: steps.append(step)):
        HalfmoonClassifier(budget=0.1, random_state=0).fit(X, y)
    shares = [share for share, _ in steps]
    # In tests each model takes a 128th of a second; the 13th ends the budget.
    assert shares == [*(k / 12.8 for k in range(1, 13)), 1.0]
    assert all(name for _, name in steps)
