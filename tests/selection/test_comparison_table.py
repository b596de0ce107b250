"""``comparison_``: a dictionary of columns that prints as a short table."""

import pickle
import re

import numpy as np
import pytest
from sklearn.datasets import make_moons

import halfmoon
from halfmoon import HalfmoonClassifier
from halfmoon._selection.comparison import Comparison
from optional_modules import optional

pd = optional("pandas")

TABLE = Comparison(
    candidate=[
        "supervised twin",
        "average of all",
        "standardized, gaussian 0.5",
        "normal scores, gaussian 1",
        "standardized, walk k=5 <b>",
        "standardized, linear",
    ],
    unlabeled=np.array([False, True, False, False, True, False]),
    loo_error=np.array([12.5, 11.25, 14.0, 13.0, 1e-9, 20.0]),
    weight=np.array([0.0, 0.0, 0.2, 0.25, 0.55, 0.0]),
)


def test_it_is_a_short_table_of_ways_to_learn():
    lines = repr(TABLE).splitlines()
    assert [re.split(r" {2,}", line) for line in lines] == [
        ["way to learn", "models", "unlabeled rows", "error", "weight"],
        ["All models without unlabeled rows", "no", "12.5"],
        ["All models", "yes", "11.2"],
        [
            "Average of the neighbors over all rows (diffusion)",
            "1",
            "yes",
            "0.0",
            "55 %",
        ],
        ["Smooth curve (Gaussian kernel)", "2", "no", "13.0", "45 %"],
        ["Straight line (linear)", "1", "no", "20.0", "0 %"],
    ]
    assert len({line.find("  no  ") for line in lines} - {-1}) == 1  # one column


def test_a_notebook_shows_the_same_escaped():
    strange = Comparison({**TABLE, "candidate": ["<i>x", *TABLE["candidate"][1:]]})
    strange["candidate"][1:3] = ["supervised twin", "<u>y"]
    page = strange._repr_html_()
    assert "<i>" not in page
    assert "&lt;u&gt;y" in page
    assert page.count("<tr>") == 7


def test_it_is_still_a_dictionary_of_columns():
    frame = pd.DataFrame(TABLE)
    assert list(frame.columns) == ["candidate", "unlabeled", "loo_error", "weight"]
    assert len(frame) == 6
    assert TABLE["weight"][4] == 0.55
    assert dict(TABLE) == TABLE


def test_it_survives_pickles_and_model_files(tmp_path):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model = HalfmoonClassifier(budget=1e-9, random_state=0)
    assert not hasattr(model, "comparison_")
    model.fit(X, np.where(np.arange(60) < 20, y, np.nan))
    halfmoon.save(model, tmp_path / "model")
    for again in (
        pickle.loads(pickle.dumps(model)),
        halfmoon.load(tmp_path / "model"),
        model.twin_,
    ):
        assert isinstance(again.comparison_, Comparison)
        assert repr(again.comparison_) == repr(model.comparison_)
    assert (
        pickle.loads(pickle.dumps(model.comparison_))["candidate"]
        == (model.comparison_["candidate"])
    )


@pytest.mark.parametrize(("error", "shown"), [(np.nan, "nan"), (0.0, "0.000")])
def test_errors_of_0_or_infinity(error, shown):
    table = Comparison({**TABLE, "loo_error": np.full(6, error)})
    assert repr(table).splitlines()[1].endswith(shown)
