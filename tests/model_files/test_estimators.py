"""Every public estimator gives the same results after a round trip, bit by bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import halfmoon as hm
from halfmoon import baselines
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.bases import (
    Exact,
    Nystrom,
    RandomFeatures,
    Smoothed,
    WithDerivatives,
)
from halfmoon.filters import FILTERS, Heat
from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polyharmonic,
    Polynomial,
    ProductLaplace,
    RationalQuadratic,
    ThinPlate,
)
from halfmoon.losses import Hinge, Huber, Logistic, Quantile
from halfmoon.problem import solve_iteratively, solve_loss
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from halfmoon.unpenalized import (
    Constant,
    Eigenfunctions,
    Features,
    GaussianDraws,
    HiddenLayer,
    Polynomials,
)
from optional_modules import optional

pd = optional("pandas")

N, L, D = 60, 24, 3
TABLE = np.random.default_rng(0).normal(size=(N, D))
NEW = np.random.default_rng(1).normal(size=(7, D))
NUMBERS = np.where(np.arange(N) < L, TABLE[:, 0] + np.sin(2 * TABLE[:, 1]) + 5, np.nan)
CLASSES = np.where(np.arange(N) < L, (TABLE[:, 0] > 0).astype(float), np.nan)
WORDS = np.array(
    [None if np.isnan(c) else ("right" if c else "left") for c in CLASSES], dtype=object
)
GRAPH = graph_laplacian(neighbor_graph(TABLE, 5))

KERNELS = {
    "gaussian": Gaussian(),
    "laplace": Laplace(1.2),
    "matern": Matern(2.5),
    "rational": RationalQuadratic(1.0, 1.3),
    "product": ProductLaplace(),
    "linear": Linear(),
    "polynomial": Polynomial(2),
    "nngp": NNGP("tanh"),
    "ntk": NTK(2),
    "sum": Linear() + 0.5 * Gaussian(1.0) * Matern(1.5),
    "name": "matern",
}

NETWORK = MLPRegressor(hidden_layer_sizes=(4,), random_state=0)
UNPENALIZED = {
    "none": None,
    "linear": "linear",
    "degree": 2,
    "columns": [0, 2],
    "several": [Constant(), Polynomials(1)],
    "eigenfunctions": Eigenfunctions([2, 3]),
    "draws": GaussianDraws(2),
    "scaler": StandardScaler(),
    "products": PolynomialFeatures(2, include_bias=False),
    "ufunc": Features(np.tanh),
    "basis": Features(RandomFeatures(NNGP("relu"), 3)),
}


def regressors():
    for name, kernel in KERNELS.items():
        yield f"kernel {name}", hm.ConditionalRegressor(kernel, alpha=1e-3)
    yield "thin plate", hm.ConditionalRegressor(ThinPlate(), "linear", alpha=1e-3)
    yield "hat", hm.ConditionalRegressor(Polyharmonic(1), "constant", alpha=1e-3)
    for name, unpenalized in UNPENALIZED.items():
        yield f"unpenalized {name}", hm.ConditionalRegressor("gaussian", unpenalized)
    for landmarks in ("rpcholesky", "uniform", "kmeans++", "leverage", [0, 3, 30]):
        yield (
            f"landmarks {landmarks}",
            hm.ConditionalRegressor(Gaussian(1.0), n_components=8, landmarks=landmarks),
        )
    for basis in ("exact", "nystrom", "random_features", "derivatives"):
        yield f"basis {basis}", hm.LaplacianRegressor(basis=basis, n_components=9)
    for energy in ("gradient", "graph", GRAPH, sp.csr_matrix(GRAPH), GRAPH.tocoo()):
        name = energy if isinstance(energy, str) else type(energy).__name__
        yield f"energy {name}", hm.LaplacianRegressor(energy=energy, mu=[0.1, 1.0])
    for name in FILTERS:
        yield f"filter {name}", hm.LaplacianRegressor(filter=name, alpha=[0.01, 0.1])
    yield "filter object", hm.LaplacianRegressor(filter=Heat(0.01), covariance="all")
    for smoother in (
        KernelWeights(Gaussian(0.5), normalize=False),
        Neighbors(5),
        Neighbors(4, steps=3, kernel=Gaussian(1.0)),
        Diffusion(6, restart=0.1, repeats=2),
    ):
        yield f"smoother {smoother}", hm.FredholmRegressor(smoother=smoother)
    yield "fredholm", hm.FredholmRegressor("linear", normalize=False)
    yield "huber", hm.ConditionalRegressor(loss="huber", alpha=[1e-3, 1e-2])
    yield "own huber", hm.ConditionalRegressor(loss=Huber(1.0, 2.0), alpha=1e-2)
    yield "quantile", hm.LaplacianRegressor(loss=Quantile(0.9), alpha=1e-2)
    yield "fredholm landmarks", hm.FredholmRegressor(n_components=10)
    yield (
        "own basis",
        hm.LaplacianRegressor(
            basis=Smoothed(Nystrom(Gaussian(), 9), KernelWeights(Gaussian(0.8)))
        ),
    )
    yield "derivatives", hm.LaplacianRegressor(basis=WithDerivatives(Gaussian(1.0)))
    yield "nystrom", hm.NystromFeatures(n_components=9)
    yield "random features", hm.RandomFeatures(n_components=9)
    yield "features", hm.FredholmFeatures(n_components=9, smoother=Diffusion(5))
    yield "eigenmaps", hm.LaplacianEigenmaps(n_landmarks=12)
    yield "graph eigenmaps", hm.LaplacianEigenmaps(energy="graph", basis=Exact())
    yield "verbose", hm.ConditionalRegressor(verbose=1, alpha=1e-3)
    yield "harmonic", baselines.HarmonicRegressor()
    yield "all pairs", baselines.HarmonicRegressor(None, "median")
    yield "all pairs, self-tuned", baselines.HarmonicRegressor(None)
    yield "lap rls", baselines.LapRLSRegressor(n_neighbors=5)
    yield "components", baselines.PrincipalComponentRegressor([1, 2])


def classifiers():
    for lever in (
        *(hm.ConditionalClassifier, hm.FredholmClassifier, hm.LaplacianClassifier),
        *(baselines.LapRLSClassifier, baselines.RLSClassifier),
    ):
        yield lever.__name__, lever()
    yield "hinge", hm.FredholmClassifier(loss="hinge", alpha=[1e-3, 1e-2])
    yield "hinge, one alpha", hm.LaplacianClassifier(loss="hinge", alpha=1e-3)
    yield "logistic", hm.ConditionalClassifier(loss=Logistic(), alpha=[1e-3, 1e-2])
    yield "harmonic", baselines.HarmonicClassifier()
    yield "spreading", baselines.LabelSpreadingClassifier()
    yield "tsvm", baselines.TSVMClassifier()
    yield "tsvm landmarks", baselines.TSVMClassifier("gaussian", n_components=9)


def seeded(model):
    params = model.get_params(deep=False)
    if "random_state" in params and params["random_state"] is None:
        model = model.set_params(random_state=0)
    return model


def fitted(model, X, y, **weights):
    if isinstance(y, np.ndarray) and hasattr(model, "transform"):
        return seeded(model).fit(X)
    return seeded(model).fit(X, y, **weights)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [pytest.param(model, id=name) for name, model in regressors()]
)
def test_regressors_and_transformers(model, round_trip, answers, assert_same):
    model = fitted(clone(model), TABLE, NUMBERS)
    loaded = round_trip(model)
    assert_same(answers(loaded, NEW), answers(model, NEW))
    assert repr(loaded) == repr(model)
    assert repr(clone(loaded)) == repr(clone(model))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [pytest.param(model, id=name) for name, model in classifiers()]
)
@pytest.mark.parametrize("labels", [CLASSES, WORDS], ids=["numbers", "words"])
def test_classifiers(model, labels, round_trip, answers, assert_same):
    model = fitted(clone(model), TABLE, labels)
    loaded = round_trip(model)
    assert_same(answers(loaded, NEW), answers(model, NEW))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert_array_equal(loaded.classes_, model.classes_)


TABLES = {
    "float32": TABLE.astype(np.float32),
    "fortran": np.asfortranarray(TABLE),
    "strided": np.repeat(TABLE, 2, axis=1)[:, ::2],
    "csr": sp.csr_array(np.where(np.abs(TABLE) > 0.5, TABLE, 0.0)),
    "csr matrix": sp.csr_matrix(np.where(np.abs(TABLE) > 0.5, TABLE, 0.0)),
    "frame": pd.DataFrame(TABLE, columns=["a", "b<script>", "ç"]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "model",
    [
        hm.ConditionalRegressor(n_components=9),
        hm.FredholmRegressor(smoother=Neighbors(5)),
        hm.LaplacianRegressor(energy="graph"),
        baselines.HarmonicRegressor(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tables(table, model, round_trip, answers, assert_same):
    X = TABLES[table]
    weights = np.linspace(0.5, 1.5, N)
    weighed = {} if "Harmonic" in repr(model) else {"sample_weight": weights}
    model = fitted(clone(model), X, NUMBERS, **weighed)
    new = X[:7] if hasattr(X, "dtype") else X.iloc[:7]
    loaded = round_trip(model)
    assert_same(answers(loaded, new), answers(model, new))
    if table == "frame":
        assert loaded.feature_names_in_.tolist() == list(X.columns)


def test_a_memory_map_becomes_an_array(tmp_path, round_trip):
    np.save(tmp_path / "table.npy", TABLE)
    X = np.load(tmp_path / "table.npy", mmap_mode="r")
    model = hm.ConditionalRegressor(alpha=1e-3).fit(X, NUMBERS)
    assert_array_equal(round_trip(model).predict(NEW), model.predict(NEW))


def test_precomputed_kernel(round_trip):
    K = Gaussian(1.0)(TABLE)
    model = hm.ConditionalRegressor("precomputed", alpha=1e-3).fit(K, NUMBERS)
    new = Gaussian(1.0)(NEW, TABLE)
    assert_array_equal(round_trip(model).predict(new), model.predict(new))


def test_several_targets(round_trip, answers, assert_same):
    Y = np.c_[NUMBERS, 2 * NUMBERS - 1]
    model = hm.LaplacianRegressor(n_components=9, random_state=0).fit(TABLE, Y)
    assert_same(answers(round_trip(model), NEW), answers(model, NEW))


def test_hidden_layer(round_trip, answers, assert_same):
    network = NETWORK.set_params(tol=1.0).fit(TABLE[:L], NUMBERS[:L])
    model = hm.ConditionalRegressor(
        "gaussian", HiddenLayer(network, trained_on_labels=False), alpha=1e-3
    ).fit(TABLE, NUMBERS)
    assert_same(answers(round_trip(model), NEW), answers(model, NEW))


def test_problem_and_fit(round_trip):
    problem = hm.Problem(
        Smoothed(Nystrom(Gaussian(0.5), 20), KernelWeights(Gaussian(0.3))),
        energy="gradient",
        unpenalized=Polynomials(1),
    )
    fit = problem.fit(TABLE, NUMBERS, alpha=[1e-6, 1e-3], rng=0)
    again = round_trip(problem).fit(TABLE, NUMBERS, alpha=[1e-6, 1e-3], rng=0)
    assert_array_equal(again.predict(NEW), fit.predict(NEW))
    loaded = round_trip(fit)
    assert_array_equal(loaded.predict(NEW), fit.predict(NEW))
    assert_array_equal(loaded.std(NEW), fit.std(NEW))
    assert_array_equal(loaded.leave_one_out(), fit.leave_one_out())
    assert_array_equal(loaded.smoother_matrix(NEW), fit.smoother_matrix(NEW))
    assert loaded.loo_score == fit.loo_score


def test_other_solvers(round_trip):
    posed = hm.Problem(Exact(Gaussian(1.0))).pose(TABLE, 2 * CLASSES - 1)
    for fit in (
        solve_iteratively(posed, 1e-3, rng=0)[0],
        solve_loss(posed.with_loss(Hinge()), 1e-2),
    ):
        assert_array_equal(round_trip(fit).predict(NEW), fit.predict(NEW))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unpenalized", ["auto", "linear"])
def test_halfmoon_regressor(unpenalized, round_trip, answers, assert_same):
    model = hm.HalfmoonRegressor(unpenalized, budget=0.1, random_state=0)
    model.fit(TABLE, NUMBERS)
    assert_same(answers(round_trip(model), NEW), answers(model, NEW))


@pytest.mark.filterwarnings("ignore")
def test_halfmoon_classifier(round_trip, answers, assert_same):
    model = hm.HalfmoonClassifier(budget=0.1, random_state=0, safe=False)
    model.fit(TABLE, WORDS)
    assert_same(answers(round_trip(model), NEW), answers(model, NEW))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_labels", [30, 2_500])  # by kernels; at landmarks
def test_halfmoon_with_few_and_many_labels(n_labels, round_trip, answers, assert_same):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 4))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2])
    y[n_labels:] = np.nan
    model = hm.HalfmoonRegressor(random_state=0, budget=10).fit(X, y)
    assert_same(answers(round_trip(model), X[:5]), answers(model, X[:5]))
    labels = np.where(np.isnan(y), None, np.where(y > 0, "yes", "no"))
    model = hm.HalfmoonClassifier(random_state=0, budget=10, safe=False).fit(X, labels)
    assert_same(answers(round_trip(model), X[:5]), answers(model, X[:5]))


def test_saving_does_not_change_the_model(round_trip, answers, assert_same):
    model = hm.FredholmRegressor(smoother=Neighbors(5), alpha=1e-3).fit(TABLE, NUMBERS)
    before, held = answers(model, NEW), set(vars(model.solution_.posed))
    round_trip(model)
    assert set(vars(model.solution_.posed)) == held
    assert_same(answers(model, NEW), before)


@pytest.mark.parametrize("name", sorted(set(hm.__all__) | set(baselines.__all__)))
def test_unfitted(name, round_trip):
    cls = getattr(hm, name, None) or getattr(baselines, name)
    if not isinstance(cls, type) or cls is hm.Fit:
        return
    model = cls()
    loaded = round_trip(model)
    assert type(loaded) is cls
    assert repr(loaded) == repr(model)
    assert set(vars(loaded)) == set(vars(model))


def test_shared_arrays_are_stored_once(tmp_path, saved):
    X = np.random.default_rng(0).normal(size=(400, 10))
    y = np.where(np.arange(400) < 30, X[:, 0], np.nan)
    model = hm.FredholmRegressor(alpha=1e-3).fit(X, y)
    hm.save(model, tmp_path / "model")
    fit = hm.load(tmp_path / "model").solution_
    assert fit.posed.X is fit.posed.basis.smoother_.rows_
    assert (tmp_path / "model").stat().st_size < 1.5 * X.nbytes
