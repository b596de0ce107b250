"""Input that must be understood or refused in plain words, never misread in silence."""

import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import halfmoon as hm
from halfmoon.baselines import LapRLSRegressor, PrincipalComponentRegressor
from halfmoon.kernels import Gaussian, Matern, Polynomial
from halfmoon.smoothers import Neighbors
from halfmoon.weak import IntervalRegressor
from optional_modules import optional

pd = optional("pandas")
pl = optional("polars")

N = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
LABELED = np.arange(N) < 12
Y = np.where(LABELED, X[:, 0] + 0.1 * RNG.normal(size=N), np.nan)
GRAM = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 4)
DAYS = np.datetime64("2020-01-01") + np.arange(N)

REGRESSORS = [
    hm.ConditionalRegressor(),
    hm.LaplacianRegressor(),
    hm.FredholmRegressor(),
    LapRLSRegressor(),
    PrincipalComponentRegressor(),
]
regressors = pytest.mark.parametrize(
    "model", REGRESSORS, ids=lambda model: type(model).__name__
)


@regressors
def test_a_masked_label_is_a_missing_one(model):
    expected = model.fit(X, Y).predict(X)
    masked = np.ma.masked_array(np.where(LABELED, Y, 99.0), mask=~LABELED)
    assert_array_equal(model.fit(X, masked).predict(X), expected)
    classes = np.where(LABELED, X[:, 0] > 0, 7).astype(int)
    model = hm.ConditionalClassifier()
    model.fit(X, np.ma.masked_array(classes, mask=~LABELED))
    assert_array_equal(model.classes_, [0, 1])
    assert model.n_labeled_ == 12


def test_a_masked_label_of_a_problem_and_masked_weights():
    stated = hm.Problem(hm.bases.Exact(Gaussian(1.0)))
    masked = np.ma.masked_array(np.where(LABELED, Y, 99.0), mask=~LABELED)
    assert_array_equal(stated.fit(X, masked).theta, stated.fit(X, Y).theta)
    weights = np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3)
    with pytest.raises(ValueError, match="sample_weight has 1 masked entries"):
        stated.fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="X has 1 masked entries; numbers are needed"):
        Gaussian(1.0)(np.ma.masked_array(X, mask=np.arange(3 * N).reshape(N, 3) == 4))


