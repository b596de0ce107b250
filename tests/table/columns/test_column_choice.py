import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import RBF
from tests.small_tables import tickets

from halfmoon.table._columns import column_choice
from halfmoon.table._columns.column_choice import (
    SURE,
    ColumnChoice,
    chosen_columns,
    standard_errors_less,
)
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.run_notes import choice_notes

# Large, so that the result does not depend on the speed of the machine.
PATIENT = {"budget": 600.0}
NOISE = ("created", "customer e-mail", "priority")


def columns_of(rows):
    header, *body = rows
    table = pa.table({name: [row[j] for row in body] for j, name in enumerate(header)})
    labels = [label or None for label in table.column("kind").to_pylist()]
    return table.drop_columns(["kind"]), labels


@pytest.fixture(scope="module")
def fitted():
    rows, truth = tickets(seed=3)
    table, labels = columns_of(rows)
    return (
        table,
        labels,
        truth,
        TableModel("kind", "classes", **PATIENT).fit(table, labels),
    )


def accuracy(model, table, labels, truth):
    blank = np.array([label is None for label in labels])
    predicted = np.array(model.predict(table).values)
    return (predicted == truth)[blank].mean()


def test_irrelevant_columns_of_tickets_are_left_out(fitted):
    table, labels, truth, model = fitted
    reached = accuracy(model, table, labels, truth)
    assert reached >= 0.99
    everything = TableModel("kind", "classes", keep=table.column_names, **PATIENT)
    everything.fit(table, labels)
    assert accuracy(everything, table, labels, truth) < reached
    assert model.choice_.before == everything.estimator_.loo_score_
    assert model.choice_.left_out == NOISE
    roles = {use.name: use.role for use in model.columns_.uses}
    features = dict.fromkeys(("subject", "minutes"), "feature")
    assert roles == features | dict.fromkeys(NOISE, "left out")
    (note,) = choice_notes(model)
    assert note.text == (
        "'created', 'customer e-mail', 'priority' were left out: "
        f"{model.choice_.gain('classes')}. Columns that you name as features are never "
        f"left out like this."
    )


def test_the_model_is_that_of_the_remaining_columns(fitted):
    table, labels, _, model = fitted
    alone = TableModel("kind", "classes", **PATIENT).fit(
        table.select(["subject", "minutes"]), labels
    )
    assert_allclose(model.transform(table), alone.transform(table), atol=1e-6)
    assert model.encoder_.names == alone.encoder_.names
    assert model.choice_.after == alone.estimator_.loo_score_
    assert model.predict(table).values == alone.predict(table).values


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_other_draws_of_tickets(seed):
    rows, truth = tickets(seed=seed)
    table, labels = columns_of(rows)
    model = TableModel("kind", "classes", **PATIENT).fit(table, labels)
    assert accuracy(model, table, labels, truth) >= 0.95
    assert "customer e-mail" in model.choice_.left_out


@pytest.mark.slow
def test_named_and_known_columns_stay(fitted):
    table, labels, _, _ = fitted
    model = TableModel(
        "kind", "classes", known=["minutes"], keep=["priority"], **PATIENT
    )
    model.fit(table, labels)
    assert {"priority", "minutes"} <= {use.name for use in model.columns_.used}
    model = TableModel("kind", "classes", keep=table.column_names, budget=1)
    assert model.fit(table, labels).choice_ is None


def problem(seed=0, l=60):
    """y = sin of the first of three columns; the others are noise, one of them wide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 8))
    y = [float(v) if i < l else None for i, v in enumerate(np.sin(2 * X[:, 0]))]
    groups = {"x": np.array([0]), "a": np.array([1]), "b": np.arange(2, 8)}
    return X, y, groups


def test_noise_is_left_out_and_the_signal_stays():
    X, y, groups = problem()
    found = chosen_columns(X, y, "numbers", groups, (), 100.0)
    assert found.errors > SURE
    assert (found.stay, found.go) == (("x",), ("a", "b"))
    found = chosen_columns(X, y, "numbers", groups, ("a",), 100.0)
    assert (found.stay, found.go) == (("x", "a"), ("b",))
    assert chosen_columns(X, y, "numbers", groups, ("x", "a", "b"), 10.0) is None
    assert chosen_columns(X, y, "numbers", groups, (), 0.0) is None  # out of time


@pytest.mark.parametrize("labels", [5, 11])
def test_too_few_labels_leave_all_columns(labels):
    X, y, groups = problem(l=labels)
    assert chosen_columns(X, y, "numbers", groups, (), 100.0) is None


@pytest.mark.slow
def test_nothing_is_left_out_of_pure_noise():
    rng = np.random.default_rng(0)
    chosen = 0
    for _ in range(6):
        X = rng.normal(size=(60, 6))
        y = [*rng.choice(["a", "b"], 40).tolist(), *[None] * 20]
        groups = {str(j): np.array([j]) for j in range(6)}
        found = chosen_columns(X, y, "classes", groups, (), 100.0)
        chosen += found is not None and found.errors > SURE
    assert chosen <= 1


def test_labels_may_be_close_to_each_other_in_a_wide_column():
    """Small distances between labeled rows must not be cut off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 2))
    X[100:, 0] = np.arange(1_900) * 30.0
    y = [*np.sign(X[:100, 1]).tolist(), *[None] * 1_900]
    groups = {str(j): np.array([j]) for j in range(2)}
    found = chosen_columns(X, y, "numbers", groups, (), 100.0)
    assert found is not None
    assert found.go == ("0",)


