"""Dask tables give the same results as rows in memory, lazily."""

import logging
import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import halfmoon
from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmFeatures,
    FredholmRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianEigenmaps,
    LaplacianRegressor,
    NystromFeatures,
    RandomFeatures,
)
from halfmoon import _moments as forecast
from halfmoon._costs import EnergyCost
from halfmoon.baselines import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
    LapRLSRegressor,
    RLSClassifier,
)
from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor
from optional_modules import optional

da = optional("dask.array")
dask = optional("dask")
dd = optional("dask.dataframe")
pd = optional("pandas")

SIZES = (300, 1, 499, 400)
K = Gaussian(1.5)


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def in_dask(X, sizes=SIZES):
    return da.from_array(X, chunks=(sizes, *((size,) for size in X.shape[1:])))


def in_frames(X, y=None, npartitions=4):
    df = pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]])
    if y is not None:
        df["target"] = y
    return dd.from_pandas(df, npartitions=npartitions)


def landmarks(X):
    return X[::40]


LEVERS = {
    "laplacian": lambda X: LaplacianRegressor(
        K, alpha=1e-3, landmarks=landmarks(X), unpenalized="constant"
    ),
    "laplacian, leave-one-out": lambda X: LaplacianRegressor(
        K, alpha=[1e-3, 1e-1], landmarks=landmarks(X)
    ),
    "random features": lambda X: LaplacianRegressor(
        K, alpha=1e-3, basis="random_features", n_components=40, random_state=0
    ),
    "conditional": lambda X: ConditionalRegressor(K, alpha=1e-3),
    "nystrom": lambda X: ConditionalRegressor(K, alpha=1e-3, landmarks=landmarks(X)),
    "linear": lambda X: ConditionalRegressor(K, "linear", alpha=1e-3),
}


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("name", LEVERS)
def test_a_fit_of_partitions_is_the_fit_of_rows_in_memory(table, name):
    X, y = table
    here = LEVERS[name](X).fit(X, y)
    there = LEVERS[name](X).fit(in_dask(X), y)
    assert_allclose(there.predict(X), here.predict(X), atol=1e-10)
    assert_allclose(
        there.predict(X, return_std=True)[1],
        here.predict(X, return_std=True)[1],
        atol=1e-8,
    )
    assert there.loo_score_ == pytest.approx(here.loo_score_, abs=1e-10)
    assert (there.mu_, there.n_labeled_) == (here.mu_, here.n_labeled_)
    assert_array_equal(there._labeled_places, here._labeled_places)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplacianClassifier(random_state=0),
        lambda: LaplacianClassifier(n_components=30, random_state=0),
        lambda: ConditionalClassifier(random_state=0),
        pytest.param(
            lambda: HalfmoonClassifier(budget=600, random_state=0),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["exact", "landmarks", "conditional", "halfmoon"],
)
def test_a_small_table_is_brought_home_and_fitted_as_it_is(table, make):
    """Even what is drawn at random is the same."""
    X, y = (
        table[0][:300],
        np.array(["low", "high"], dtype=object)[(table[1][:300] > 0).astype(int)],
    )
    y[~np.isfinite(table[1][:300])] = None
    here, there = make().fit(X, y), make().fit(in_dask(X, (100, 200)), y)
    assert_array_equal(there.predict_proba(X), here.predict_proba(X))


@pytest.mark.usefixtures("small_samples")
def test_workers_and_schedulers_change_no_bit(table):
    X, y = table
    model = LaplacianRegressor(n_components=30, random_state=0)
    answers = []
    for scheduler, workers in (("synchronous", 1), ("threads", 2), ("threads", 4)):
        with dask.config.set(scheduler=scheduler, num_workers=workers):
            model.fit(in_dask(X), in_dask(y))
            answers.append(model.predict(in_dask(X)).compute())
    assert_array_equal(answers[1], answers[0])
    assert_array_equal(answers[2], answers[0])


@pytest.mark.usefixtures("small_samples")
def test_landmarks_are_chosen_among_rows_of_every_partition(table):
    X, y = table
    model = LaplacianRegressor(n_components=40, random_state=0).fit(in_dask(X), y)
    Z = model.solution_.posed.basis.sections.Z
    rows = (X[:, None, 0] == Z[None, :, 0]).argmax(axis=0)
    assert_array_equal(X[rows], Z)
    assert np.histogram(rows, [0, 300, 800, 1200])[0].min() >= 3


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("method", ["uniform", "kmeans++", "leverage"])
def test_every_method_of_landmarks(table, method):
    X, y = table
    model = LaplacianRegressor(K, n_components=30, landmarks=method, random_state=0)
    here, there = model.fit(X, y).score(X, y), model.fit(in_dask(X), y).score(X, y)
    assert there == pytest.approx(here, abs=0.1)


