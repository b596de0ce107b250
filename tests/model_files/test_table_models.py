"""A model of a table with every kind of column."""

import numpy as np
import pytest

from optional_modules import optional

pa = optional("pyarrow")
table_model = pytest.importorskip("halfmoon.table._models.table_model")
N, LABELED = 60, 25


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    words = ["sun", "moon", "tide", "harbor", "engine", "valve"]
    days = np.datetime64("2024-01-01") + rng.integers(0, 700, N)
    return pa.table(
        {
            "number": rng.normal(size=N),
            "missing": [None if i % 7 == 0 else float(i % 5) for i in range(N)],
            "truth": [i % 3 == 0 for i in range(N)],
            "color": [("red", "blue", None, "gray")[i % 4] for i in range(N)],
            "day": [None if i % 11 == 0 else str(day) for i, day in enumerate(days)],
            "moment": pa.array(days.astype("M8[us]"), pa.timestamp("us", "UTC")),
            "clock": [f"{i % 24:02d}:{i % 60:02d}" for i in range(N)],
            "name": [f"place {i} of {words[i % 6]}" for i in range(N)],
            "text": [" ".join(rng.choice(words, 20)) for _ in range(N)],
        }
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind", ["classes", pytest.param("numbers", marks=pytest.mark.slow)]
)
def test_a_loaded_model_predicts_the_same(kind, rows, round_trip, assert_same):
    number = rows["number"].to_pylist()[:LABELED]
    labels = [v if kind == "numbers" else str(v > 0) for v in number]
    rows = rows.drop_columns("number")
    model = table_model.TableModel(target="t", kind=kind, budget=0.05, random_state=0)
    model.fit(rows, labels + [None] * (N - LABELED))
    kinds = {use.name: use.kind for use in model.columns_.uses}
    assert set(kinds.values()) == {
        *("number", "boolean", "category", "date", "time", "text")
    }
    loaded = round_trip(model)
    assert_same(loaded.transform(rows), model.transform(rows))
    for one, other in (
        (loaded.predict(rows), model.predict(rows)),
        (loaded.left_out(), model.left_out()),
    ):
        assert_same(vars(one), vars(other))
    assert loaded.columns_.uses == model.columns_.uses
