"""Fits in overlapping regions, compared with fits of the whole table and by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._model_files import load, save
from halfmoon.bases import Exact, Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Linear, ProductLaplace, ThinPlate
from halfmoon.problem import Problem, solve_locally, solve_ridge
from halfmoon.problem._local_fits import LocalFit
from halfmoon.problem._regions import Regions
from halfmoon.unpenalized import Constant, Polynomials
from reference import UNPENALIZED, columns, gaussian, minimizer, table, twin

ALPHA = 0.02


def posed_on(data, unpenalized="constant", kernel=None, stream=None):
    problem = Problem(
        Exact(kernel or Gaussian(0.8)), unpenalized=UNPENALIZED[unpenalized]
    )
    return problem.pose(data.X, data.y, sample_weight=data.w, stream=stream)


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
def test_one_region_is_the_fit_of_the_whole_table(unpenalized, t, weights):
    data = table(t=t, weights=weights)
    posed = posed_on(data, unpenalized)
    fit, whole = solve_locally(posed, ALPHA, size=18, rng=0), solve_ridge(posed, ALPHA)
    assert len(fit.partition.regions) == 1
    same = {"rtol": 1e-10, "atol": 1e-12}
    assert_allclose(fit.predict(data.new), whole.predict(data.new), **same)
    assert_allclose(fit.std(data.new), whole.std(data.new), **same)
    noisy = fit.std(data.new, noise=0.4), whole.std(data.new, noise=0.4)
    assert_allclose(*noisy, **same)
    assert_allclose(fit.std(data.X), whole.std(data.X), **same)
    matrices = fit.smoother_matrix(data.new), whole.smoother_matrix(data.new)
    assert_allclose(*matrices, **same)
    assert_allclose(fit.leave_one_out(), whole.leave_one_out(), **same)
    assert_allclose(fit.leave_one_out([3, 1]), whole.leave_one_out([3, 1]), **same)
    assert_allclose(fit.betas, whole.beta[None], **same)
    assert fit.loo_score == pytest.approx(whole.loo_score, rel=1e-10)
    assert fit.predict(data.new).shape == ((11,) if t == 1 else (11, t))


@pytest.mark.parametrize(
    ("kernel", "unpenalized"),
    [(ThinPlate(), "linear"), (ProductLaplace(2.0) + 0.3 * Linear(), "constant")],
)
def test_one_region_with_other_kernels(kernel, unpenalized):
    # That of the thin plate is only conditionally positive definite.
    data = table(t=2)
    posed = posed_on(data, unpenalized, kernel)
    fit, whole = solve_locally(posed, ALPHA, size=18, rng=0), solve_ridge(posed, ALPHA)
    assert_allclose(fit.predict(data.new), whole.predict(data.new), rtol=1e-9)
    assert_allclose(fit.std(data.new), whole.std(data.new), rtol=1e-8)
    assert_allclose(fit.leave_one_out(), whole.leave_one_out(), rtol=1e-8)


@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-15])
def test_deviations_at_labeled_rows_with_next_to_no_penalty(alpha):
    posed = posed_on(table(), "linear", ProductLaplace(2.0))
    fit, whole = solve_locally(posed, alpha, size=18, rng=0), solve_ridge(posed, alpha)
    # Rounding of k(x, x) = 1 is 2e-16 l / lam of a variance that is about lam.
    assert_allclose(fit.std(posed.X_l), whole.std(posed.X_l), rtol=1e-6)


def by_hand(data, unpenalized, rows, alpha=ALPHA):
    """The fit to some of the labeled rows, at the lam of the whole table."""
    dense = twin("exact", "none", unpenalized, data)
    labeled = np.flatnonzero(data.labeled)
    X, w = data.X[labeled[rows]], data.w[labeled[rows]]
    alpha = alpha * data.w[labeled].sum() / w.sum()
    K, F, y = gaussian(X, X), dense.f(X), columns(data.y)[labeled[rows]]
    c, beta = minimizer(K, F, K, y, w, alpha)
    return lambda x: gaussian(x, X) @ c + dense.f(x) @ beta


@pytest.mark.parametrize("block_rows", [None, 1, 3, 11])
@pytest.mark.parametrize("unpenalized", ["no features", "constant", "linear"])
def test_each_region_predicts_its_rows(unpenalized, block_rows):
    data = table(n=60, l=40, t=2)
    posed = posed_on(data, unpenalized, stream=Stream(n_jobs=1, block_rows=block_rows))
    fit = solve_locally(posed, ALPHA, size=16, rng=0)
    regions = fit.partition.find(data.new)
    assert len(fit.partition.regions) == 4
    assert len(np.unique(regions)) > 1
    values, H = fit.predict(data.new), fit.smoother_matrix(data.new)
    for row, region in enumerate(regions):
        g = by_hand(data, unpenalized, fit.partition.regions[region])
        assert_allclose(values[row], g(data.new[[row]])[0], rtol=1e-7, atol=1e-9)
    assert_allclose(H @ posed.y, values, rtol=1e-9, atol=1e-11)
    std = fit.std(data.new)
    two = Stream(n_jobs=2, block_rows=block_rows)
    again = solve_locally(
        posed_on(data, unpenalized, stream=two), ALPHA, size=16, rng=0
    )
    assert_array_equal(again.predict(data.new), values)
    assert_array_equal(again.std(data.new), std)
    assert_array_equal(again.held_out, fit.held_out)


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("size", [9, 18])  # several regions, and one
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
def test_fits_to_unit_targets_are_the_smoother_matrix(unpenalized, size, weights):
    data = table(weights=weights)
    fit = solve_locally(posed_on(data, unpenalized), ALPHA, size=size, rng=0)
    units = fit.with_targets(np.eye(len(fit.posed.y)))
    actual, expected = units.predict(data.new), fit.smoother_matrix(data.new)
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-11)
    same = fit.with_targets(fit.posed.y)
    assert_array_equal(same.predict(data.new)[:, 0], fit.predict(data.new))


@pytest.mark.parametrize("unpenalized", ["no features", "constant", "linear"])
def test_held_out_values_do_not_depend_on_their_own_label(unpenalized):
    data = table(n=60, l=40)
    posed = posed_on(data, unpenalized)
    fit = solve_locally(posed, ALPHA, size=16, rng=0)
    for i, region in enumerate(fit.partition.find(posed.X_l)):
        members = fit.partition.regions[region]
        rest = members[members != i]
        expected = by_hand(data, unpenalized, rest)(posed.X_l[[i]])[0]
        assert_allclose(fit.held_out[i], expected, rtol=1e-7, atol=1e-9)
    assert_allclose(fit.leave_one_out(), (posed.y - fit.held_out)[:, 0], rtol=0)


def test_a_row_in_a_region_that_was_not_fitted_to_it():
    # In equal coordinates all rows belong to one region, which has half of the labels.
    data = table()
    posed = posed_on(data)
    fit = solve_locally(
        posed, ALPHA, size=10, rng=0, coordinates=lambda X: np.ones((X.shape[0], 2))
    )
    assert len(fit.partition.regions) == 2
    members = fit.partition.regions[0]
    for i in range(18):
        g = by_hand(data, "constant", members[members != i])
        expected = g(posed.X_l[[i]])[0]
        assert_allclose(fit.held_out[i], expected, rtol=1e-7, atol=1e-9)


def test_the_prior_variance_is_pooled_over_the_regions():
    data = table(n=60, l=40, t=2)
    posed = posed_on(data, "linear")
    fit = solve_locally(posed, ALPHA, size=16, rng=0)
    lam, energy, degrees = ALPHA * posed.w.sum(), 0.0, 0
    for rows in fit.partition.regions:
        X, y, w = posed.X_l[rows], posed.y[rows], posed.w[rows]
        r = y - by_hand(data, "linear", rows)(X)
        energy = energy + (w[:, None] * y * r).sum(axis=0) / lam  # y'c
        degrees += len(rows) - 3
    assert_allclose(fit.tau, energy / degrees, rtol=1e-7)


def test_undetermined_values_are_the_mean_of_all_labels():
    X = np.arange(4.0)[:, None]
    y, w = np.array([1.0, 2.0, 4.0, 9.0]), np.array([1.0, 2.0, 1.0, 1.0])
    posed = Problem(Exact(Gaussian(1.0))).pose(X, y, sample_weight=w)
    fit = solve_locally(posed, 0.1, size=1, rng=0)
    assert {len(rows) for rows in fit.partition.regions} == {1}
    alone = [fit.partition.regions[r][0] for r in fit.partition.find(X)]
    expected = np.where(alone == np.arange(4), 18 / 5, y[alone])
    assert_allclose(fit.held_out[:, 0], expected, rtol=1e-12)
    assert np.isinf(fit.tau).all()


def test_a_linear_trend_goes_on_beyond_the_labels(rng):
    X = rng.uniform(0, 10, (400, 2))
    y = 3 * X[:, 0] - X[:, 1] - 2
    far = np.array([[14.0, 3.0], [-5.0, 2.0], [5.0, 30.0]])
    problem = Problem(Exact(Gaussian(0.3)), unpenalized=Polynomials(1))
    fit = solve_locally(problem.pose(X, y), 1e-3, size=120, rng=0)
    assert len(fit.partition.regions) == 8
    assert_allclose(fit.predict(far), [37, -19, -17], rtol=1e-9)
    assert_allclose(fit.betas[:, 1:, 0], np.tile([3, -1], (8, 1)), rtol=1e-9)
    assert_allclose(fit.leave_one_out(), 0, atol=1e-9)
    plain = Problem(Exact(Gaussian(0.3)), unpenalized=Constant()).pose(X, y)
    constant = solve_locally(plain, 1e-3, size=120, rng=0)
    assert np.abs(constant.predict(far) - fit.predict(far)).min() > 5
    # A function that is not linear is followed as well.
    y += np.sin(2 * X[:, 1])
    fit = solve_locally(problem.pose(X, y), 1e-5, size=120, rng=0)
    assert np.sqrt(np.mean(fit.leave_one_out() ** 2)) < 0.5 * np.std(np.sin(X[:, 1]))


def test_a_column_that_is_constant_in_a_region(rng):
    # In the region of large x0 the second column is 1 in all rows, so that its effect
    # is known from the other region alone.
    x0 = np.sort(rng.uniform(size=200))
    d = np.repeat([0.0, 1.0], [80, 120])
    X = np.column_stack([x0, d])
    y = 300.0 + 7 * d
    problem = Problem(Exact(Gaussian(0.2)), unpenalized=Polynomials(1))
    posed = problem.pose(X, y)
    fit = solve_locally(posed, 1e-3, size=111, rng=0, coordinates=lambda X: X[:, :1])
    assert len(fit.partition.regions) == 2
    new = np.array([[0.9, 1.0], [0.9, 0.0], [0.9, 2.0], [0.1, 0.0]])
    region = int(fit.partition.find(new[:1, :1])[0])
    assert (X[fit.partition.regions[region], 1] == 1).all()
    assert_allclose(fit.predict(new), [307, 300, 314, 300], rtol=1e-9)
    other = rng.normal(size=(200, 1))
    again = solve_locally(
        posed.with_targets(other),
        1e-3,
        size=111,
        rng=0,
        coordinates=lambda X: X[:, :1],
    )
    assert_allclose(again.predict(new), fit.smoother_matrix(new) @ other, rtol=1e-8)
    assert np.isfinite(fit.std(new)).all()


def test_sparse_rows_are_divided_in_dense_coordinates(rng):
    X = sp.random_array((90, 40), density=0.2, rng=rng, format="csr")
    y = X.sum(axis=1) + X[:, [0]].toarray()[:, 0]
    y[60:] = np.nan
    P = rng.normal(size=(40, 3))

    def coordinates(rows):
        return np.asarray(rows @ P)

    stream = Stream(n_jobs=1, block_rows=7)
    problem = Problem(Exact(Gaussian(1.5)), unpenalized=Constant())
    fits = [
        solve_locally(
            problem.pose(rows, y, stream=stream),
            ALPHA,
            size=20,
            rng=0,
            coordinates=coordinates,
        )
        for rows in (X, X.toarray())
    ]
    assert len(fits[0].partition.regions) == 4
    assert fits[0].partition.directions.shape == (3, 3)
    for name in ("predict", "std", "smoother_matrix"):
        by_sparse, by_dense = (
            getattr(fit, name)(rows)
            for fit, rows in zip(fits, (X, X.toarray()), strict=True)
        )
        assert_allclose(by_sparse, by_dense, rtol=1e-8, atol=1e-11)
    assert_allclose(fits[0].held_out, fits[1].held_out, rtol=1e-8)
    whole = solve_locally(problem.pose(X, y), ALPHA, size=20, rng=0)
    assert whole.partition.directions.shape[1] == 40  # the rows themselves


def test_rows_of_float32_are_lifted(rng):
    data = table(n=60, l=40)
    posed = posed_on(data, "linear")
    fit = solve_locally(posed, ALPHA, size=16, rng=0)
    new = data.new.astype(np.float32)
    assert_allclose(fit.predict(new), fit.predict(new.astype(np.float64)), rtol=0)


def test_progress_counts_rows_and_ends_with_all(rng):
    reported = []
    data = table(n=60, l=40)
    stream = Stream(n_jobs=1, progress=lambda *counts: reported.append(counts))
    fit = solve_locally(posed_on(data, stream=stream), ALPHA, size=16, rng=0)
    s = len(fit.partition.regions[0])
    assert reported == [(i * s, 4 * s) for i in range(1, 5)]
    reported.clear()
    fit.predict(data.new)
    assert reported[-1] == (11, 11)
    assert reported == sorted(set(reported))


def test_a_fit_is_stored_and_read_back():
    data = table(n=60, l=40)
    fit = solve_locally(posed_on(data, "linear"), ALPHA, size=16, rng=0)
    again = pickle.loads(pickle.dumps(fit))
    assert_array_equal(again.predict(data.new), fit.predict(data.new))
    assert_array_equal(again.std(data.new), fit.std(data.new))


def test_a_fit_in_a_model_file(tmp_path):
    data = table(n=60, l=40)
    fit = solve_locally(posed_on(data, "linear"), ALPHA, size=16, rng=0)
    save(fit, tmp_path / "fit.halfmoon")
    again = load(tmp_path / "fit.halfmoon")
    assert isinstance(again, LocalFit)
    assert isinstance(again.partition, Regions)
    assert_array_equal(again.predict(data.new), fit.predict(data.new))
    assert_array_equal(again.leave_one_out(), fit.leave_one_out())


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="a positive number is needed"):
        solve_locally(posed_on(table()), alpha, size=9, rng=0)


def test_only_a_kernel_in_the_exact_basis():
    data = table()
    for problem in (
        Problem(Nystrom(Gaussian(1.0), 5)),
        Problem(Exact(Gaussian(1.0)), energy="gradient"),
    ):
        posed = problem.pose(data.X, data.y)
        with pytest.raises(ValueError, match=r"Use basis=Exact\(kernel\)"):
            solve_locally(posed, ALPHA, size=9, rng=0)
    with pytest.raises(ValueError, match="size is 0"):
        solve_locally(posed_on(data), ALPHA, size=0, rng=0)
    fit = solve_locally(posed_on(data), ALPHA, size=9, rng=0)
    with pytest.raises(ValueError, match="noise is -1"):
        fit.std(data.new, noise=-1)
    with pytest.raises(ValueError, match="X has 1 columns; the model was fitted on 2"):
        fit.predict(data.new[:, :1])