# ---- y ---------------------------------------------------------------------------


@pytest.mark.usefixtures("small_samples")
def test_y_of_every_make_is_the_same(table):
    X, y = table
    frames = in_frames(X, y)
    rows = frames[["a", "b", "c"]]
    model = LEVERS["laplacian"](X)
    expected = model.fit(X, y).predict(X)
    for Xd, yd in (
        (in_dask(X), y),
        (in_dask(X), y.tolist()),
        (in_dask(X), in_dask(y)),
        (in_dask(X), in_dask(y, (600, 600))),
        (in_dask(X), in_dask(y[:, None])),
        (rows, frames["target"]),
        (rows, frames[["target"]]),
        (rows, y),
        (rows, frames["target"].values),
        (rows.values, frames["target"]),
        (rows.values, y),
    ):
        names = hasattr(Xd, "columns")
        query = pd.DataFrame(X, columns=["a", "b", "c"]) if names else X
        values = LEVERS["laplacian"](X).fit(Xd, yd).predict(query)
        assert_allclose(values.ravel(), expected, atol=1e-10)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("missing", [None, np.nan])
def test_classes_as_text_and_codes(table, missing):
    X, y = table
    text = np.where(y > 0, "yes", "no").astype(object)
    text[np.isnan(y)] = missing
    codes = np.where(np.isnan(y), -1, (y > 0).astype(int))
    model = LaplacianClassifier(K, alpha=1e-3, landmarks=landmarks(X))
    expected = model.fit(X, text).predict(X)
    frames = in_frames(X, text)
    model.fit(frames[["a", "b", "c"]], frames["target"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.predict(frames[["a", "b", "c"]]).compute(), expected)
    model.set_params(unlabeled=-1).fit(in_dask(X), in_dask(codes))
    assert model.classes_.tolist() == [0, 1]
    assert_array_equal(model.predict(X) == 1, expected == "yes")


@pytest.mark.usefixtures("small_samples")
def test_weights_and_rows_of_weight_0(table, rng):
    X, y = table
    w = rng.integers(0, 3, len(X)).astype(float)
    model = LaplacianRegressor(K, alpha=0.1, landmarks=landmarks(X))
    expected = clone(model).fit(X, y, w)
    for given in (w, in_dask(w)):
        model.fit(in_dask(X), y, sample_weight=given)
        assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)
        assert_array_equal(model._labeled_places, expected._labeled_places)


# ---- answers ---------------------------------------------------------------------


def test_answers_are_lazy_and_of_the_same_kind(table):
    X, y = table
    model = ConditionalRegressor(K, alpha=1e-3).fit(X, y)
    Xd = in_dask(X)
    values, std = model.predict(Xd, return_std=True)
    for lazy in (model.predict(Xd), values, std):
        assert isinstance(lazy, da.Array)
        assert lazy.chunks == (SIZES,)
        assert lazy.dtype == np.float64
    here = model.predict(X, return_std=True)
    assert_allclose(values.compute(), here[0], atol=1e-12)
    assert_allclose(std.compute(), here[1], atol=1e-12)
    low, high = model.predict_interval(Xd, level=0.8)
    assert_allclose(low.compute(), model.predict_interval(X, 0.8)[0], atol=1e-12)
    assert_allclose(high.compute(), model.predict_interval(X, 0.8)[1], atol=1e-12)


@pytest.mark.usefixtures("small_samples")
def test_outputs_with_gaps(table, tmp_path):
    X, y = table
    other = np.where(np.arange(len(y)) % 7 == 0, X[:, 2], np.nan)
    Y = np.column_stack([y, other])
    model = LaplacianRegressor(K, alpha=0.1, landmarks=landmarks(X))
    here = clone(model).fit(X, Y).predict(X)
    model.fit(in_dask(X), in_dask(Y))
    assert_allclose(model.predict(in_dask(X)).compute(), here, atol=1e-10)
    halfmoon.save(model, tmp_path / "model.halfmoon")


