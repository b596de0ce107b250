"""Fredholm estimators against the triple sum (5), and against kernel ridge."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from halfmoon._estimators import FredholmClassifier, FredholmRegressor
from halfmoon.bases import Exact, Smoothed
from halfmoon.datasets import noisy_circles, noisy_line, reveal
from halfmoon.kernels import Gaussian, Linear
from halfmoon.kernels._length_scales import median_distance, neighbor_distance
from halfmoon.kernels._user_kernels import Precomputed
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from helpers import peak_bytes
from reference import gaussian, table

E, OUTER, ALPHA = 0.8, 0.5, 0.01


def linear(X, Z):
    return X @ Z.T


def outer_gaussian(X, Z):
    return gaussian(X, Z, OUTER)


def inner_gaussian(X, Z):
    return gaussian(X, Z, E)


#: The paper's names: outer kernel, inner kernel; ours and as plain functions.
NAMES = {
    "FredLin1": (Linear(), Gaussian(E), linear, inner_gaussian),
    "FredLin2": (Gaussian(OUTER), Linear(), outer_gaussian, linear),
    "FredGauss": (Gaussian(OUTER), Gaussian(E), outer_gaussian, inner_gaussian),
}


def fredholm_kernel(x, z, rows, k, h, normalize):
    """(5), a sum over two rows of the table for each of the pairs."""

    def weights(q):
        a = k(q, rows)
        return a / a.sum(axis=1, keepdims=True) if normalize else a / len(rows)

    return np.einsum("xi,ij,zj->xz", weights(x), h(rows, rows), weights(z))


def positive_table():
    """Rows of positive entries, as of counts: linear weights have sums above 0."""
    data = table()
    data.X, data.new = np.abs(data.X), np.abs(data.new)
    return data


@pytest.mark.parametrize("unpenalized", [None, "constant"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_equals_kernel_ridge_with_the_triple_sum(name, normalize, unpenalized):
    outer, inner, k, h = NAMES[name]
    data = positive_table()
    known = data.labeled
    X_l, y, w = data.X[known], data.y[known], data.w[known]
    K = fredholm_kernel(X_l, X_l, data.X, k, h, normalize)
    K_new = fredholm_kernel(data.new, X_l, data.X, k, h, normalize)
    F = np.ones((18, 0 if unpenalized is None else 1))
    zero = np.zeros((F.shape[1],) * 2)
    system = np.block([[K + ALPHA * w.sum() * np.diag(1 / w), F], [F.T, zero]])
    solution = np.linalg.solve(system, np.r_[y, np.zeros(F.shape[1])])
    c, beta = solution[:18], solution[18:]
    model = FredholmRegressor(
        outer, inner, normalize, alpha=ALPHA, unpenalized=unpenalized
    ).fit(data.X, data.y, data.w)
    # Rows that were not in the table, without a refit.
    assert_allclose(model.predict(data.new), K_new @ c + beta.sum(), atol=1e-9)
    assert_allclose(model.dual_coef_, c, atol=1e-8 * np.abs(c).max())
    assert_allclose(model.coef_, beta, atol=1e-9)


def test_an_outer_delta_leaves_the_inner_kernel():
    # k = n 1[x = u] keeps one term of each sum, so k_F is h.
    data = table(weights=False)

    def delta(X, Z):
        return 30.0 * (X[:, None] == Z[None]).all(axis=-1)

    known, a = data.labeled, 0.2
    model = FredholmRegressor(
        delta, Gaussian(E), normalize=False, alpha=a / 18, unpenalized=None
    ).fit(data.X, data.y)
    peer = KernelRidge(alpha=a, kernel="rbf", gamma=1 / (2 * E**2))
    peer.fit(data.X[known], data.y[known])
    assert_allclose(model.predict(data.X), peer.predict(data.X), atol=1e-10)
    assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_the_hinge_loss_is_a_support_vector_machine_with_the_triple_sum(name):
    # (S0:7), with C = 1 / (2 alpha l) and the intercept that SVC leaves free.
    outer, inner, k, h = NAMES[name]
    data = positive_table()
    known = data.labeled
    y = np.where(known, np.sign(data.y - np.nanmedian(data.y) + 1e-9), np.nan)
    K, K_new = (
        fredholm_kernel(X, data.X[known], data.X, k, h, False)
        for X in (data.X[known], data.new)
    )
    peer = SVC(C=1 / (2 * ALPHA * 18), kernel="precomputed", tol=1e-8)
    expected = peer.fit(K, y[known]).decision_function(K_new)
    model = FredholmClassifier(outer, inner, False, alpha=ALPHA, loss="hinge")
    actual = model.fit(data.X, y).decision_function(data.new)
    # Where no row is on the margin the intercept is not unique, but the loss is.
    assert_allclose(actual - actual[0], expected - expected[0], atol=1e-6)
    losses = [
        np.maximum(0, 1 - y[known] * values).sum()
        for values in (
            model.decision_function(data.X[known]),
            peer.decision_function(K),
        )
    ]
    assert_allclose(*losses, atol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("targets", [1, 2])
def test_primal_weights_predict(container, targets):
    data = table(t=targets)
    X, new = container(data.X), container(data.new)
    model = FredholmRegressor("linear", Gaussian(E), False, alpha=ALPHA)
    model.fit(X, data.y, data.w)
    u = model.primal_coef_
    assert u.shape == (2,) if targets == 1 else (2, targets)
    assert_allclose(data.new @ u + model.coef_[0], model.predict(new), atol=1e-10)
    # u = X'(H(X X_l' c)) / n^2
    X_l = data.X[data.labeled]
    expected = data.X.T @ gaussian(data.X, data.X, E) @ (data.X @ X_l.T)
    expected = expected @ model.dual_coef_ / 30**2
    assert_allclose(u, expected, atol=1e-9)


def test_primal_weights_of_landmarks_and_features():
    data = table()
    for options in ({"n_components": 12}, {"basis": "random_features"}):
        model = FredholmRegressor(
            "linear", Gaussian(E), False, alpha=ALPHA, random_state=0, **options
        ).fit(data.X, data.y)
        expected = data.new @ model.primal_coef_ + model.coef_[0]
        assert_allclose(model.predict(data.new), expected, atol=1e-10)


@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"normalize": False}])
def test_no_primal_weights_of_other_averages(options):
    data = positive_table()
    model = FredholmRegressor(alpha=ALPHA, **options).fit(data.X, data.y)
    with pytest.raises(AttributeError, match="kernel='linear' and normalize=False"):
        model.primal_coef_  # noqa: B018


@pytest.mark.parametrize("basis", ["nystrom", "random_features"])
def test_landmarks_and_features_tend_to_the_exact_average(basis):
    data = table(weights=False)
    model = FredholmRegressor(Gaussian(OUTER), Gaussian(E), alpha=ALPHA)
    expected = model.fit(data.X, data.y).predict(data.new)
    model.set_params(basis=basis, n_components=30, random_state=0)
    few = np.abs(model.fit(data.X, data.y).predict(data.new) - expected).max()
    model.set_params(n_components=3_000)
    many = np.abs(model.fit(data.X, data.y).predict(data.new) - expected).max()
    assert few < (1e-8 if basis == "nystrom" else 1.0)
    assert many < (1e-8 if basis == "nystrom" else 0.1)


@pytest.mark.parametrize(
    "smoother", [Neighbors(4, steps=2), Diffusion(4, restart=0.2)], ids=repr
)
def test_any_smoother_is_the_problem_with_it(smoother):
    data = table()
    model = FredholmRegressor(
        inner_kernel=Gaussian(E), smoother=smoother, alpha=ALPHA
    ).fit(data.X, data.y, data.w)
    fit = Problem(Smoothed(Exact(Gaussian(E)), smoother)).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    assert_allclose(model.predict(data.new), fit.predict(data.new), atol=1e-10)


def test_an_outer_kernel_by_name_looks_at_the_nearest_rows():
    data = table(n=60)
    model = FredholmRegressor("gaussian", alpha=ALPHA).fit(data.X, data.y)
    smoother = model.solution_.posed.basis.smoother_
    distances = np.sort(np.linalg.norm(data.X[:, None] - data.X[None], axis=2), axis=1)
    expected = np.sqrt(np.median(distances[:, 10] ** 2)) / 3
    assert_allclose(smoother.kernel_.length_scale, expected, rtol=1e-10)
    assert isinstance(smoother, KernelWeights)
    assert smoother.normalize


def test_the_average_helps_where_rows_are_noisy():
    # The paper's point: noise of single rows is averaged out, by unlabeled rows too.
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(5):
        t = rng.uniform(-1, 1, 400)
        X = np.c_[t, 0.2 * rng.standard_normal((400, 9))]
        y = np.where(np.arange(400) < 20, np.sin(4 * t), np.nan)
        model = FredholmRegressor(Gaussian(0.3), Gaussian(0.3)).fit(X, y)
        peer = FredholmRegressor(
            lambda x, z: 400.0 * (x[:, None, 0] == z[None, :, 0]),
            Gaussian(0.3),
            normalize=False,
        ).fit(X, y)  # the same without an average
        rest = np.isnan(y)
        off = [(m.predict(X) - np.sin(4 * t))[rest] for m in (model, peer)]
        errors.append([np.sqrt(np.mean(np.square(e))) for e in off])
    with_average, without = np.mean(errors, axis=0)
    assert with_average < 0.7 * without


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FredLin1", "FredLin2"])
def test_text_is_never_made_dense(name):
    # 50,000 words: the dense table would take 320 MB.
    n, d = 800, 50_000
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=1e-3, format="csr", rng=rng)
    topic = np.arange(n) % 2
    X = sp.csr_array(X + sp.csr_array((0.2 * topic, (np.arange(n), topic)), X.shape))
    y = np.where(np.arange(n) < 40, topic, np.nan)
    kernels = {
        "FredLin1": ("linear", "gaussian"),
        "FredLin2": ("gaussian", "linear"),
    }[name]
    model = FredholmClassifier(*kernels, normalize=name == "FredLin2")

    def work():
        model.fit(X, y)
        return model.predict(X)

    assert peak_bytes(work) < 0.1 * 8 * n * d
    new = sp.random_array((5, d), density=1e-3, format="csr", rng=rng)
    dense = model.decision_function(new.toarray())
    assert_allclose(model.decision_function(new), dense, atol=1e-8)


def test_a_kernel_matrix_and_a_table_do_not_mix():
    data = table()
    with pytest.raises(ValueError, match="Make both precomputed, or neither"):
        FredholmRegressor("precomputed").fit(data.X, data.y)
    K = gaussian(data.X, data.X, E)
    with pytest.raises(ValueError, match="smoother needs the table"):
        FredholmRegressor(
            inner_kernel=Precomputed(), smoother=Neighbors(4), alpha=ALPHA
        ).fit(K, data.y)
    model = FredholmRegressor("precomputed", "precomputed", alpha=ALPHA)
    model.fit(K, data.y)
    twin = FredholmRegressor(Gaussian(E), Gaussian(E), alpha=ALPHA)
    twin.fit(data.X, data.y)
    K_new = gaussian(data.new, data.X, E)
    assert_allclose(model.predict(K_new), twin.predict(data.new), atol=1e-9)


# ---- with no arguments ---------------------------------------------------------------


def revealed(draw, n, labels, seed):
    """Rows of a picture of the paper, with some labels of each class."""
    X, y = draw(n, rng=seed)
    return X, y, reveal(y, y, labels, rng=seed)


@pytest.mark.parametrize("seed", range(2))
def test_the_default_sees_through_the_noise_of_the_papers_pictures(seed):
    X, y, known = revealed(noisy_circles, 1_500, 32, seed)
    model = FredholmClassifier(random_state=0).fit(X, known)
    assert np.mean(model.predict(X) != y) <= 0.08
    by_name = FredholmClassifier("gaussian", "gaussian", random_state=0).fit(X, known)
    assert np.mean(by_name.predict(X) != y) > 0.1
    X, y, known = revealed(noisy_line, 1_500, 8, seed)
    model = FredholmClassifier(random_state=0).fit(X, known)
    assert np.mean(model.predict(X) != y) <= 0.05


def test_the_automatic_pair_is_one_of_two_by_a_tenth():
    pairs = {}
    for draw, labels in ((noisy_circles, 20), (two_plain_groups, 10)):
        X, _, known = revealed(draw, 200, labels, 0)
        far, near = median_distance(X, 0), neighbor_distance(X, 0)
        first = FredholmClassifier(Gaussian(near / 3), Gaussian(far)).fit(X, known)
        second = FredholmClassifier(Gaussian(near / 2), Gaussian(far / 2)).fit(X, known)
        better = second.loo_errors_.min() < 0.9 * first.loo_errors_.min()
        expected = second if better else first
        model = FredholmClassifier().fit(X, known)
        assert_allclose(
            model.decision_function(X), expected.decision_function(X), rtol=1e-6
        )
        pairs[draw] = better
    assert pairs == {noisy_circles: True, two_plain_groups: False}


def two_plain_groups(n, rng):
    rng = np.random.default_rng(rng)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, 2)) + np.outer(y, [1.0, 0.0]), y


def test_a_given_kernel_is_not_compared():
    data = table()
    far, near = median_distance(data.X), neighbor_distance(data.X)
    for given, pair in (
        ((Gaussian(0.4), "auto"), (Gaussian(0.4), Gaussian(far))),
        (("auto", Gaussian(0.4)), (Gaussian(near / 3), Gaussian(0.4))),
        (("gaussian", "gaussian"), (Gaussian(near / 3), Gaussian(far))),
    ):
        ours, expected = (
            FredholmRegressor(*kernels, alpha=ALPHA).fit(data.X, data.y)
            for kernels in (given, pair)
        )
        assert_allclose(ours.predict(data.new), expected.predict(data.new), rtol=1e-9)
