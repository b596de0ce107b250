"""Choice among unpenalized features by folds in which they are refitted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon._estimators import (
    ConditionalClassifier,
    ConditionalRegressor,
    LaplacianRegressor,
)
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.bases import Nystrom
from halfmoon.kernels import NNGP, Gaussian, Linear
from halfmoon.problem._folds import balanced_folds
from halfmoon.unpenalized import (
    Constant,
    Eigenfunctions,
    Features,
    GaussianDraws,
    Polynomials,
)
from reference import columns, table

E, ALPHA = 0.8, 0.02


def by_hand(make, data, alphas):
    """Squared errors on folds that are taken out of the table altogether."""
    known, total = np.flatnonzero(data.labeled), np.zeros(len(alphas))
    y = columns(data.y)
    for fold in balanced_folds(y[known]):
        out = known[fold]
        used = np.delete(np.arange(len(data.X)), out)
        for i, alpha in enumerate(alphas):
            model = make(alpha).fit(data.X[used], data.y[used], data.w[used])
            off = columns(model.predict(data.X[out])) - y[out]
            total[i] += (data.w[out, None] * off**2).sum()
    return total / (data.w[known].sum() * y.shape[1])


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.filterwarnings("ignore:The unpenalized features are predicted")
def test_fold_errors_are_those_of_fits_without_the_fold(targets):
    data, alphas = table(t=targets), [1e-4, 1e-2, 1.0]
    options = [Constant(), Polynomials(1), Eigenfunctions([2, 4])]
    model = ConditionalRegressor(Gaussian(E), options, alphas)
    model.fit(data.X, data.y, data.w)
    singles = [Constant(), Polynomials(1), Eigenfunctions(2), Eigenfunctions(4)]
    expected = [
        by_hand(lambda a, f=f: ConditionalRegressor(Gaussian(E), f, a), data, alphas)
        for f in singles
    ]
    assert_allclose(model.fold_errors_, expected, rtol=1e-7)
    which = np.argmin(np.min(expected, axis=1))
    # Alpha is tuned to all labels then, by leave-one-out, at the chosen features.
    chosen = ConditionalRegressor(Gaussian(E), singles[which], alphas)
    chosen.fit(data.X, data.y, data.w)
    assert model.alpha_ == chosen.alpha_
    assert_allclose(model.loo_errors_, chosen.loo_errors_, rtol=1e-9)
    assert_allclose(model.predict(data.new), chosen.predict(data.new), rtol=1e-9)
    assert chosen.fold_errors_ is None
    assert model.set_params(unpenalized=None).fit(data.X, data.y).fold_errors_ is None


@pytest.mark.filterwarnings("ignore:There are 201 unpenalized")
def test_closed_form_leave_one_out_must_not_choose_k():
    # The trap: eigenfunctions of the labeled rows depend on the held-out row.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((800, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(800)
    train, test, ks = slice(0, 300), slice(300, None), [30, 100, 200]
    test_errors, left_out = [], []
    for k in ks:
        model = ConditionalRegressor(NNGP("erf"), Eigenfunctions(k), 1e-3)
        model.fit(X[train], y[train])
        test_errors.append(np.mean((model.predict(X[test]) - y[test]) ** 2))
        left_out.append(model.solution_.loo_score)
    model = ConditionalRegressor(NNGP("erf"), Eigenfunctions(ks), 1e-3)
    model.fit(X[train], y[train])
    chosen = model.solution_.posed.unpenalized.k_
    assert chosen == ks[np.argmin(test_errors)] == 200
    assert_allclose(model.fold_errors_[:, 0], test_errors, rtol=0.3)
    assert ks[np.argmin(left_out)] != 200
    assert left_out[2] > 2 * test_errors[2]


def test_several_k_of_draws():
    data = table(l=24)
    model = ConditionalRegressor(
        Gaussian(E), GaussianDraws([0, 2, 6]), ALPHA, random_state=0
    ).fit(data.X, data.y)
    assert model.fold_errors_.shape == (3, 1)
    k = model.solution_.posed.unpenalized.k
    assert k == [0, 2, 6][np.argmin(model.fold_errors_)]


def test_a_line_is_found_among_the_options():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.where(np.arange(60) < 30, 20 * X[:, 0], np.nan)
    y += 0.1 * rng.standard_normal(60)
    options = [Constant(), Features([0]), Features([1])]
    model = ConditionalRegressor(Gaussian(0.2), options, 1e-2).fit(X, y)
    assert model.solution_.posed.unpenalized.transformer == [0]
    assert_allclose(model.coef_[1], 20, atol=0.3)


NETWORK = {
    "hidden_layer_sizes": (6,),
    "activation": "tanh",
    "solver": "lbfgs",
    "max_iter": 200,
    "random_state": 0,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
def test_a_network_is_retrained_in_each_fold(targets, scaled):
    data, alphas = table(n=30, l=24, t=targets, weights=False), [1e-3, 1e-1, 10.0]
    X, y = data.X[data.labeled], data.y[data.labeled]

    def trained(X, y):
        network = MLPRegressor(**NETWORK)
        return (make_pipeline(StandardScaler(), network) if scaled else network).fit(
            X, y
        )

    model = ConditionalRegressor(Gaussian(E), trained(X, y), alphas)
    model.fit(data.X, data.y)

    class Refitted(ConditionalRegressor):
        def fit(self, X, y, w=None):
            known = ~np.isnan(columns(y)).any(axis=1)
            self.unpenalized = trained(X[known], y[known])
            return super().fit(X, y, w)

    expected = by_hand(
        lambda alpha: Refitted(Gaussian(E), None, alpha), data, alphas
    )  # fmt: skip
    assert_allclose(model.fold_errors_, [expected], rtol=1e-5)
    assert model.alpha_ == alphas[np.argmin(expected)]
    assert model.loo_errors_ is None  # never by the closed form


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_network_of_classes(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2))
    names = np.array(["a", "b", "c"], dtype=object)
    answer = names[np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])]
    y = np.where(np.arange(90) < 60, answer, None)
    network = MLPClassifier(**NETWORK).fit(X[:60], answer[:60].astype(str))
    model = ConditionalClassifier(Gaussian(1.0), network, [1e-3, 1e-1]).fit(X, y)
    assert model.fold_errors_.shape == (1, 2)
    assert model.alpha_ in (1e-3, 1e-1)
    assert np.mean(model.predict(X[60:]) == answer[60:]) > 0.8


def test_landmarks_by_number_stay_the_same_rows_in_folds():
    data, chosen = table(), np.arange(20, 30)
    options = Eigenfunctions([1, 2])
    for make in (
        lambda Z: ConditionalRegressor(Gaussian(E), options, ALPHA, landmarks=Z),
        lambda Z: ConditionalRegressor(
            unpenalized=options, alpha=ALPHA, basis=Nystrom(Gaussian(E), landmarks=Z)
        ),
    ):
        by_number = make(chosen).fit(data.X, data.y)
        by_row = make(data.X[chosen]).fit(data.X, data.y)
        assert_allclose(by_number.fold_errors_, by_row.fold_errors_, rtol=1e-9)
        assert_allclose(
            by_number.predict(data.new), by_row.predict(data.new), rtol=1e-9
        )


def test_a_graph_over_the_rows_has_no_folds():
    data = table()
    graph = graph_laplacian(neighbor_graph(data.X, 6))
    options = Eigenfunctions([1, 2])
    with pytest.raises(ValueError, match="use energy='graph'"):
        LaplacianRegressor(energy=graph, unpenalized=options).fit(data.X, data.y)
    model = LaplacianRegressor(
        Gaussian(E), [ALPHA], energy="graph", unpenalized=options
    ).fit(data.X, data.y)
    assert model.fold_errors_.shape == (2, 1)


def test_one_label_has_no_folds():
    data = table(l=1)
    with pytest.raises(ValueError, match="folds need at least two"):
        ConditionalRegressor(Linear(), Eigenfunctions([1, 2])).fit(data.X, data.y)