def test_several_targets(table):
    X, y = table
    Y = np.column_stack([y, 2 * y, -y])
    model = ConditionalRegressor(K, alpha=1e-3).fit(in_dask(X), in_dask(Y))
    values, std = model.predict(in_dask(X), return_std=True)
    assert values.chunks == std.chunks == (SIZES, (3,))
    assert_allclose(values.compute(), model.predict(X), atol=1e-12)
    frames = in_frames(X)
    named = model.predict(frames.values)
    assert named.shape[1] == 3
    model = ConditionalRegressor(K, alpha=1e-3).fit(frames, Y)
    values, std = model.predict(frames, return_std=True)
    assert list(values.columns) == list(std.columns) == [0, 1, 2]
    assert_allclose(std.compute(), model.predict(frames.compute(), True)[1], atol=1e-12)


def test_answers_to_frames_keep_their_index(table):
    X, y = table
    names = np.where(np.isnan(y), None, np.where(y > 0, "yes", "no"))
    df = pd.DataFrame(X, columns=list("abc"), index=np.arange(len(X)) * 2)
    frames = dd.from_pandas(df, npartitions=3)
    model = ConditionalClassifier(K, alpha=1e-3).fit(df, names)
    found = model.predict(frames)
    assert found.dtype == found.compute().dtype
    assert found.name == "prediction"
    assert_array_equal(found.compute(), model.predict(df))
    assert_array_equal(found.compute().index, df.index)
    probabilities = model.predict_proba(frames)
    assert list(probabilities.columns) == ["no", "yes"]
    assert_allclose(probabilities.compute(), model.predict_proba(df), atol=1e-12)
    scores = model.decision_function(frames).compute()
    assert_allclose(scores, model.decision_function(df), atol=1e-12)


