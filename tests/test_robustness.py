"""Awkward tables: repeated and offset rows, dependent columns, float32, no penalty.

Each must solve, and agree with the same problem on data without the awkwardness.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.kernels import Gaussian, Laplace, Linear, Matern, ThinPlate
from halfmoon.losses import Hinge
from halfmoon.problem import Problem, solve_loss, solve_ridge
from halfmoon.smoothers import Diffusion, KernelWeights
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import BASES, LEVERS, gaussian, problem, table

ALPHA = 0.02
FIXED_LEVERS = [v for v in LEVERS if v != "graph"]  # a graph has its own nodes


# ---- repeated rows -------------------------------------------------------------------


@pytest.mark.parametrize("lever", FIXED_LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_a_table_stacked_twice(basis, lever):
    # Every average over rows stays as it is, and so do all predictions.
    data = table(l=18)
    stated = problem(basis, lever, Polynomials(1), data)
    single = stated.fit(data.X, data.y, ALPHA, sample_weight=2 * data.w, rng=0)
    twice = stated.fit(
        np.vstack([data.X, data.X]),
        np.r_[data.y, data.y],
        ALPHA,
        sample_weight=np.r_[data.w, data.w],
        rng=0,
    )
    assert_allclose(twice.predict(data.new), single.predict(data.new), atol=1e-7)
    if basis != "features":  # p is as before for features, and doubled otherwise
        rank = twice.posed.whitening.rank
        assert rank == single.posed.whitening.rank
    # Degrees of freedom are of the function, not of the rows.
    assert_allclose(
        twice.path.degrees_of_freedom(ALPHA),
        single.path.degrees_of_freedom(ALPHA),
        rtol=1e-7,
    )


@pytest.mark.parametrize("alpha", [0.0, ALPHA])
@pytest.mark.parametrize("lever", FIXED_LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_conflicting_labels_count_as_their_mean(basis, lever, alpha, rng):
    data = table(n=15, l=7)
    other = data.y + rng.standard_normal(15)
    w, v = data.w, rng.uniform(0.3, 2, 15)
    stated = problem(basis, lever, Constant(), data)
    merged = stated.fit(
        data.X, (w * data.y + v * other) / (w + v), alpha, sample_weight=w + v, rng=0
    )
    conflict = stated.fit(
        np.vstack([data.X, data.X]),
        np.r_[data.y, other],
        alpha,
        sample_weight=np.r_[w, v],
        rng=0,
    )
    atol = 1e-8 if alpha else 1e-6
    assert_allclose(conflict.predict(data.new), merged.predict(data.new), atol=atol)


def test_equal_rows_without_a_penalty_are_left_out_for_each_other():
    # alpha = 0: the other copy's label is what is predicted where one is taken away,
    # and rows that are not repeated are left out as if the copies were their mean.
    data = table(n=10, l=10, weights=False)
    X, y = np.vstack([data.X, data.X[:1]]), np.r_[data.y, data.y[0] + 1.0]
    stated = Problem(Exact(Gaussian(0.8)), unpenalized=Constant())
    loo = stated.fit(X, y, 0.0).leave_one_out()
    assert_allclose(loo[[0, 10]], [-1.0, 1.0], rtol=1e-9)
    data.y[0] += 0.5
    expected = stated.fit(data.X, data.y, 0.0).leave_one_out()
    assert_allclose(loo[1:10], expected[1:], rtol=1e-6)


@pytest.mark.parametrize("lever", ["none", "smoothed", "gradient"])
def test_a_thousand_nearly_equal_landmarks(lever, rng):
    # In place of each of three landmarks, hundreds within 1e-9 of it.
    data = table(n=60, l=40)
    data.Z = np.array([[0.0, 0.0], [1.0, -1.0], [-1.2, 0.7]])
    expected = problem("nystrom", lever, Constant(), data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    data.Z = np.repeat(data.Z, [350, 350, 300], axis=0)
    data.Z = data.Z + 1e-9 * rng.standard_normal((1_000, 2))
    fit = problem("nystrom", lever, Constant(), data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    assert fit.posed.basis.n_components_ == 1_000
    assert fit.posed.whitening.rank < 100
    assert_allclose(fit.predict(data.new), expected.predict(data.new), atol=1e-5)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), atol=1e-5)


def test_one_row_many_times():
    X, y = np.ones((50, 2)), np.r_[np.arange(10.0), np.full(40, np.nan)]
    for energy in (None, "gradient"):
        fit = Problem(Exact(Gaussian(1.0)), energy).fit(X, y, ALPHA)
        assert_allclose(fit.predict(X[:1]), 4.5)
        # The mean of the other nine.
        assert_allclose(fit.leave_one_out(), (y[:10] - 4.5) * 10 / 9, rtol=1e-6)


# ---- no penalty ----------------------------------------------------------------------


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_no_penalty_interpolates_where_it_can(basis, lever):
    data = table(l=6)
    stated = problem(basis, lever, Constant(), data)
    fit = stated.fit(data.X, data.y, 0.0, sample_weight=data.w, rng=0)
    rows = data.labeled
    assert_allclose(fit.predict(data.X[rows]), data.y[rows], atol=1e-8)


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", ["nystrom", "features"])
def test_no_penalty_is_least_squares_otherwise(basis, lever):
    data = table(l=18)
    stated = problem(basis, lever, Constant(), data)
    fit = stated.fit(data.X, data.y, 0.0, sample_weight=data.w, rng=0)
    rows, y = data.X[data.labeled], data.y[data.labeled]
    root = np.sqrt(data.w[data.labeled])
    A = np.hstack([fit.posed.basis.transform(rows), np.ones((18, 1))])
    coef = np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    assert_allclose(fit.predict(rows), A @ coef, atol=1e-7)


def test_no_penalty_takes_the_least_norm():
    # Fewer labels than functions: of all interpolants, that of least theta'Q theta.
    data = table(l=5)
    stated = problem("nystrom", "none", None, data)
    fit = stated.fit(data.X, data.y, 0.0)
    Phi, Q = gaussian(data.X[data.labeled], data.Z), gaussian(data.Z, data.Z)
    K = Phi @ np.linalg.solve(Q, Phi.T)
    theta = np.linalg.solve(Q, Phi.T @ np.linalg.solve(K, data.y[data.labeled]))
    expected = gaussian(data.new, data.Z) @ theta
    assert_allclose(fit.predict(data.new), expected, rtol=1e-6, atol=1e-8)
    exact = Problem(Exact(Gaussian(0.8)), unpenalized=None).fit(data.X, data.y, 0.0)
    rows = data.X[data.labeled]
    c = np.linalg.solve(gaussian(rows, rows), data.y[data.labeled])
    assert_allclose(exact.predict(data.new), gaussian(data.new, rows) @ c, atol=1e-9)


def test_no_penalty_is_the_limit_of_small_ones():
    data = table(l=18)
    for basis in (Exact(Matern(1.5, 1.0)), Nystrom(Gaussian(0.8), landmarks=data.Z)):
        posed = Problem(basis).pose(data.X, data.y, sample_weight=data.w)
        limit, small = (solve_ridge(posed, alpha) for alpha in (0.0, 1e-11))
        assert_allclose(small.predict(data.new), limit.predict(data.new), atol=1e-6)
        assert_allclose(small.leave_one_out(), limit.leave_one_out(), atol=1e-6)


# ---- dependent columns ---------------------------------------------------------------


def doubled(x):
    """Column 0, column 0 times 2, and a column of zeros."""
    return np.c_[x[:, 0], 2 * x[:, 0], np.zeros(len(x))]


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_dependent_columns(basis, lever, l):
    data = table(l=l)
    lean = problem(basis, lever, Features([0]), data)
    expected = lean.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    with pytest.warns(UserWarning, match=r"4 columns but rank 2 .*f2 depend") as caught:
        fit = problem(basis, lever, Features(doubled), data).fit(
            data.X, data.y, ALPHA, sample_weight=data.w, rng=0
        )
    assert len(caught) == 1
    assert_allclose(fit.predict(data.new), expected.predict(data.new), atol=1e-9)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), atol=1e-8)
    assert_allclose(fit.std(data.new), expected.std(data.new), rtol=1e-6)
    # Of all coefficients with these values, those of least norm.
    F = np.c_[np.ones(30), doubled(data.X)][data.labeled]
    values = F @ fit.beta
    assert_allclose(fit.beta, np.linalg.pinv(F) @ values, atol=1e-10)
    assert_allclose(fit.beta[2], 2 * fit.beta[1], rtol=1e-9)
    assert_allclose(fit.beta[3], 0, atol=1e-14)


def test_columns_that_are_constant_on_the_labeled_rows():
    # The second column does not vary where there are labels: it is the constant there.
    data = table(l=10)
    data.X[data.labeled, 1] = 0.25
    with pytest.warns(UserWarning, match="rank 2 on the 10 labeled rows: (1|x1) dep"):
        fit = Problem(Exact(Gaussian(0.8)), unpenalized=Features([0, 1])).fit(
            data.X, data.y, ALPHA
        )
    lean = Problem(Exact(Gaussian(0.8)), unpenalized=Features([0]))
    expected = lean.fit(data.X, data.y, ALPHA)
    rows = data.X[data.labeled]
    assert_allclose(fit.predict(rows), expected.predict(rows), atol=1e-10)
    assert_allclose(fit.beta[2], 0.25 * fit.beta[0], rtol=1e-9)  # least norm


def test_more_features_than_labels():
    data = table(l=4)
    with pytest.warns(UserWarning, match="6 columns but rank 4 on the 4 labeled rows"):
        fit = Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(2)).fit(
            data.X, data.y, ALPHA
        )
    rows = data.labeled
    assert_allclose(fit.predict(data.X[rows]), data.y[rows], rtol=1e-9)
    assert_array_equal(fit.leave_one_out(), np.inf)


@pytest.mark.parametrize("units", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("kernel", [Gaussian, ThinPlate])
def test_the_units_of_the_rows_do_not_matter(kernel, units):
    # Squares of nanometers and a constant: the columns differ by 1e18.
    data = table(l=18)

    def fit(c):
        k = kernel(0.8 * c) if kernel is Gaussian else kernel()
        # A spline's kernel has units, and so has its alpha.
        alpha = ALPHA if kernel is Gaussian else ALPHA * c**2
        return Problem(Exact(k), unpenalized=Polynomials(2)).fit(
            c * data.X, data.y, alpha
        )

    expected, actual = fit(1.0).predict(data.new), fit(units).predict(units * data.new)
    assert_allclose(actual, expected, rtol=1e-6)


# ---- offset rows ---------------------------------------------------------------------


@pytest.mark.parametrize("unpenalized", [None, Polynomials(2)])
@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("lever", [*LEVERS, "named graph"])
@pytest.mark.parametrize("basis", ["exact", "nystrom"])
def test_offset_rows(basis, lever, l, unpenalized):
    if unpenalized is not None and l == 6:
        unpenalized = Polynomials(1)
    data = table(l=l)

    def fit(offset):
        moved = table(l=l)
        moved.X, moved.Z = data.X + offset, data.Z + offset
        stated = problem(basis, lever, unpenalized, moved)
        if lever == "named graph":
            stated.energy = "graph"
        return stated.fit(moved.X, data.y, ALPHA, sample_weight=data.w)

    expected, actual = fit(0.0), fit(1000.0)
    for name in ("predict", "std"):
        assert_allclose(
            getattr(actual, name)(data.new + 1000.0),
            getattr(expected, name)(data.new),
            rtol=1e-7,
            atol=1e-7,
        )
    assert_allclose(actual.leave_one_out(), expected.leave_one_out(), atol=1e-7)


def test_offset_targets():
    data = table(l=18)
    stated = Problem(Exact(Gaussian(0.8)))
    expected = stated.fit(data.X, data.y, ALPHA).predict(data.new)
    actual = stated.fit(data.X, data.y + 1e6, ALPHA).predict(data.new)
    assert_allclose(actual - 1e6, expected, atol=1e-8)


# ---- float32 -------------------------------------------------------------------------


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("lever", [*LEVERS, "named graph"])
@pytest.mark.parametrize("basis", BASES)
def test_float32(basis, lever, l):
    data = table(l=l)
    low = data.X.astype(np.float32)

    def fit(X, y):
        stated = problem(basis, lever, Polynomials(1), data)
        if lever == "named graph":
            stated.energy = "graph"
        return stated.fit(X, y, ALPHA, sample_weight=data.w, rng=0)

    actual = fit(low, data.y)
    assert actual.posed.X.dtype == np.float32  # the original dtype
    assert actual.predict(data.new).dtype == np.float64
    # Rounded rows are rows: the arithmetic is that of float64.
    same = fit(low.astype(np.float64), data.y)
    assert_allclose(actual.predict(data.new), same.predict(data.new), rtol=1e-12)
    assert_allclose(actual.std(data.new), same.std(data.new), rtol=1e-10)
    exact = fit(data.X, data.y)
    assert_allclose(actual.predict(data.new), exact.predict(data.new), atol=1e-5)
    both = fit(low, data.y.astype(np.float32))
    assert_allclose(both.predict(data.new), exact.predict(data.new), atol=1e-5)


def test_float32_with_an_offset():
    # What the offset has cost the rows themselves, and no more.
    data = table(l=18)
    low = (data.X + 1000.0).astype(np.float32)
    shifted = low.astype(np.float64) - 1000.0
    for energy in (None, "gradient", "graph"):
        stated = Problem(Exact(Gaussian(0.8)), energy, unpenalized=Polynomials(1))
        actual = stated.fit(low, data.y, ALPHA).predict(low)
        expected = stated.fit(shifted, data.y, ALPHA).predict(shifted)
        assert_allclose(actual, expected, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float16, bool])
def test_rows_of_other_numbers(dtype, rng):
    X = rng.integers(0, 2 if dtype is bool else 9, (30, 3)).astype(dtype)
    y = rng.normal(size=30)
    for energy in (None, "gradient"):
        stated = Problem(Exact(Gaussian(2.0)), energy, unpenalized=Polynomials(1))
        expected = stated.fit(X.astype(float), y, ALPHA).predict(X.astype(float))
        assert_allclose(stated.fit(X, y, ALPHA).predict(X), expected, rtol=1e-9)


# ---- what is refused -----------------------------------------------------------------

EVERY_BASIS = [
    Exact(Gaussian(1.0)),
    Nystrom(Gaussian(1.0), 5),
    RandomFeatures(Gaussian(1.0), 10),
    Smoothed(Exact(Gaussian(1.0)), KernelWeights(Gaussian(1.0))),
]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("basis", EVERY_BASIS, ids=lambda basis: type(basis).__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite(basis, bad, make):
    data = table()
    data.X[7, 1] = bad
    what = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(
        ValueError, match=f"X contains NaN or infinity, first {what} in row 7, column 1"
    ):
        Problem(basis).fit(make(data.X), data.y)
    fit = Problem(basis).fit(table().X, data.y)
    for method in (fit.predict, fit.std):
        with pytest.raises(ValueError, match="NaN or infinity"):
            method(data.X)


@pytest.mark.parametrize("shape", [(0, 2), (4, 0), (0, 0)])
def test_empty_tables(shape):
    with pytest.raises(ValueError, match=r"at least one of each is needed"):
        Problem().fit(np.zeros(shape), np.zeros(shape[0]))


@pytest.mark.parametrize("shape", [(4,), (), (2, 2, 2)])
def test_tables_of_other_shapes(shape):
    with pytest.raises(ValueError, match="a table of rows and columns is needed"):
        Problem().fit(np.zeros(shape), np.zeros(4))


@pytest.mark.parametrize("y", [np.full(30, np.nan), np.full((30, 2), np.nan)])
def test_no_labels(y):
    with pytest.raises(ValueError, match=r"None of the 30 rows is labeled.*at least"):
        Problem().fit(table().X, y)


def test_targets():
    data = table(t=2)
    stated = Problem(Exact(Gaussian(1.0)))
    with pytest.raises(ValueError, match="y contains infinity; finite numbers, or NaN"):
        stated.fit(data.X, np.where(np.arange(30) == 3, np.inf, 1.0))
    with pytest.raises(ValueError, match=r"y has shape \(29,\), but X has 30 rows"):
        stated.fit(data.X, np.ones(29))
    with pytest.raises(ValueError, match=r"y has shape \(30, 2, 2\)"):
        stated.fit(data.X, np.ones((30, 2, 2)))
    first = np.flatnonzero(data.labeled)[:2]
    data.y[first, 1] = np.nan
    with pytest.raises(
        ValueError,
        match=rf"2 row\(s\) have some .* row {first[0]}; .* Use a regressor",
    ):
        stated.fit(data.X, data.y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(30), "must be finite and not negative"),
        (np.r_[np.ones(29), np.nan], "must be finite and not negative"),
        (np.r_[np.ones(29), np.inf], "must be finite and not negative"),
        (np.ones(29), r"shape \(29,\); one number for each of the 30 rows"),
        (np.ones((30, 1)), r"shape \(30, 1\); one number for each of the 30 rows"),
        (np.zeros(30), "None of the 30 rows is labeled; .* with a weight above 0"),
    ],
)
def test_weights(weights, message):
    data = table()
    with pytest.raises(ValueError, match=message):
        Problem(Exact(Gaussian(1.0))).fit(data.X, data.y, sample_weight=weights)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (-1.0, "alpha is -1.0; a finite number, 0 or more, is needed"),
        (np.nan, "alpha is nan; a finite number, 0 or more, is needed"),
        (np.inf, "alpha is inf; a finite number, 0 or more, is needed"),
        ([0.1, -2.0], "alpha is -2.0; a finite number, 0 or more, is needed"),
        ("auto", "alpha is 'auto'; a number, or a sequence of at least one, is needed"),
        ([], r"alpha is \[\]; a number, or a sequence of at least one, is needed"),
        ([[0.1, 1.0]], r"alpha is \[\[0.1, 1.0\]\]; a number, or a sequence of at"),
    ],
)
@pytest.mark.parametrize("basis", EVERY_BASIS[:2], ids=["dual", "primal"])
def test_alpha(basis, alpha, message):
    data = table()
    with pytest.raises(ValueError, match=message):
        Problem(basis).fit(data.X, data.y, alpha)


def test_one_row():
    with pytest.raises(
        ValueError,
        match=r"needs two rows that differ; got n_samples = 1.*Give the length",
    ):
        Problem().fit([[1.0, 2.0]], [3.0])
    with pytest.raises(ValueError, match="neighbor graph needs at least two rows"):
        Problem(Exact(Gaussian(1.0)), "graph").fit([[1.0, 2.0]], [3.0])


@pytest.mark.parametrize("energy", [None, "gradient"])
@pytest.mark.parametrize("basis", EVERY_BASIS, ids=lambda basis: type(basis).__name__)
def test_one_row_is_its_own_mean(basis, energy):
    fit = Problem(basis, energy).fit([[1.0, 2.0]], [3.0], ALPHA, rng=0)
    assert_allclose(fit.predict([[1.0, 2.0], [50.0, -9.0]]), 3.0, rtol=1e-12)
    assert_array_equal(fit.leave_one_out(), np.inf)
    assert_array_equal(fit.std([[50.0, -9.0]]), np.inf)
    without = Problem(Exact(Gaussian(1.0)), unpenalized=None)
    # (k + lam) c = y with k = 1
    one = without.fit([[1.0, 2.0]], [3.0], ALPHA).predict([[1.0, 2.0]])
    assert_allclose(one, 3.0 / (1 + ALPHA), rtol=1e-12)


def test_one_label_among_many_rows():
    data = table(l=1)
    for lever in LEVERS:
        fit = problem("exact", lever, Constant(), data).fit(data.X, data.y, ALPHA)
        assert_allclose(fit.predict(data.new), data.y[data.labeled][0], rtol=1e-9)
        assert_array_equal(fit.leave_one_out(), np.inf)


def test_a_function_of_features_that_fails():
    data = table()
    bad = Features(lambda x: np.where(x[:, 0] > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="unpenalized features contain NaN or infin"):
        Problem(Exact(Gaussian(1.0)), unpenalized=bad).fit(data.X, data.y)


def test_fits_of_awkward_tables_do_not_warn():
    # Nothing above leaks a warning of NumPy's: the suite makes errors of them.
    data = table()
    data.X[:, 1] = 0.0
    data.X[:5] = data.X[5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in (Gaussian(0.8), Matern(2.5, 0.8), Linear()):
            for basis in (Exact(kernel), Nystrom(kernel, 10)):
                for energy in (None, "gradient", "graph"):
                    for alpha in (0.0, 1e-12, 1e12):
                        fit = Problem(basis, energy).fit(data.X, data.y, alpha, rng=0)
                        assert np.isfinite(fit.predict(data.X)).all()
                        assert not np.isnan(fit.std(data.X)).any()
                        assert not np.isnan(fit.leave_one_out()).any()
        y = np.where(np.arange(30) < 15, -1.0, 1.0)
        posed = Problem(Exact(Gaussian(0.8)), "gradient").pose(data.X, y)
        assert np.isfinite(
            solve_loss(posed.with_loss(Hinge()), 0.1).predict(data.X)
        ).all()


# ---- every lever on every awkward table ----------------------------------------------

AWKWARD = {
    "equal rows": lambda X: np.repeat(X[:6], 4, axis=0),
    "a constant column": lambda X: np.column_stack([X, np.ones(24)]),
    "large": lambda X: X * 1e8,
    "small": lambda X: X * 1e-8,
    "offset": lambda X: X + 1e6,
    "an outlier": lambda X: np.vstack([X[:23], np.full((1, 3), 1e6)]),
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: (X * 10).astype(int),
    "CSR": lambda X: sp.csr_array(np.where(np.abs(X) > 1, X, 0.0)),
    "two rows": lambda X: X[:2],
    "wide": lambda X: np.random.default_rng(1).standard_normal((10, 200)),
}
ANY_BASIS = {
    "exact": Exact(Gaussian()),
    "linear": Exact(Linear()),
    "landmarks": Nystrom(Matern(2.5), 5),
    "kink": Nystrom(Laplace(), 6, "kmeans++"),
    "random": RandomFeatures(Gaussian(), 10),
    "Fredholm": Smoothed(Exact(Gaussian()), KernelWeights(Gaussian())),
    "diffused": Smoothed(Nystrom(Gaussian(), 5), Diffusion(3)),
}


@pytest.mark.filterwarnings("ignore:The unpenalized features")
@pytest.mark.filterwarnings("ignore:The rows of X are more than 10,000 times farther")
@pytest.mark.parametrize("energy", [None, "gradient", "graph"])
@pytest.mark.parametrize("basis", ANY_BASIS)
@pytest.mark.parametrize("awkward", AWKWARD)
def test_finite_or_told_why(awkward, basis, energy, rng):
    X = AWKWARD[awkward](rng.standard_normal((24, 3)))
    n = X.shape[0]
    few = {None: 1, Constant(): 1, Polynomials(1): min(3, n)}  # at most the features
    for unpenalized in few:
        problem = Problem(ANY_BASIS[basis], energy=energy, unpenalized=unpenalized)
        for l in (few[unpenalized], n):
            y = np.where(np.arange(n) < l, np.arange(n) % 3.0, np.nan)
            posed = problem.pose(X, y, rng=0)
            if basis == "diffused" and energy == "gradient":
                with pytest.raises(TypeError, match="Use the energy of a graph"):
                    solve_ridge(posed, 1e-3)
                continue
            for alpha in (0.0, [1e-6, 1.0]):
                fit = solve_ridge(posed, alpha)
                assert np.isfinite(fit.predict(X)).all()
                assert not np.isnan(fit.std(X)).any()
                assert not np.isnan(fit.leave_one_out()).any()
                if alpha != 0.0 and basis != "linear":
                    assert np.abs(fit.predict(X)).max() < 100


@pytest.mark.parametrize(("route", "l"), [("dual", 24), ("svd", 6), ("eigh", 24)])
def test_a_kernel_that_the_features_span_leaves_least_squares(route, l, rng):
    # With unpenalized linear columns, only rounding is left for a linear kernel.
    X = 1e8 * rng.standard_normal((24, 3))
    y = np.full(24, np.nan)
    y[:l] = X[:l] @ [1.0, -2.0, 0.5] / 1e8 + rng.standard_normal(l)
    linear = Linear()
    basis = Exact(linear) if route == "dual" else Nystrom(linear, landmarks=X[:3])
    fit = Problem(basis, unpenalized=Polynomials(1)).fit(X, y, 1e-3)
    F = np.column_stack([np.ones(24), X / 1e8])
    expected = F @ np.linalg.lstsq(F[:l], y[:l], rcond=None)[0]
    assert_allclose(fit.predict(X), expected, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_scales_whose_powers_leave_the_range(scale, rng):
    X = scale * rng.standard_normal((10, 2))
    with pytest.raises(ValueError, match=r"powers of it leave the range.*Rescale"):
        Problem().fit(X, np.arange(10.0))
    Problem(Exact(Linear())).fit(np.zeros((10, 2)), np.arange(10.0))  # 0 is no scale
