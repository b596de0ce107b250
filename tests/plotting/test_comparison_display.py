import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import ConditionalRegressor, HalfmoonRegressor
from halfmoon.plotting import ComparisonDisplay

TABLE = {
    "candidate": ["supervised twin", "average of all", "plain", "energy", "walk"],
    "unlabeled": np.array([False, True, False, True, True]),
    "loo_error": np.array([0.5, 0.35, 0.6, 0.4, 0.2]),
    "difference": np.array([0.0, -0.15, 0.1, -0.1, -0.3]),
    "low": np.array([0.0, -0.2, -0.1, -0.3, -0.4]),
    "high": np.array([0.0, -0.1, 0.3, 0.1, -0.2]),
    "weight": np.array([0.0, 0.0, 0.002, 0.249, 0.749]),
}


WRAPS = {
    "pipeline": lambda model: make_pipeline(StandardScaler(), model),
    "search": lambda model: GridSearchCV(model, {"safe": [True]}, cv=2),
    "search of pipelines": lambda model: GridSearchCV(
        make_pipeline(StandardScaler(), model), {}, cv=2
    ),
    "pipeline with a search": lambda model: make_pipeline(
        StandardScaler(), GridSearchCV(model, {}, cv=2)
    ),
    "target": TransformedTargetRegressor,
}


class Compared(BaseEstimator):
    def fit(self, X, y):
        self.comparison_ = TABLE
        return self


def test_there_is_a_line_for_each_candidate_the_best_first():
    display = ComparisonDisplay.from_estimator(Compared().fit(None, None))
    names = ["walk", "average of all", "energy", "supervised twin", "plain"]
    assert display.candidates == names
    segments = np.array(display.intervals_.get_segments())  # (5, 2, 2)
    assert_allclose(segments[:, 0, 0], [-0.4, -0.2, -0.3, 0.0, -0.1])
    assert_allclose(segments[:, 1, 0], [-0.2, -0.1, 0.1, 0.0, 0.3])
    assert_allclose(segments[:, 0, 1], [0, 1, 2, 3, 4])
    with_rows, without, others = (np.asarray(p.get_offsets()) for p in display.points_)
    assert_allclose(with_rows, [[-0.3, 0], [-0.1, 2]])
    assert_allclose(without, [[0.1, 4]])
    assert_allclose(others, [[-0.15, 1], [0.0, 3]])
    assert_array_equal(display.twin_.get_xdata(), [0, 0])
    low, high = display.ax_.get_ylim()
    assert low > high  # the first line is on top


def test_candidates_with_a_weight_stand_out():
    display = ComparisonDisplay.from_comparison(TABLE)
    colors = ["C0", "black", "C0", "black", "0.65"]  # 0.2 % is nothing to look at
    assert_allclose(display.intervals_.get_colors(), [to_rgba(c) for c in colors])
    large, middle = display.points_[0].get_sizes()
    (none, _) = display.points_[2].get_sizes()
    assert (middle - none) / (large - none) == pytest.approx(0.249 / 0.749)
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert texts == [
        "walk (75%)",
        "average of all",
        "energy (25%)",
        "supervised twin",
        "plain",
    ]


def test_only_the_best_candidates_and_those_with_weight_are_shown(pyplot):
    _, ax = pyplot.subplots()
    table = TABLE | {"weight": np.array([0.0, 0.0, 0.94, 0.04, 0.02])}
    display = ComparisonDisplay.from_comparison(table, n_candidates=1, ax=ax)
    names = ["walk", "average of all", "supervised twin", "plain"]
    assert display.candidates == names
    assert display.ax_ is ax
    display = ComparisonDisplay.from_comparison(table, n_candidates=None)
    assert len(display.candidates) == 5


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_pipelines_and_searches(wrap):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = wrap(HalfmoonRegressor(budget=1e-9, random_state=0)).fit(X, X[:, 0])
    display = ComparisonDisplay.from_estimator(model)
    names = {"supervised twin", "average of all", "standardized, linear"}
    assert set(display.candidates) == names


def test_models_without_a_comparison_are_refused():
    with pytest.raises(NotFittedError):
        ComparisonDisplay.from_estimator(Compared())
    model = ConditionalRegressor(alpha=1.0).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="ConditionalRegressor has no comparison_"):
        ComparisonDisplay.from_estimator(model)
    pipeline = make_pipeline(StandardScaler(), model).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="ConditionalRegressor has no comparison_"):
        ComparisonDisplay.from_estimator(pipeline)
    with pytest.raises(ValueError, match="no column 'low'"):
        ComparisonDisplay.from_comparison(
            {name: TABLE[name] for name in TABLE if name != "low"}
        )
