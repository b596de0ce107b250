"""Candidates at every alpha against the engine, refits and Gaussian processes."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp

from halfmoon._estimators import ConditionalRegressor
from halfmoon._selection.candidate import ALPHAS, Candidate, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion, squared_losses
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Linear
from halfmoon.problem import Problem, solve_ridge
from halfmoon.unpenalized import (
    Constant,
    Features,
    Polynomials,
)
from halfmoon.unpenalized._base import PreparedFeatures
from selection.search_tables import bench_of, with_targets

NAMES = [
    "plain + linear",
    "walk",
    "walk + gaussian",
    "averaged",
    "energy",
    "columns unpenalized",
    "nothing unpenalized",
    "constant",
]


@pytest.fixture
def mixed(kernels, constant, prepare, X):
    """Candidates with sums of kernels, and with other features."""
    columns = PreparedFeatures(prepare, Polynomials(1)).fit(X)
    both = kernels["linear"] * 0.5 + kernels["laplace"] * 0.5
    sums = {
        "plain + linear": (both, constant),
        "walk": (kernels["walk"], constant),
        "walk + gaussian": (kernels["walk"] + kernels["gaussian"] * 0.2, constant),
        "averaged": (kernels["averaged"], constant),
        "energy": (kernels["energy"], constant),
        "columns unpenalized": (kernels["gaussian"], columns),
        "nothing unpenalized": (kernels["gaussian"], None),
        "constant": (kernels["linear"] * 0.0, constant),
    }
    return {name: Candidate(name, "some", *each) for name, each in sums.items()}


def dense(candidate, data, X, alpha, kept=None):
    """Values by one linear system in c and beta; lam is W alpha of all labels."""
    kept = np.arange(len(data.y)) if kept is None else kept
    lam, rows = data.w.sum() * alpha, data.X[kept]
    features = candidate.unpenalized
    F, F_x = (
        np.zeros((len(each), 0)) if features is None else features.transform(each)
        for each in (rows, X)
    )
    k, t = F.shape[1], data.y.shape[1]
    A = candidate.kernel(rows) + lam * np.diag(1 / data.w[kept])
    M = np.block([[A, F], [F.T, np.zeros((k, k))]])
    right = np.vstack([data.y[kept], np.zeros((k, t))])
    c, beta = np.split(np.linalg.solve(M, right), [len(kept)])
    return candidate.kernel(X, rows) @ c + F_x @ beta


def values(entry, data, X):
    """Of one entry, on the scale of its targets."""
    candidate, F = entry.candidate, np.zeros((len(X), 0))
    if candidate.unpenalized is not None:
        F = candidate.unpenalized.transform(X)
    return candidate.kernel(X, data.X) @ entry.theta + F @ entry.beta


@pytest.mark.parametrize("name", NAMES)
def test_the_fit_is_the_dense_system(mixed, shared, name, new):
    entries = fit_at_all_alphas(mixed[name], shared, NumberCriterion())
    assert [entry.alpha for entry in entries] == list(ALPHAS)
    for entry in entries[1:]:
        expected = dense(mixed[name], shared.data, new, entry.alpha)
        actual = values(entry, shared.data, new)
        assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_held_out_values_are_those_of_refits_without_the_label(mixed, shared, name):
    entries, data = (
        fit_at_all_alphas(mixed[name], shared, NumberCriterion()),
        shared.data,
    )
    for i in (0, 7, 17):
        kept, row = np.delete(np.arange(18), i), data.X[[i]]
        for entry in entries[2:]:
            expected = dense(mixed[name], data, row, entry.alpha, kept)
            assert_allclose(entry.held_out[[i]], expected, rtol=1e-6, atol=1e-7)
            loss = ((expected - data.y[i]) ** 2).mean()
            assert_allclose(entry.losses[i], loss, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_fits_of_the_problem(mixed, shared, name, new):
    candidate, data = mixed[name], shared.data
    problem = Problem(Exact(candidate.kernel), unpenalized=candidate.unpenalized)
    for entry in fit_at_all_alphas(candidate, shared, NumberCriterion())[2:]:
        fit = problem.fit(data.X, data.y, alpha=entry.alpha, sample_weight=data.w)
        assert_allclose(entry.theta, fit.theta, rtol=1e-5, atol=1e-7)
        # The columns are centered anew there, which the constant makes up for.
        expected = fit.predict(new)
        assert_allclose(values(entry, data, new), expected, rtol=1e-6, atol=1e-8)
        residuals = data.y - entry.held_out
        assert_allclose(residuals, fit.leave_one_out(), rtol=1e-6, atol=1e-8)
        own = solve_ridge(candidate.pose(data), entry.alpha)
        assert_allclose(own.theta, entry.theta, rtol=1e-5, atol=1e-7)
        assert_allclose(own.beta, entry.beta, rtol=1e-6, atol=1e-8)


def test_the_constant_answers_the_mean_of_the_labels(mixed, shared, new):
    data = shared.data
    mean = np.average(data.y, axis=0, weights=data.w)
    for entry in fit_at_all_alphas(mixed["constant"], shared, NumberCriterion()):
        assert_allclose(values(entry, data, new), np.tile(mean, (7, 1)), rtol=1e-10)
        rest = np.delete(np.arange(18), 5)
        others = np.average(data.y[rest], axis=0, weights=data.w[rest])
        assert_allclose(entry.held_out[5], others, rtol=1e-10)


def test_whole_weights_are_copies_of_rows(mixed, shared, new):
    data, w = shared.data, np.tile([1.0, 2.0, 3.0], 6)
    weighted = replace(shared, data=replace(data, w=w))
    times = np.repeat(np.arange(18), w.astype(int))
    copies = replace(data, X=data.X[times], y=data.y[times], w=np.ones(36))
    candidate = mixed["plain + linear"]
    for entry in fit_at_all_alphas(candidate, weighted, NumberCriterion())[2:]:
        expected = dense(candidate, copies, new, entry.alpha)
        assert_allclose(values(entry, data, new), expected, rtol=1e-6, atol=1e-7)


def test_what_is_not_known_without_its_label_gets_the_mean_of_the_others(
    kernels, shared
):
    # A column that only row 4 has: without its label, nothing is known of its slope.
    only, data = shared.data.X[4], shared.data
    own = Features(lambda X: (only == X).all(axis=1, keepdims=True).astype(float))
    candidate = Candidate("own", "some", kernels["gaussian"], own.fit(data.X))
    rest = np.delete(np.arange(18), 4)
    expected = np.average(data.y[rest], axis=0, weights=data.w[rest])
    for entry in fit_at_all_alphas(candidate, shared, NumberCriterion()):
        assert_allclose(entry.held_out[4], expected)
        assert np.isfinite(entry.held_out).all()


def test_one_label_is_held_out_to_zero_and_knows_no_scale(rng):
    X = rng.normal(size=(5, 2))
    shared = bench_of(X, [3.0])
    candidate = Candidate("one", "some", Gaussian(1.0), Constant().fit(X))
    for entry in fit_at_all_alphas(candidate, shared, NumberCriterion()):
        assert_allclose(entry.held_out, [[0.0]])
    entry = fit_at_all_alphas(candidate, shared, NumberCriterion())[6]
    assert_allclose(values(entry, shared.data, X), np.full((5, 1), 3.0))
    fit = solve_ridge(candidate.pose(shared.data), entry.alpha)
    assert np.isinf(fit.std(X[1:])).all()


@pytest.mark.parametrize("unpenalized", [None, "constant", "linear"])
def test_predictions_are_those_of_conditional_ridge(shared, new, unpenalized):
    kernel, data = Gaussian(1.2) + 0.5 * Linear(), shared.data
    features = {
        None: None,
        "constant": Constant().fit(data.X),
        "linear": Polynomials(1).fit(data.X),
    }[unpenalized]
    candidate = Candidate("sum", "some", kernel, features)
    entry = fit_at_all_alphas(candidate, shared, NumberCriterion())[ALPHAS.index(0.01)]
    model = ConditionalRegressor(kernel, unpenalized, 0.01)
    model.fit(data.X, data.y, data.w)
    expected, std = model.predict(new, return_std=True)
    assert_allclose(values(entry, data, new), expected, rtol=1e-7, atol=1e-9)
    fit = solve_ridge(candidate.pose(data), 0.01)
    assert_allclose(fit.std(new), std, rtol=1e-6)
    residuals = data.y - entry.held_out
    assert_allclose(residuals, model.leave_one_out(), rtol=1e-7, atol=1e-9)


def test_the_posterior_is_that_of_a_gaussian_process(shared, new):
    y = shared.data.y[:, :1]
    data = replace(shared.data, y=y, w=np.ones(18))
    candidate = Candidate("gaussian", "some", Gaussian(1.2), None)
    alpha = ALPHAS[5]
    (entry,) = [
        each
        for each in fit_at_all_alphas(
            candidate, replace(shared, data=data), NumberCriterion()
        )
        if each.alpha == alpha and not each.target.suffix
    ]
    lam = 18 * alpha
    process = GaussianProcessRegressor(gp.RBF(1.2), alpha=lam, optimizer=None)
    mean, std = process.fit(data.X, y[:, 0]).predict(new, return_std=True)
    assert_allclose(values(entry, data, new)[:, 0], mean, rtol=1e-9)
    # Its prior has variance 1; ours is y'(K + lam I)^-1 y / l.
    K = gp.RBF(1.2)(data.X)
    tau = y[:, 0] @ np.linalg.solve(K + lam * np.eye(18), y[:, 0]) / 18
    fit = solve_ridge(candidate.pose(data), alpha)
    assert_allclose(fit.std(new)[:, 0] ** 2, tau * std**2, rtol=1e-9)


def test_the_variance_is_universal_kriging_with_weights(mixed, shared, new):
    candidate, data = mixed["columns unpenalized"], shared.data
    lam = data.w.sum() * 0.1
    F, f_x = (candidate.unpenalized.transform(each) for each in (data.X, new))
    A = candidate.kernel(data.X) + lam * np.diag(1 / data.w)
    M = np.block([[A, F], [F.T, np.zeros((4, 4))]])
    right = np.hstack([candidate.kernel(new, data.X), f_x])
    taken = np.einsum("ij,ij->i", right, np.linalg.solve(M, right.T).T)
    P = np.linalg.inv(M)[:18, :18]
    tau = np.einsum("it,ij,jt->t", data.y, P, data.y) / (18 - 4)
    fit = solve_ridge(candidate.pose(data), 0.1)
    assert_allclose(fit.std(new) ** 2, np.outer(1.0 - taken, tau), rtol=1e-7)


def test_logarithms_and_targets_as_given_are_fitted_together(mixed, shared, new):
    y = np.exp(shared.data.y[:, :1])
    positive = with_targets(shared, y)
    candidate = mixed["walk + gaussian"]
    entries = fit_at_all_alphas(candidate, positive, NumberCriterion())
    a = len(ALPHAS)
    plain, logs = entries[:a], entries[a:]
    assert [e.alpha for e in entries] == 2 * list(ALPHAS)
    assert {e.name for e in plain} == {"walk + gaussian"}
    assert {e.name for e in logs} == {"walk + gaussian, log of y"}
    shift = logs[0].target.shift
    on_logs = replace(positive.data, y=np.log(y + shift))
    for one, other in zip(plain[2:], logs[2:], strict=True):
        assert_array_equal(other.y, on_logs.y)
        for entry, data in ((one, positive.data), (other, on_logs)):
            expected = dense(candidate, data, new, entry.alpha)
            assert_allclose(values(entry, data, new), expected, rtol=1e-6, atol=1e-7)
            kept = np.delete(np.arange(18), 3)
            expected = dense(candidate, data, data.X[[3]], entry.alpha, kept)
            assert_allclose(entry.held_out[[3]], expected, rtol=1e-6, atol=1e-7)
            # Losses are on the scale of the user.
            losses = squared_losses(entry.values[None], y)[0]
            assert_allclose(entry.losses, losses, rtol=1e-12)
        smearing = np.exp(other.y - other.held_out).mean()
        inverse = np.exp(other.held_out) * min(smearing, 2.0) - shift
        assert_allclose(other.values, inverse, rtol=1e-9)
        assert_array_equal(one.values, one.held_out)


def test_folds_take_the_place_of_leave_one_out(mixed, shared, rng):
    by_folds = rng.normal(size=(len(ALPHAS), 18, 2))
    judged = replace(mixed["walk"], by_folds=by_folds)
    plain = fit_at_all_alphas(mixed["walk"], shared, NumberCriterion())
    for i, entry in enumerate(fit_at_all_alphas(judged, shared, NumberCriterion())):
        assert_array_equal(entry.held_out, by_folds[i])
        losses = ((by_folds[i] - shared.data.y) ** 2).mean(axis=1)
        assert_allclose(entry.losses, losses)
        assert_array_equal(entry.theta, plain[i].theta)


def test_answers_at_all_points_are_charged(mixed, shared):
    class Looking(NumberCriterion):
        needs_predictions = True

        def priors(self, answers):
            self.answers = answers
            return np.arange(2.0 * len(answers)).reshape(-1, 2)

    criterion = Looking()
    for name in ("walk", "columns unpenalized", "nothing unpenalized"):
        entries = fit_at_all_alphas(mixed[name], shared, criterion)
        assert criterion.answers.shape == (len(ALPHAS), 31, 2)
        priors = np.array([e.prior for e in entries]).ravel()
        assert_array_equal(priors, np.arange(2.0 * len(ALPHAS)))
        for entry, answers in zip(entries, criterion.answers, strict=True):
            expected = values(entry, shared.data, shared.points)
            assert_allclose(answers, expected, rtol=1e-8, atol=1e-9)


def test_coefficients_are_not_kept_where_candidates_are_refitted(shared, mixed):
    candidate = mixed["columns unpenalized"]
    kept = fit_at_all_alphas(candidate, shared, NumberCriterion())
    shared.to_be_refitted = True
    for entry, before in zip(
        fit_at_all_alphas(candidate, shared, NumberCriterion()), kept, strict=True
    ):
        assert before.theta.shape == before.y.shape
        assert entry.theta.base.nbytes == entry.beta.base.nbytes == 0
        assert_array_equal(entry.held_out, before.held_out)
        assert_array_equal(entry.losses, before.losses)
