"""How large a basis is, and what is said where it does not fit."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from halfmoon._estimators import (
    ConditionalRegressor,
    FredholmRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon._estimators.parameters import kernel_basis, kernel_by_rule
from halfmoon.bases import Exact, Nystrom, RandomFeatures, WithDerivatives
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.kernels._length_scales import WithLengthScale
from halfmoon.kernels._user_kernels import KERNELS, as_kernel
from helpers import peak_bytes

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (600, 2))
F = np.sin(3 * X[:, 0]) + X[:, 1]
Y = np.where(np.arange(600) < 300, F, np.nan)
KERNEL, ALPHAS = Gaussian(0.1), (1e-4, 1e-2)


def functions(model):
    return model.solution_.posed.basis.n_components_


def test_everything_is_exact_within_the_limit(caplog):
    caplog.set_level(logging.INFO, "halfmoon")
    for model in (
        ConditionalRegressor(alpha=0.01),
        LaplacianRegressor(alpha=0.01),
        FredholmRegressor(alpha=0.01),
    ):
        assert functions(model.fit(X, Y)) == 600
    assert "landmarks" not in caplog.text


@pytest.mark.parametrize(
    ("model", "p"),
    [
        # The largest p with 6 p^2 numbers of 8 bytes; smoothed, + 3 n p of them.
        (ConditionalRegressor(Gaussian(0.1)), int(np.sqrt(1e6 / 48))),
        (LaplacianRegressor(Gaussian(0.1)), int(np.sqrt(1e6 / 48))),
        (FredholmRegressor(Gaussian(0.1), Gaussian(0.1)), 58),
    ],
    ids=["conditional", "laplacian", "fredholm"],
)
def test_beyond_the_limit_there_are_landmarks_and_one_line_says_so(model, p, caplog):
    caplog.set_level(logging.INFO, "halfmoon")
    model.set_params(alpha=1e-4, memory_limit="1MB", random_state=0).fit(X, Y)
    assert functions(model) == p
    assert 48 * p**2 + 24 * 600 * p * isinstance(model, FredholmRegressor) <= 1e6
    lines = [r.getMessage() for r in caplog.records if "landmarks" in r.getMessage()]
    assert lines == [
        f"An exact basis of 600 rows does not fit memory_limit=1 MB: {p} landmarks."
    ]
    assert caplog.records[0].levelno == logging.INFO
    assert np.sqrt(np.mean((model.predict(X) - F) ** 2)) < 0.3


def test_the_exact_dual_counts_labeled_rows_only():
    few = np.where(np.arange(600) < 100, F, np.nan)
    model = ConditionalRegressor(alpha=0.01, memory_limit="1MB").fit(X, few)
    assert functions(model) == 600  # 4 l^2 numbers are 320 kB


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: LaplacianRegressor(KERNEL, alpha=ALPHAS, **options),
        lambda **options: ConditionalRegressor(KERNEL, alpha=ALPHAS, **options),
        lambda **options: FredholmRegressor(KERNEL, KERNEL, alpha=ALPHAS, **options),
    ],
    ids=["laplacian", "conditional", "fredholm"],
)
def test_the_memory_limit_holds(make):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (4_000, 2))
    y = np.where(np.arange(4_000) < 2_000, rows[:, 0], np.nan)
    limit = 8_000_000  # an exact basis would take 128 MB at least
    model = make(memory_limit=limit, n_jobs=1, random_state=0)
    # What the blocks may hold and what is square in p, each within the limit or so.
    assert peak_bytes(lambda: model.fit(rows, y)) < 3 * limit
    assert peak_bytes(lambda: model.predict(rows)) < limit


@pytest.mark.parametrize(
    "dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "make", [LaplacianRegressor, ConditionalRegressor, FredholmRegressor]
)
def test_the_memory_limit_holds_for_wide_rows(make, dtype):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 12_000)).astype(dtype)  # 19 MB in float64
    y = np.where(np.arange(200) < 40, rows[:, 0], np.nan)
    limit = 20_000_000
    model = make(alpha=0.1, memory_limit=limit, n_jobs=1, random_state=0)
    assert peak_bytes(lambda: model.fit(rows, y)) < 1.3 * limit
    assert peak_bytes(lambda: model.predict(rows)) < 1.3 * limit


def test_memory_errors_name_bytes_and_setting():
    cases = [
        (
            ConditionalRegressor(basis="exact", memory_limit="1MB"),
            r"300 labeled among 600 rows needs 2.88 MB, beyond memory_limit=1 MB",
        ),
        (
            LaplacianRegressor(basis="exact", memory_limit="1MB"),
            r"needs 17.3 MB, beyond memory_limit=1 MB",
        ),
        (
            FredholmRegressor(basis="exact", memory_limit="1MB"),
            r"needs 7.2 MB, beyond memory_limit=1 MB",
        ),
        (
            ConditionalRegressor(ThinPlate(), "linear", memory_limit="1MB"),
            r"use a positive definite kernel",
        ),
        (
            ConditionalRegressor(n_components=200, memory_limit="1MB"),
            r"n_components=200 needs 1.92 MB, beyond memory_limit=1 MB; 144 functions",
        ),
        (
            FredholmRegressor(n_components=200, memory_limit="1MB"),
            r"n_components=200 needs 4.8 MB, beyond memory_limit=1 MB; 58 functions",
        ),
        (
            FredholmRegressor(memory_limit="10kB"),
            r"Not even one landmark for 600 rows fits memory_limit=10 kB; 14.4 kB",
        ),
    ]
    for model, message in cases:
        with pytest.raises(MemoryError, match=message):
            model.fit(X, Y)


def basis(name="auto", n_components=None, landmarks="rpcholesky", **options):
    settings = {"n": 50, "l": 20, "in_dual": True, "memory_limit": "512MB", **options}
    return kernel_basis(Gaussian(1.0), name, n_components, landmarks, **settings)


def test_the_basis_that_is_asked_for():
    assert isinstance(basis(), Exact)
    assert isinstance(basis("exact"), Exact)
    assert isinstance(basis("derivatives"), WithDerivatives)
    assert isinstance(basis(n_components=50), Exact)
    assert isinstance(basis("random_features"), RandomFeatures)
    assert basis("random_features", 7).n_components == 7
    some = basis(n_components=7, landmarks="uniform")
    assert isinstance(some, Nystrom)
    assert (some.n_components, some.landmarks) == (7, "uniform")
    given = basis(landmarks=[1, 5])
    assert isinstance(given, Nystrom)
    assert given.landmarks == [1, 5]
    own = Nystrom(Gaussian(2.0), 3)
    assert basis(own) is own


@pytest.mark.parametrize("landmarks", ["rpcholesky", "uniform", "kmeans++", "leverage"])
def test_every_way_to_choose_landmarks(landmarks):
    exact = ConditionalRegressor(Gaussian(1.0), alpha=1e-3).fit(X, Y)
    model = ConditionalRegressor(
        Gaussian(1.0), alpha=1e-3, n_components=60, landmarks=landmarks, random_state=0
    ).fit(X, Y)
    assert functions(model) <= 60
    assert_allclose(model.predict(X), exact.predict(X), atol=1e-2)


@pytest.mark.parametrize(
    "model",
    [
        LaplacianClassifier(alpha=0.01, n_components=10_000),
        ConditionalRegressor(alpha=0.01, n_components=10_000),
        FredholmRegressor(alpha=0.01, n_components=10_000),
        LaplacianClassifier(alpha=0.01, n_components=10_000, basis="nystrom"),
    ],
    ids=["laplacian", "conditional", "fredholm", "nystrom"],
)
def test_more_landmarks_than_rows_are_all_rows(model):
    y = np.where(np.arange(400) < 60, F[:400] > 0, np.nan)
    model.set_params(memory_limit="100MB", random_state=0).fit(X[:400], y)
    assert functions(model) == 400
    every = clone(model).set_params(n_components=400).fit(X[:400], y)
    assert_allclose(
        model.solution_.predict(X[:9]), every.solution_.predict(X[:9]), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("model", "smoothed"), [(ConditionalRegressor(), 0), (FredholmRegressor(), 3)]
)
def test_random_features_use_the_memory_that_is_counted(model, smoothed):
    # 6 p l numbers, and 3 p n where they are averaged; p^2 would be 800 MB.
    l, n, p = 61, 61, 10_000
    need = 8 * p * (6 * l + smoothed * n)
    model.set_params(
        basis="random_features", n_components=p, memory_limit=need, n_jobs=1
    )
    model.set_params(random_state=0)
    assert peak_bytes(lambda: model.fit(X[:n], Y[:n])) < need
    assert functions(model) == p
    left_out = np.abs(model.leave_one_out()).mean()
    assert left_out < 0.5
    model.set_params(memory_limit=need - 1)
    with pytest.raises(MemoryError, match=f"needs .* MB, .*; {p - 1} functions would"):
        model.fit(X[:n], Y[:n])


def test_random_features_with_an_energy_are_a_matrix():
    model = LaplacianRegressor(basis="random_features", n_components=2_000)
    with pytest.raises(MemoryError, match="n_components=2000 needs 192 MB"):
        model.set_params(memory_limit="100MB").fit(X[:61], Y[:61])


@pytest.mark.parametrize("name", KERNELS)
def test_the_rule_for_a_length_scale(name):
    kernel = kernel_by_rule(name, "neighbors")
    if isinstance(kernel, WithLengthScale):
        assert kernel.length_scale == "neighbors"
        assert as_kernel(name).length_scale == "median"
    # A kernel object keeps its length scale.
    assert kernel_by_rule(Gaussian(), "neighbors").length_scale == "median"
