"""skrub's table vectorizer, fitted on every kind of column."""

import numpy as np
import pytest

skrub = pytest.importorskip("skrub")
pd = pytest.importorskip("pandas")

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]


def table(n, seed):
    rng = np.random.default_rng(seed)
    days = pd.date_range("2020-01-01", periods=n, freq="7h")
    missing = rng.random(n) < 0.1
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.integers(0, 9, n),
            "gaps": np.where(missing, np.nan, rng.normal(size=n)),
            "word": rng.choice(["a", "b", "c"], n),
            "word or none": np.where(missing, None, rng.choice(["a", "b"], n)),
            "place": [f"city {rng.integers(99)} {WORDS[i % 8]}" for i in range(n)],
            "text": [" ".join(rng.choice(WORDS, 12)) + f" {i}" for i in range(n)],
            "day": days.where(~missing),
            "day as text": days.strftime("%d/%m/%Y"),
            "zoned": days.tz_localize("UTC"),
            "paris": days.tz_localize("Europe/Paris"),
            "truth": rng.random(n) < 0.5,
            "nullable truth": pd.array(rng.choice([True, None], n), dtype="boolean"),
            "nullable number": pd.array(rng.choice([1, 2, None], n), dtype="Int64"),
            "category": pd.Categorical(rng.choice(["x", "y", "z"], n)),
            "numbered category": pd.Categorical(rng.integers(0, 4, n)),
            "number as text": [f"{v:.2f}" for v in rng.normal(size=n)],
            "yes or no": rng.choice(["yes", "no"], n),
            "duration": pd.to_timedelta(rng.integers(0, 999, n), unit="s"),
            "constant": "k",
            "empty": np.nan,
            "<b>=1+1": rng.normal(size=n),
        }
    )
    return frame


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "vectorizer",
    [
        skrub.TableVectorizer(),
        pytest.param(
            skrub.TableVectorizer(
                high_cardinality=skrub.GapEncoder(
                    n_components=2, max_iter=1, random_state=0
                ),
                datetime=skrub.DatetimeEncoder(periodic_encoding="circular"),
                drop_if_constant=True,
                n_jobs=1,
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            skrub.TableVectorizer(
                high_cardinality=skrub.StringEncoder(n_components=3, random_state=0),
                datetime=skrub.DatetimeEncoder(periodic_encoding="spline"),
                numeric=skrub.SquashingScaler(),
            ),
            marks=pytest.mark.slow,
        ),
        skrub.Cleaner(),
    ],
    ids=["plain", "topics", "splines", "cleaner"],
)
def test_vectorizer(vectorizer, round_trip):
    frame, new = table(60, 0), table(20, 1)
    vectorizer.fit(frame)
    loaded = round_trip(vectorizer)
    for rows in (frame, new, new.iloc[:1]):
        expected = vectorizer.transform(rows)
        pd.testing.assert_frame_equal(
            loaded.transform(rows), expected, check_exact=True, check_freq=False
        )
    assert loaded.all_outputs_ == vectorizer.all_outputs_
    assert repr(vars(loaded).keys()) == repr(vars(vectorizer).keys())


def test_it_can_be_fitted_again(round_trip):
    frame = table(60, 0)[["number", "word", "day"]]
    vectorizer = skrub.TableVectorizer().fit(frame)
    again = round_trip(vectorizer).fit(frame)
    pd.testing.assert_frame_equal(again.transform(frame), vectorizer.transform(frame))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind", ["classes", pytest.param("numbers", marks=pytest.mark.slow)]
)
def test_model_of_a_table(kind, round_trip, assert_same):
    pa = pytest.importorskip("pyarrow")
    model_module = pytest.importorskip("halfmoon.table.model")
    frame = table(60, 0).drop(columns=["nullable truth"])
    number = frame.pop("number")
    known = [float(v) if kind == "numbers" else str(v > 0) for v in number[:25]]
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    model = model_module.TableModel(target="t", kind=kind, budget=1, random_state=0)
    model.fit(rows, known + [None] * 35)
    loaded = round_trip(model)
    assert_same(loaded.transform(rows), model.transform(rows))
    for one, other in (
        (loaded.predict(rows), model.predict(rows)),
        (loaded.left_out(), model.left_out()),
    ):
        assert_same(vars(one), vars(other))
    assert loaded.columns_ == model.columns_
