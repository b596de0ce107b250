"""Candidates against refits, the conditional estimator and Gaussian processes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp

from halfmoon.candidates import (
    ALPHAS,
    Candidate,
    KernelPart,
    Labeled,
    Logarithm,
    NullSpace,
    OwnFeatures,
)
from halfmoon.candidates.preparation import Preparation
from halfmoon.estimators import ConditionalRegressor
from halfmoon.kernels import Gaussian, Linear
from halfmoon.unpenalized import Constant, Polynomials

AS_THEY_ARE = Preparation("as they are", None)


@pytest.fixture
def candidates(parts, data, prepare, constant):
    columns = Polynomials(1).fit(prepare(data.X))
    linear = NullSpace("columns", lambda X: columns.transform(prepare(X)))
    none = OwnFeatures(None)
    mixes = {
        "plain + linear": ((parts["linear"], 0.5), (parts["laplace"], 0.5)),
        "walk": ((parts["walk"], 1.0),),
        "walk + gaussian": ((parts["walk"], 1.0), (parts["gaussian"], 0.2)),
        "energy": ((parts["energy"], 1.0),),
    }
    made = {name: Candidate(name, mix, constant, data) for name, mix in mixes.items()}
    gaussian = ((parts["gaussian"], 1.0),)
    made["columns unpenalized"] = Candidate("columns", gaussian, linear, data)
    made["nothing unpenalized"] = Candidate("none", gaussian, none, data)
    return made


NAMES = [
    "plain + linear",
    "walk",
    "walk + gaussian",
    "energy",
    "columns unpenalized",
    "nothing unpenalized",
]


def dense(candidate, X, alpha, kept=None):
    """Values by one linear system in c and beta; lam is W alpha of all labels."""
    data = candidate.data
    kept = np.arange(len(data.y)) if kept is None else kept
    lam = data.w.sum() * alpha
    identity = np.eye(len(data.y))
    K = sum(a * part.gram for part, a in candidate.mix)[np.ix_(kept, kept)]
    F = candidate.null_space.features(data.X_l[kept])
    k = F.shape[1]
    M = np.block([[K + lam * np.diag(1 / data.w[kept]), F], [F.T, np.zeros((k, k))]])
    c, beta = np.split(
        np.linalg.solve(M, np.vstack([data.y[kept], np.zeros((k, data.y.shape[1]))])),
        [len(kept)],
    )
    k_x = sum(a * part.function(identity)(X) for part, a in candidate.mix)[:, kept]
    return k_x @ c + candidate.null_space.features(X) @ beta


def values(candidate, alpha, X):
    C = candidate.dual_coef(alpha)
    total = candidate.null_space.features(X) @ candidate.coef(alpha)
    return total + sum(a * part.function(C)(X) for part, a in candidate.mix)


@pytest.mark.parametrize("name", NAMES)
def test_the_fit_is_the_dense_system(candidates, name, new):
    candidate = candidates[name]
    for alpha in ALPHAS[1:]:
        expected = dense(candidate, new, alpha)
        assert_allclose(values(candidate, alpha, new), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_left_out_values_are_those_of_refits_without_the_label(candidates, name):
    candidate = candidates[name]
    left_out = candidate.left_out()
    assert left_out.shape == (len(ALPHAS), 18, 2)
    for i in (0, 7, 17):
        kept, row = np.delete(np.arange(18), i), candidate.data.X_l[[i]]
        for at_rows, alpha in zip(left_out[2:], ALPHAS[2:], strict=True):
            expected = dense(candidate, row, alpha, kept)
            assert_allclose(at_rows[[i]], expected, rtol=1e-6, atol=1e-7)


def test_what_is_not_known_without_its_label_gets_the_mean_of_the_others(data, parts):
    # A column that only row 4 has: without its label, nothing is known of its slope.
    only = data.X_l[4]
    own = NullSpace(
        "own", lambda X: np.column_stack([np.ones(len(X)), (only == X).all(axis=1)])
    )
    candidate = Candidate("own", ((parts["gaussian"], 1.0),), own, data)
    rest = np.delete(np.arange(18), 4)
    expected = np.average(data.y[rest], axis=0, weights=data.w[rest])
    assert_allclose(candidate.left_out()[:, 4], np.tile(expected, (len(ALPHAS), 1)))
    assert np.isfinite(candidate.left_out()).all()


def test_one_label_leaves_out_to_zero_and_knows_no_scale(rng, constant):
    X = rng.normal(size=(5, 2))
    data = Labeled.of(X, np.array([3.0, *[np.nan] * 4]), np.ones(5))
    part = KernelPart("gaussian", AS_THEY_ARE, Gaussian(1.0), data.X_l)
    candidate = Candidate("gaussian", ((part, 1.0),), constant, data)
    assert_allclose(candidate.left_out(), np.zeros((len(ALPHAS), 1, 1)))
    assert_allclose(values(candidate, 0.1, X), np.full((5, 1), 3.0))
    assert np.isinf(candidate.variance(0.1)(X[1:])).all()


@pytest.mark.parametrize("unpenalized", [None, "constant", "linear"])
def test_predictions_are_those_of_conditional_ridge(data, new, unpenalized):
    kernel = Gaussian(1.2) + 0.5 * Linear()
    features = {
        None: None,
        "constant": Constant().fit(data.X),
        "linear": Polynomials(1).fit(data.X),
    }[unpenalized]
    part = KernelPart("sum", AS_THEY_ARE, kernel, data.X_l)
    candidate = Candidate("sum", ((part, 1.0),), OwnFeatures(features), data)
    alpha = 0.01
    actual, deviation = values(candidate, alpha, new), candidate.variance(alpha)(new)
    model = ConditionalRegressor(kernel, unpenalized, alpha / part.scale)
    model.fit(data.X, data.on_table, data.weight_on_table)
    expected, std = model.predict(new, return_std=True)
    assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)
    assert_allclose(np.sqrt(deviation), std, rtol=1e-6)
    residuals = data.y - candidate.left_out()[ALPHAS.index(alpha)]
    assert_allclose(residuals, model.leave_one_out(), rtol=1e-7, atol=1e-9)


def test_the_variance_is_that_of_a_gaussian_process(data, new):
    data = Labeled(data.X, data.chosen, data.y[:, :1], np.ones(18))
    part = KernelPart("gaussian", AS_THEY_ARE, Gaussian(1.2), data.X_l)
    candidate = Candidate("gaussian", ((part, 1.0),), OwnFeatures(None), data)
    alpha = 10**-1.5
    lam = 18 * alpha
    process = GaussianProcessRegressor(gp.RBF(1.2), alpha=lam, optimizer=None)
    mean, std = process.fit(data.X_l, data.y[:, 0]).predict(new, return_std=True)
    # Its prior has variance 1; ours is y'(K + lam I)^-1 y / l.
    K = gp.RBF(1.2)(data.X_l)
    y = data.y[:, 0]
    tau = y @ np.linalg.solve(K + lam * np.eye(18), y) / 18
    assert_allclose(values(candidate, alpha, new)[:, 0], mean, rtol=1e-9)
    expected = tau * std**2
    assert_allclose(candidate.variance(alpha)(new)[:, 0], expected, rtol=1e-9)


def test_the_variance_is_universal_kriging_with_weights(candidates, new):
    candidate, alpha = candidates["columns unpenalized"], 0.1
    data, lam = candidate.data, candidate.data.w.sum() * 0.1
    K, F = candidate.mix[0][0].gram, candidate.null_space.features(data.X_l)
    k_x = candidate.mix[0][0].function(np.eye(18))(new)
    f_x = candidate.null_space.features(new)
    A = K + lam * np.diag(1 / data.w)
    M = np.block([[A, F], [F.T, np.zeros((4, 4))]])
    right = np.hstack([k_x, f_x])
    taken = np.einsum("ij,ij->i", right, np.linalg.solve(M, right.T).T)
    P = np.linalg.inv(M)[:18, :18]
    tau = np.einsum("it,ij,jt->t", data.y, P, data.y) / (18 - 4)
    expected = np.outer(1.0 - taken, tau)
    assert_allclose(candidate.variance(alpha)(new), expected, rtol=1e-7)


def test_folds_take_the_place_of_left_out_values(candidates, rng):
    candidate = candidates["walk"]
    by_folds = rng.normal(size=(len(ALPHAS), 18, 2))
    judged = Candidate("folds", candidate.mix, candidate.null_space, candidate.data)
    judged.by_folds = by_folds
    assert judged.left_out() is by_folds


def test_only_what_does_not_know_the_targets_changes_their_scale(candidates, data):
    plain, walk = candidates["plain + linear"], candidates["walk + gaussian"]
    assert plain.on_any_scale
    assert not walk.on_any_scale
    assert walk.unlabeled
    assert not plain.unlabeled
    logs = Labeled(data.X, data.chosen, data.y, data.w, Logarithm(0.0, 0.0, 1.0))
    moved = plain.with_data(logs)
    assert plain.with_data(data) is plain
    assert moved.label == "plain + linear, log of y"
    assert plain.label == "plain + linear"


def test_the_same_candidate_for_all_labels_shares_parts(candidates, data, new):
    some = np.array([0, 2, 3, 5, 8, 9, 12, 15])
    few = Labeled(data.X, data.chosen[some], data.y[some], data.w[some])
    shared = {}
    for name in ("plain + linear", "walk + gaussian", "columns unpenalized"):
        own = Candidate(
            name,
            tuple((part.on(few), a) for part, a in candidates[name].mix),
            candidates[name].null_space,
            few,
        )
        again = own.on(data, shared)
        expected = values(candidates[name], 0.1, new)
        assert_allclose(values(again, 0.1, new), expected, rtol=1e-8, atol=1e-10)
        assert again.on(data, shared).mix[0][0] is not again.mix[0][0]
        assert own.on(data, shared).mix[0][0] is again.mix[0][0]