def test_relevant_columns_are_not_left_out():
    data = load_iris()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = [None] * 150
        for i in rng.permutation(150)[:30]:
            y[i] = data.target_names[data.target[i]]
        groups = {str(j): np.array([j]) for j in range(4)}
        found = chosen_columns(data.data, y, "classes", groups, (), 100.0)
        assert found is None or found.errors <= SURE or {"2", "3"} <= set(found.stay)


def test_losses_in_folds_are_those_of_kernel_ridge(monkeypatch):
    monkeypatch.setattr(column_choice, "WIDTHS", (1.0,))
    monkeypatch.setattr(column_choice, "ALPHAS", (0.1,))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    groups = {"a": np.array([0]), "b": np.array([1])}
    every = np.arange(20)
    distances = {k: column_choice._distances(X[:, g], every) for k, g in groups.items()}
    choice = column_choice._Choice(y[:, None], distances, frozenset(groups), np.inf)
    _, losses = choice._losses_in_folds(0)
    Z = column_choice.Standardized().fit_transform(X)
    for fold in column_choice.balanced_folds(y[:, None]):
        rest = np.delete(np.arange(20), fold)
        D = ((Z[rest][:, None] - Z[rest]) ** 2).sum(axis=2)
        kernel = RBF(np.sqrt(np.median(D[np.triu_indices(len(rest), 1)])))
        K, l = kernel(Z[rest]), len(rest)
        A = np.block([[K + 0.1 * l * np.eye(l), np.ones((l, 1))], [np.ones(l), 0.0]])
        *c, b = np.linalg.solve(A, np.append(y[rest], 0.0))
        g = kernel(Z[fold], Z[rest]) @ c + b
        assert_allclose(losses[fold], (y[fold] - g) ** 2)


def test_standard_errors():
    others, losses = np.array([3.0, 1.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0, 1.0])
    gain = others - losses
    z = gain.mean() / (gain.std(ddof=1) / 2)
    assert_allclose(standard_errors_less(losses, others), z)
    assert standard_errors_less(others, others) == 0.0
    assert standard_errors_less(others - 1, others) == np.inf
    assert standard_errors_less(others, others - 1) == -np.inf


@pytest.mark.slow
def test_columns_that_may_hurt_come_with_a_command(fitted, monkeypatch):
    table, labels, _, _ = fitted
    monkeypatch.setattr(column_choice, "SURE", 1e9)
    model = TableModel("kind", "classes", **PATIENT).fit(table, labels)
    assert model.choice_ is None
    assert model.doubtful_ == NOISE
    (note,) = choice_notes(model)
    assert note.text == (
        "Predictions may be better without 'created', 'customer e-mail', 'priority': "
        "in cross-validation the error is lower, but this could be chance."
    )
    assert note.command == f"exclude={list(NOISE)}"
    model.estimator_.loo_score_ = 1.0
    assert not list(choice_notes(model))


def test_the_gain_in_words():
    one, two = ("day",), ("day", "name")
    said = ColumnChoice(one, 0.71, 0.95).gain("classes").replace("\u00a0", " ")
    assert said == "without it, leave-one-out accuracy rose from 71 % to 95 %"
    said = ColumnChoice(two, 2.5, 2.0).gain("numbers")
    assert said == "without them, the mean leave-one-out error fell from 2.5 to 2"
    said = ColumnChoice((*two, "id"), 2.5, 2.0).gain("numbers", each=True)
    assert said.startswith("without it and 2 other columns, the mean")
    for kind, before, after in (("classes", 0.9, 0.9), ("numbers", 1.0, 1.1)):
        said = ColumnChoice(two, before, after).gain(kind)
        assert said == "without them, the error in cross-validation is clearly lower"


def test_equal_rows_are_at_distance_zero(rng):
    # The median distance is a width, so rounding must not make these distances count.
    grades = rng.integers(1, 6, 60).astype(float)
    X = np.column_stack([grades, grades / 3]) * 1.1
    D = column_choice._distances(X, np.arange(60))
    Z = column_choice.Standardized().fit(X).transform(X)
    assert_allclose(D, ((Z[:, None] - Z) ** 2).sum(axis=2), rtol=1e-9)
    np.testing.assert_array_equal(D == 0, grades[:, None] == grades)
