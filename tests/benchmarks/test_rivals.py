"""Rivals get the rows, splits and labels of the benchmarks, and nothing else.

None of their packages is needed: adapters are run with a stub in its place.
"""

import math
import os
import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks.league import models as league_models
from benchmarks.league import tables as league
from benchmarks.rivals import __main__ as command
from benchmarks.rivals import automl, imputers, players, supervised, work
from benchmarks.rivals.apart import apart
from benchmarks.rivals.players import RIVALS, Rival
from benchmarks.rivals.run import run
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks import tables


@pytest.fixture
def mixed():
    """Two numbers, a category and a text, for two classes with names."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"])
    frame["color"] = np.where(frame["a"] > 0, "red", "blue")
    frame["note"] = [f"note {i} of row {i}" for i in range(60)]
    truth = np.where(frame["a"] > 0, "yes", "no")
    labeled = rng.permutation(60)[:20]
    given = truth[labeled]
    return work.Work(frame, labeled, given, False, False, 3), truth


def stub_rival(monkeypatch, predict):
    monkeypatch.setitem(RIVALS, "stub", Rival(predict, "math", "numpy", ""))


@pytest.mark.parametrize(
    ("name", "labels", "split"), [("wine", 20, 1), ("digits", 50, 0)]
)
def test_rows_and_labels_are_those_of_the_league(monkeypatch, name, labels, split):
    seen = {}

    def predict(model, table, labeled, seed):
        seen.update(X=table.X, y=table.y, labeled=labeled, seed=seed)
        return table.y, {}

    monkeypatch.setattr(league_models.supervised, "predict", predict)
    league_models.run(name, labels, split, "linear")
    given = work.of_league(name, labels, split)
    assert_array_equal(given.labeled, seen["labeled"])
    assert_array_equal(given.frame.to_numpy(), seen["X"])
    assert_array_equal(given.given, seen["y"][seen["labeled"]])
    assert given.seed == seen["seed"]
    assert sorted([*given.hidden, *given.labeled]) == list(range(len(seen["y"])))


def test_a_draw_of_the_league_stays_what_it_was():
    """So that results of rivals still belong to those of the league."""
    labeled = work.of_league("wine", 20, 0).labeled
    assert labeled[:8].tolist() == [127, 15, 39, 90, 148, 156, 44, 117]


@pytest.mark.parametrize(
    ("name", "share"), [("breast cancer", 0.05), ("diabetes", 0.2)]
)
def test_rows_and_labels_are_those_of_the_command_line(monkeypatch, name, share):
    files = []

    def timed(command):
        files.append(pd.read_csv(command[4], dtype=str, keep_default_na=False))
        return {"exit": 1}

    monkeypatch.setattr(tables, "timed", timed)
    tables.run(name, share, 1)
    (file,) = files
    given = work.of_tables(name, share, 1)
    cells = file.pop(tables.TARGET)
    assert_array_equal(np.flatnonzero(cells != ""), given.labeled)
    words = given.given.tolist()
    expected = [repr(v) if given.regression else v for v in words]
    assert cells.iloc[given.labeled].tolist() == expected
    assert_allclose(
        file.to_numpy().astype(float), given.frame.to_numpy(float), rtol=1e-15
    )


def test_the_error_is_that_of_the_league(monkeypatch):
    table = league.load("wine")
    stub_rival(monkeypatch, lambda given: np.ones(given.hidden.size))
    found = run("league", "wine", 20, 0, "stub")
    hidden = np.setdiff1d(np.arange(178), table.draw(20, 0))
    assert found["error"] == np.mean(table.y[hidden] != 1)
    assert found["version"] == np.__version__


def test_the_score_is_that_of_the_tables(monkeypatch):
    stub_rival(monkeypatch, lambda given: np.full(given.hidden.size, 150.0))
    found = run("tables", "diabetes", 0.2, 1, "stub")
    y = tables.TABLES["diabetes"]()[1]
    truth = np.delete(y, tables.draw(y, 0.2, 1, "diabetes"))
    assert_allclose(
        found["score"], 1 - np.mean((truth - 150) ** 2) / truth.var(), rtol=1e-12
    )
    truth = {}
    stub_rival(monkeypatch, lambda given: truth["codes"])
    _, words = tables.TABLES["breast cancer"]()
    given = work.of_tables("breast cancer", 0.05, 0)
    truth["codes"] = np.searchsorted(given.classes, words[given.hidden])
    truth["codes"][:54] = 1 - truth["codes"][:54]
    assert run("tables", "breast cancer", 0.05, 0, "stub")["score"] == 1 - 54 / 541


@pytest.mark.parametrize("bad", [np.zeros(3), np.full(354, np.nan)])
def test_answers_that_do_not_fit_are_failures(monkeypatch, bad):
    stub_rival(monkeypatch, lambda given: bad)
    with pytest.raises(ValueError, match=r"3 predictions for 354|not finite"):
        run("tables", "diabetes", 0.2, 0, "stub")


def test_catboost_is_given_labeled_rows_and_kinds_of_columns(monkeypatch, mixed):
    given, _ = mixed
    calls = {}

    class Model:
        def __init__(self, **settings):
            calls["settings"] = settings

        def fit(self, X, y, **columns):
            calls.update(X=X, y=y, columns=columns)

        def predict(self, X):
            calls["asked"] = X
            return np.ones((len(X), 1))  # as CatBoost does for several classes

    stub = SimpleNamespace(
        CatBoostClassifier=Model, CatBoostRegressor=None, CatBoostError=ValueError
    )
    monkeypatch.setitem(sys.modules, "catboost", stub)
    predicted = given.decoded(supervised.catboost(given))
    assert calls["columns"] == {"cat_features": ["color"], "text_features": ["note"]}
    assert calls["X"].equals(given.frame.iloc[given.labeled])
    assert calls["asked"].equals(given.frame.iloc[given.hidden])
    assert_array_equal(calls["y"], given.given == "yes")
    assert calls["settings"]["random_seed"] == 3
    assert predicted.tolist() == ["yes"] * 40


@pytest.mark.parametrize("pseudo", [False, True])
def test_autogluon_has_a_minute_and_never_the_hidden_labels(monkeypatch, mixed, pseudo):
    given, _ = mixed
    calls = []

    class Predictor:
        def __init__(self, label, problem_type, path, verbosity):
            calls.append(("new", label, problem_type))

        def fit(self, rows, time_limit):
            calls.append(("fit", rows, time_limit))

        def fit_pseudolabel(self, rows, time_limit):
            calls.append(("pseudo", rows, time_limit))

        def predict(self, rows):
            return pd.Series(np.zeros(len(rows), int), index=rows.index)

    package, module = ModuleType("autogluon"), ModuleType("autogluon.tabular")
    module.TabularPredictor = Predictor
    monkeypatch.setitem(sys.modules, "autogluon", package)
    monkeypatch.setitem(sys.modules, "autogluon.tabular", module)
    function = automl.autogluon_pseudo if pseudo else automl.autogluon
    assert given.decoded(function(given)).tolist() == ["no"] * 40
    assert calls[0] == ("new", "target", "binary")
    assert calls[1][2] == 60
    assert_array_equal(calls[1][1].index, given.labeled)
    assert_array_equal(calls[1][1]["target"], given.given == "yes")
    assert len(calls) == 2 + pseudo
    if pseudo:
        assert calls[2][2] == 60
        assert calls[2][1].equals(given.frame.iloc[given.hidden])


def test_knn_imputer_is_the_mean_of_five_neighbors():
    given = work.of_tables("diabetes", 0.2, 0)
    X = StandardScaler().fit_transform(given.frame)
    twin = KNeighborsRegressor(5).fit(X[given.labeled], given.given)
    assert_allclose(imputers.knn(given), twin.predict(X[given.hidden]), rtol=1e-12)


def test_imputers_vote_among_classes():
    table, given = league.load("wine"), work.of_league("wine", 50, 0)
    X = StandardScaler().fit_transform(table.X)
    votes = KNeighborsRegressor(5).fit(X[given.labeled], np.eye(3)[given.given])
    expected = votes.predict(X[given.hidden]).argmax(axis=1)
    assert_array_equal(imputers.knn(given), expected)
    # Filled from each other, indicators would stay at their means: 61 % wrong.
    assert np.mean(imputers.iterative(given) != table.y[given.hidden]) < 0.2


@pytest.mark.filterwarnings("ignore:Found unknown categories")  # notes are all new
def test_strings_become_numbers_for_tools_that_want_them(mixed):
    given, truth = mixed
    assert given.strings == ["color", "note"]
    assert given.texts == ["note"]
    assert np.isfinite(given.numbers).all()
    assert given.numbers.shape[0] == 60
    scaled = given.scaled(by=given.labeled)[given.labeled]
    assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    predicted = given.decoded(supervised.skrub_linear(given))
    assert np.mean(predicted == truth[given.hidden]) > 0.9


def test_a_call_apart_answers_fails_crashes_or_takes_too_long():
    assert apart(math.sqrt, 4.0, limit=60) == (2.0, None)
    answer, why = apart(math.sqrt, -1.0, limit=60)
    assert answer is None
    assert why.startswith("ValueError: ")
    assert apart(os._exit, 3, limit=60) == (None, "the process ended with exit code 3")
    assert apart(time.sleep, 60, limit=0.2) == (None, "no answer after 0 s")


def test_what_is_not_installed_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(players, "installed", lambda name: name == "skrub" or None)
    asked = ["x", "league", "--models", "xrfm", "skrub", "--tables", "wine"]
    monkeypatch.setattr(sys, "argv", [*asked, "--labels", "20", "--splits", "2"])
    queue = command._queue(command._arguments())
    assert queue == [("wine", 20, 0, "skrub"), ("wine", 20, 1, "skrub")]
    assert "xrfm is left out: xrfm is missing." in capsys.readouterr().out
