"""Lines in the log: not too many, and only where they are asked for."""

from __future__ import annotations

import io
import logging
import pickle

import numpy as np
import pytest

from halfmoon import progress
from halfmoon.estimators import ConditionalRegressor
from halfmoon.progress import LoggedProgress, show_log


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told."""
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
    own = logging.NullHandler()
    bare_logger.addHandler(own)
    bare_logger.setLevel(logging.ERROR)
    show_log()
    assert bare_logger.handlers == [own]
    assert bare_logger.level == logging.ERROR


@pytest.mark.usefixtures("unset_level")
def test_an_estimator_speaks_if_it_is_told(caplog):
    X = np.linspace(0, 1, 20)[:, None]
    ConditionalRegressor(alpha=0.01).fit(X, X[:, 0])
    assert caplog.messages == []
    ConditionalRegressor(alpha=0.01, verbose=1).fit(X, X[:, 0])
    assert caplog.messages == [
        "ConditionalRegressor: 20 of 20 rows are labeled; 20 functions."
    ]