@regressors
def test_tables_that_are_refused(model):
    masked = np.ma.masked_array(X, mask=np.arange(3 * N).reshape(N, 3) == 4)
    frame = pd.DataFrame({"a": X[:, 0], "day": DAYS})
    times = pl.DataFrame({"a": X[:, 0], "at": [datetime.time(i) for i in range(N)]})
    for rows, message in [
        (masked, "Input X contains NaN: 1 missing cell in column 1"),
        (np.column_stack([DAYS, DAYS]), "X has dates or times in column 0. Use half"),
        (frame, "X has dates or times in column 'day'"),
        (times, "X has dates or times in column 'at'"),
        (X * 1e300, r"The largest entry of X is 2e\+300, and powers of it leave"),
        (X * 1e-300, "The largest entry of X is 2e-300, and powers of it leave"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(rows, Y)


@regressors
def test_labels_that_are_refused(model):
    # Squares of those numbers are infinite or 0, and so were leave-one-out errors.
    for labels, message in [
        (Y * 1e300, r"The largest number in y is 2e\+300, and its square leaves"),
        (Y * 1e-300, "The largest number in y is 2e-300, and its square leaves"),
        (DAYS, "y has dates or times .datetime64.D..; a regression needs numbers"),
        (DAYS - DAYS[0], "y has dates or times .timedelta64.D.."),
        ((DAYS - DAYS[0]).tolist(), "y has dates or times .object.; a regression"),
        (pd.Series(DAYS), "y has dates or times .object.; a regression"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)


def test_classes_that_are_refused():
    for labels, message in [
        ([b"a", b"b"] * 12, "Unknown label type: y has labels of type bytes; numbers"),
        ([3] * 12 + [None] * 12, "All 12 labels are of one class, 3; labels of at"),
    ]:
        with pytest.raises(ValueError, match=message):
            hm.ConditionalClassifier().fit(X, np.array(labels, dtype=object))


@pytest.mark.parametrize(
    "model", [hm.ConditionalRegressor(Gaussian(1.0)), hm.FredholmRegressor()], ids=repr
)
def test_new_rows_that_are_far_away(model):
    model.fit(X, Y)
    assert np.isfinite(model.predict(1e140 * X)).all()
    assert_allclose(model.predict(1e-200 * X), model.predict(0 * X), rtol=1e-12)
    with pytest.raises(ValueError, match=r"The largest entry of X is 2e\+200"):
        model.predict(1e200 * X)


@pytest.mark.parametrize("n_components", [None, 8])
def test_a_kernel_matrix_must_be_symmetric(n_components):
    model = hm.ConditionalRegressor(
        "precomputed", n_components=n_components, random_state=0
    )
    upper = np.triu(GRAM)  # of which factorizations would read the zeros only
    with pytest.raises(ValueError, match="precomputed kernel is not symmetric: entry"):
        model.fit(upper, Y)
    both = hm.FredholmRegressor("precomputed", inner_kernel="precomputed")
    with pytest.raises(ValueError, match="precomputed kernel is not symmetric: entry"):
        both.fit(upper, Y)
    k = Gaussian(1.0)
    model.set_params(kernel=lambda A, B: k(A, B) * (2 + np.sign(A[:, :1] - B[:, 0])))
    with pytest.raises(ValueError, match=r"The kernel matrix of .* not symmetric"):
        model.fit(X, Y)
    rounded = GRAM.astype(np.float32)
    rounded[0, 1] *= 1 + 1e-6
    model.set_params(kernel="precomputed", n_components=None, alpha=1e-3)
    expected = model.fit(GRAM, Y).predict(GRAM)
    assert_allclose(model.fit(rounded, Y).predict(GRAM), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (-sp.eye_array(N), "negative on the diagonal .-1.; a symmetric one, D - W"),
        (sp.eye_array(N) + sp.eye_array(N, k=1), "Laplacian is not symmetric"),
        (np.nan * sp.eye_array(N), "Laplacian contains NaN or infinity"),
    ],
)
def test_graphs_that_are_no_energy(graph, message):
    with pytest.raises(ValueError, match=message):
        hm.LaplacianRegressor(energy=graph.tocsr()).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": True}, "alpha is True; 'auto', a number, or a sequence"),
        ({"alpha": None}, "alpha is None; 'auto', a number, or a sequence"),
        ({"alpha": np.inf}, "alpha is inf; a finite number, 0 or more, is needed"),
        ({"smoother": Neighbors}, "smoother is <class .*; None, or a smoother of"),
        ({"kernel": Gaussian(1e-300)}, "length_scale is 1e-300, and powers of it"),
        ({"kernel": Gaussian(1e300)}, r"length_scale is 1e\+300, and powers of it"),
        ({"kernel": Matern(nu="a")}, "Matern has nu='a'; 0.5, 1.5 or 2.5 is needed"),
        ({"kernel": lambda A, B: 1j * A @ B.T}, "values of dtype complex128; real"),
        ({"landmarks": None}, "landmarks is None; one of 'rpcholesky', .* row numbers"),
        ({"landmarks": [0, 99]}, "landmarks range from row 0 to 99; numbers from 0"),
        ({"unpenalized": []}, r"\[\], which names none\. Name a column, or use unpen"),
        ({"unpenalized": [99]}, r"Columns are \[99\], but X has 3 columns; numbers"),
        (
            {"unpenalized": lambda A: np.ones(5)},
            r"features have shape \(5,\) for 1 row",
        ),
        ({"unpenalized": lambda A: "no"}, "features cannot be read as numbers"),
    ],
    ids=lambda value: str(value).split(" at 0x")[0],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        hm.FredholmRegressor(**parameters).fit(X, Y)


def test_rows_that_are_all_equal_have_no_directions():
    model = PrincipalComponentRegressor().fit(np.ones((N, 3)), Y)
    assert_allclose(model.predict(np.ones((1, 3))), Y[LABELED].mean())


def test_intervals_that_are_open_or_extreme():
    ends = np.column_stack([np.full(N, -np.inf), np.nan_to_num(Y)])
    model = IntervalRegressor().fit(X, ends)  # one number is below all of them
    assert (model.predict(X) <= ends[:, 1] + 1e-9).all()
    with pytest.raises(ValueError, match=r"The largest number in y is 2e\+300"):
        model.fit(X, 1e300 * np.column_stack([Y, Y]))


@pytest.mark.parametrize("bad", [0, 2.5, "a", None, True])
def test_numbers_of_random_features(bad):
    with pytest.raises(ValueError, match=f"n_components is {bad!r}; 1, 2, 3, ... is"):
        hm.RandomFeatures(n_components=bad).fit(X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (hm.ConditionalRegressor(Polynomial(100)), "degree=100. leaves the range of"),
        (hm.LaplacianRegressor(Polynomial(100)), "degree=100. leaves the range of"),
        (hm.ConditionalRegressor(unpenalized=100), "of degree 100 leave the range of"),
    ],
    ids=repr,
)
def test_powers_that_overflow(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(1e6 * X[:, :1], Y)


def test_parts_of_a_problem_that_are_no_parts():
    for parts, message in [
        ({"basis": Gaussian(1.0)}, r"basis is Gaussian.*; an object of halfmoon.bases"),
        ({"basis": None}, "basis is None; an object of halfmoon.bases, such as Exact"),
        (
            {"unpenalized": "linear"},
            "unpenalized is 'linear'; an object of halfmoon.un",
        ),
    ]:
        with pytest.raises(TypeError, match=message):
            hm.Problem(**{"basis": hm.bases.Exact(Gaussian(1.0)), **parts}).fit(X, Y)
    stated = hm.Problem(hm.bases.Exact(Gaussian(1.0)))
    with pytest.raises(ValueError, match="y has dates or times"):
        stated.fit(X, DAYS)
    with pytest.raises(ValueError, match="alpha is None; a number, or a sequence"):
        stated.fit(X, Y, None)


@pytest.mark.parametrize(
    "use",
    [
        lambda: hm.bases.Exact(Gaussian(1.0)).transform(X),
        lambda: hm.bases.Nystrom(Gaussian(1.0), 5).penalty(),
        lambda: hm.unpenalized.Polynomials(1).transform(X),
        lambda: hm.unpenalized.Eigenfunctions(2).transform(X),
        lambda: Neighbors(3).weights(X),
    ],
    ids=["exact", "nystrom", "polynomials", "eigenfunctions", "neighbors"],
)
def test_parts_that_are_not_fitted(use):
    with pytest.raises(NotFittedError, match="is not fitted yet; call fit"):
        use()
    assert not hasattr(hm.bases.Exact(Gaussian(1.0)), "rows_")
    with pytest.raises(AttributeError, match="'Neighbors' object has no attribute 'k'"):
        Neighbors(3).k  # noqa: B018


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_sparse_entries_outside_of_the_matrix_are_refused(form):
    broken = sp.csr_array(X).asformat(form)
    places = broken.coords[1] if form == "coo" else broken.indices
    places[3] = 10**8
    with pytest.raises(ValueError, match="has an entry at index 100000000, outside"):
        hm.ConditionalRegressor(random_state=0).fit(broken, Y)


@pytest.mark.parametrize("change", [(0, 1), (2, 10**6), (3, 0), (-1, 10**6)])
def test_row_ends_that_do_not_rise_are_refused(change):
    broken = sp.csr_array(X)
    broken.indptr[change[0]] = change[1]
    with pytest.raises(ValueError, match=r"X is a damaged CSR matrix: its indptr"):
        hm.ConditionalRegressor(random_state=0).fit(broken, Y)


HUGE = 10**400  # a whole number beyond the range of floating-point numbers


def test_whole_numbers_beyond_the_range_are_refused():
    rows = np.full((N, 3), HUGE, dtype=object)
    targets = np.where(LABELED, HUGE, None)
    model = hm.LaplacianRegressor()
    with pytest.raises(ValueError, match=r"X has a number that is too large: int"):
        model.fit(rows, Y)
    with pytest.raises(ValueError, match=r"y cannot be read as numbers .int too large"):
        model.fit(X, targets)
    targets[0] = 1
    with pytest.raises(ValueError, match=r"y has a label that is too large: int"):
        hm.LaplacianClassifier().fit(X, targets)
    with pytest.raises(ValueError, match=r"sample_weight cannot be read .*int too"):
        model.fit(X, Y, sample_weight=[HUGE] * N)


@pytest.mark.parametrize("name", ["alpha", "mu", "memory_limit"])
def test_parameters_beyond_the_range_are_refused(name):
    with pytest.raises(ValueError, match=rf"^{name} is 10{{400}}; "):
        hm.LaplacianRegressor(**{name: HUGE}).fit(X, Y)
    with pytest.raises(ValueError, match=r"^budget is 10{400}; "):
        hm.HalfmoonRegressor(budget=HUGE).fit(X, Y)


def test_complex_weights_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight .*they are complex"):
        hm.LaplacianRegressor().fit(X, Y, sample_weight=np.ones(N) + 1j)