def test_answers_are_those_of_the_model_as_it_was(table):
    X, y = table
    model = ConditionalRegressor(K, alpha=1e-3).fit(X, y)
    lazy, expected = model.predict(in_dask(X)), model.predict(X)
    model.fit(X, -y)
    assert_allclose(lazy.compute(), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "features",
    [
        NystromFeatures(K, 20, random_state=0),
        RandomFeatures(K, 20, random_state=0),
        FredholmFeatures(K, K, n_components=20, random_state=0),
        LaplacianEigenmaps(2, K, n_landmarks=20, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_features_of_rows(table, features, dtype):
    X = table[0].astype(dtype)
    features.fit(in_dask(X))
    lazy = features.transform(in_dask(X))
    assert lazy.dtype == dtype
    here = features.transform(X)
    assert lazy.chunks == (SIZES, (here.shape[1],))
    assert_allclose(lazy.compute(), here, atol=1e-5 if dtype == np.float32 else 1e-12)
    frames = features.fit(in_frames(X)).transform(in_frames(X))
    assert list(frames.columns) == list(features.get_feature_names_out())


@pytest.mark.usefixtures("small_samples")
def test_eigenmaps_are_those_of_all_rows(table):
    X, _ = table
    maps = LaplacianEigenmaps(3, K, landmarks=landmarks(X))
    here, there = maps.fit(X).transform(X), maps.fit(in_dask(X)).transform(X)
    # The sign is that of the largest value of the rows at hand.
    there = there * np.sign((here * there).sum(axis=0))
    assert_allclose(there, here, atol=1e-8)
    assert_allclose(there.std(axis=0), 1.0, atol=1e-8)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(
    "model",
    [
        FredholmRegressor(K, K, alpha=1e-3),
        HalfmoonRegressor(budget=0.1),
        HarmonicRegressor(),
        LapRLSRegressor(),
        LaplacianRegressor(energy="graph", n_components=30),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_regressor_learns_and_answers(table, model):
    X, y = table
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(in_dask(X), in_dask(y))
    values = model.predict(in_dask(X))
    assert values.chunks == (SIZES,)
    assert_allclose(values.compute(), model.predict(X), atol=1e-9)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(
    "model",
    [HarmonicClassifier(), LabelSpreadingClassifier(), RLSClassifier()],
    ids=lambda each: type(each).__name__,
)
def test_every_classifier_learns_and_answers(table, model):
    X, y = table
    model.fit(in_dask(X), np.where(np.isnan(y), np.nan, y > 0))
    assert_array_equal(model.predict(in_dask(X)).compute(), model.predict(X))
    score = model.score(in_dask(X), np.where(np.isnan(y), np.nan, y > 0))
    assert score == model.score(X, np.where(np.isnan(y), np.nan, y > 0))


@pytest.mark.usefixtures("small_samples")
def test_weak_labels(table):
    X, y = table
    ends = np.column_stack([y - 0.1, y + 0.1])
    model = IntervalRegressor(kernel=K, alpha=1e-3).fit(in_dask(X), in_dask(ends))
    assert_allclose(model.predict(in_dask(X)).compute(), model.predict(X), atol=1e-12)
    known = ~np.isnan(y)
    sets = np.ones((len(y), 2), dtype=bool)
    sets[known, (y[known] > 0).astype(int)] = False
    model = CandidateSetClassifier(kernel=K, alpha=1e-3).fit(in_dask(X), in_dask(sets))
    assert_array_equal(model.predict(in_dask(X)).compute(), model.predict(X))


def test_score_is_that_of_the_labeled_rows(table):
    X, y = table
    model = ConditionalRegressor(K, alpha=1e-3).fit(X, y)
    expected = model.score(X, y)
    assert model.score(in_dask(X), in_dask(y)) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="None of the 1,200 rows to score"):
        model.score(in_dask(X), np.full(len(y), np.nan))


# ---- the model ---------------------------------------------------------------------


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(
    "model",
    [
        LaplacianRegressor(n_components=30, random_state=0),
        ConditionalRegressor(random_state=0),
        HalfmoonRegressor(budget=0.1, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_model_is_local_and_can_be_saved(table, model, tmp_path):
    X, y = table
    model.fit(in_dask(X), in_dask(y))
    halfmoon.save(model, tmp_path / "model.halfmoon")
    loaded = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    loaded_std = loaded.predict(X[:9], return_std=True)[1]
    assert_allclose(loaded_std, model.predict(X[:9], return_std=True)[1], rtol=1e-9)
    assert model._all_rows is None
    for name, value in vars(model).items():
        assert not type(value).__module__.startswith("dask"), name


@pytest.mark.usefixtures("small_samples")
def test_energy_and_explanations_of_a_model_from_partitions(table):
    X, y = table
    make = LEVERS["laplacian"]
    here, there = make(X).fit(X, y), make(X).fit(in_dask(X), y)
    assert there.dirichlet_energy() == pytest.approx(here.dirichlet_energy(), rel=1e-9)
    ours, theirs = here.explain(X[:2]), there.explain(X[:2])
    assert_allclose(theirs.weights, ours.weights, atol=1e-9)
    assert [each.row for each in theirs.speaks_for(0)] == [
        each.row for each in ours.speaks_for(0)
    ]


def test_a_client_is_handed_down_but_never_stored():
    client = object()
    with Stream(client=client).handed_down():
        assert Stream.inherited().client is client
        assert LaplacianRegressor()._stream.client is client
        assert NystromFeatures()._stream.client is client
    assert pickle.loads(pickle.dumps(Stream("1MB", client=client))) == Stream("1MB")


@pytest.mark.usefixtures("small_samples")
def test_an_exact_basis_gives_way_to_landmarks_with_a_line_in_the_log(table, caplog):
    X, y = table
    caplog.set_level(logging.INFO, "halfmoon")
    model = LaplacianRegressor(random_state=0).fit(in_dask(X), y)
    lines = [r.getMessage() for r in caplog.records if "landmarks" in r.getMessage()]
    p = model.solution_.posed.basis.n_components_
    assert lines == [
        f"Rows in partitions have no exact basis with an energy: {p} landmarks."
    ]
    assert p < 200
    with pytest.raises(ValueError, match="Exact has functions for every row, and 1,20"):
        LaplacianRegressor(basis=Exact(K)).fit(in_dask(X), y)


@pytest.mark.usefixtures("small_samples")
def test_a_long_sum_is_forecast_in_the_log(table, caplog, monkeypatch):
    X, y = table
    caplog.set_level(logging.INFO, "halfmoon")
    monkeypatch.setattr(forecast, "MIN_OPERATIONS", 0.0)
    LEVERS["laplacian"](X).fit(in_dask(X), y)
    (line,) = [r.getMessage() for r in caplog.records if "moved" in r.getMessage()]
    assert re.match(r"About \d+ seconds?: 1,200 rows at [\d,]+ a second\. ", line)
    cost = EnergyCost(1_200, 3, 30, partitions=4)
    assert line.endswith(
        f"That is {cost.operations:.2g} operations, {cost.bytes_moved / 1e3:.1f} kB "
        f"moved."
    )


@pytest.mark.usefixtures("small_samples")
def test_little_work_has_no_forecast(table, caplog):
    X, y = table
    caplog.set_level(logging.INFO, "halfmoon")
    LEVERS["laplacian"](X).fit(in_dask(X), y)
    assert not [r for r in caplog.records if "moved" in r.getMessage()]
