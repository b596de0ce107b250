import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from halfmoon import ConditionalClassifier, ConditionalRegressor
from halfmoon.plotting import BoundaryDisplay


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform([0, 10], [1, 30], (40, 2))


def offsets(collection):
    return np.asarray(collection.get_offsets())


def test_the_surface_of_a_regressor_is_its_value_at_each_place(rows):
    plane = LinearRegression().fit(rows, rows @ [3.0, -0.5] + 7)
    display = BoundaryDisplay.from_estimator(plane, rows, resolution=11)
    x, y = np.meshgrid(display.grid_x, display.grid_y)
    drawn = np.asarray(display.surface_.get_array()).reshape(11, 11)
    assert_allclose(drawn, 3 * x - 0.5 * y + 7)
    assert display.border_ is None
    # 8 % of the spread beyond the rows.
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = 0.08 * (high - low)
    assert_allclose(display.grid_x[[0, -1]], [(low - margin)[0], (high + margin)[0]])
    assert_allclose(display.grid_y[[0, -1]], [(low - margin)[1], (high + margin)[1]])


def test_rows_are_drawn_where_they_are_by_label(rows):
    y = np.full(40, np.nan)
    y[[3, 8, 20]] = [5.0, -1.0, 2.0]
    model = ConditionalRegressor(alpha=0.1).fit(rows, y)
    display = BoundaryDisplay.from_estimator(model, rows, y)
    assert_array_equal(offsets(display.labeled_), rows[[3, 8, 20]])
    assert_array_equal(display.labeled_.get_array(), [5.0, -1.0, 2.0])
    assert_array_equal(offsets(display.unlabeled_), np.delete(rows, [3, 8, 20], axis=0))
    assert display.labeled_.get_sizes()[0] > display.unlabeled_.get_sizes()[0]
    # One scale for the surface and for the labels, which covers both.
    assert display.labeled_.get_clim() == display.surface_.get_clim()
    assert display.surface_.get_clim()[1] >= 5.0


def test_two_classes_meet_where_the_probability_is_a_half(rows):
    y = np.where(rows[:, 0] > 0.4, "yes", "no").astype(object)
    y[5:] = None
    y[5:7] = ["yes", "no"]
    model = ConditionalClassifier(alpha=1e-3).fit(rows, y)
    display = BoundaryDisplay.from_estimator(model, rows, y)
    assert display.border == 0.5
    x, z = np.meshgrid(display.grid_x, display.grid_y)
    expected = model.predict_proba(np.c_[x.ravel(), z.ravel()])[:, 1]
    assert_allclose(np.asarray(display.surface_.get_array()).ravel(), expected)
    assert display.surface_.get_clim() == (0.0, 1.0)
    (path,) = display.border_.get_paths()
    assert_allclose(model.predict_proba(path.vertices)[:, 1], 0.5, atol=0.02)
    known = [label == "yes" for label in y[:7]]
    assert_array_equal(display.labeled_.get_array(), np.array(known, float))


def test_without_probabilities_the_border_is_where_the_score_is_0(rows):
    model = LinearSVC().fit(rows - [0.5, 20], rows[:, 0] > 0.5)
    display = BoundaryDisplay.from_estimator(
        model, rows - [0.5, 20], rows[:, 0] > 0.5, resolution=30
    )
    assert display.border == 0.0
    low, high = display.surface_.get_clim()
    assert low == -high
    assert_array_equal(
        display.labeled_.get_array(), np.where(rows[:, 0] > 0.5, high, low)
    )


def test_three_classes_are_shown_by_their_numbers(rows):
    y = np.digitize(rows[:, 0], [0.3, 0.6])
    names = np.array(["b", "a", "c"])[y]
    model = LogisticRegression(C=1e4, max_iter=5_000).fit(rows, names)
    display = BoundaryDisplay.from_estimator(
        *(model, rows, [None] * 39 + [names[39]]),
        color_by="prediction",
        legend=True,
        resolution=15,
    )
    x, z = np.meshgrid(display.grid_x, display.grid_y)
    said = model.predict(np.c_[x.ravel(), z.ravel()])
    drawn = np.asarray(display.surface_.get_array()).ravel()
    assert_array_equal(model.classes_[drawn.astype(int)], said)
    of_rows = display.unlabeled_.get_array().astype(int)
    assert_array_equal(model.classes_[of_rows], model.predict(rows[:39]))
    assert_array_equal(
        model.classes_[display.labeled_.get_array().astype(int)], [names[39]]
    )
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a", "b", "c"]
    shown = display.ax_.collections[-3:]  # an empty one for each entry of the legend
    colors = [each.get_facecolor()[0] for each in shown]
    own = colors[list(model.classes_).index(names[39])]
    assert_allclose(display.labeled_.to_rgba(display.labeled_.get_array())[0], own)


def test_a_constant_prediction_has_no_border_and_no_warning(rows):
    model = ConditionalClassifier(alpha=1e6).fit(rows, np.arange(40) < 5)
    display = BoundaryDisplay.from_estimator(model, rows)
    assert display.border_ is None
    assert len(offsets(display.labeled_)) == 0


def test_other_columns_are_at_their_median_and_names_are_kept(rows):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rows, columns=["wide", "high"])
    X.insert(1, "deep", np.arange(40.0) ** 2)
    model = make_pipeline(StandardScaler(), LinearRegression())
    model.fit(X, X["wide"] + 2 * X["high"] + 5 * X["deep"])
    display = BoundaryDisplay.from_estimator(
        model, X, columns=("high", 0), resolution=5
    )
    x, z = np.meshgrid(display.grid_x, display.grid_y)
    assert_allclose(display.surface, z + 2 * x + 5 * np.median(np.arange(40.0) ** 2))
    assert display.ax_.get_xlabel() == "high"
    assert display.ax_.get_ylabel() == "wide"


def test_given_axes_are_used(rows, pyplot):
    model = Perceptron().fit(rows, rows[:, 0] > 0.5)
    figure, axes = pyplot.subplots(1, 2)
    display = BoundaryDisplay.from_estimator(model, rows, ax=axes[1], resolution=5)
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert display.plot(axes[0]) is display
    assert display.ax_ is axes[0]


def test_bad_parameters(rows):
    model = ConditionalRegressor(alpha=1.0)
    with pytest.raises(NotFittedError):
        BoundaryDisplay.from_estimator(model, rows)
    wide = np.hstack([rows, rows[:, :1] ** 2])
    model.fit(wide, rows[:, 0])
    with pytest.raises(ValueError, match=r"3 column.* columns=\(0, 1\)"):
        BoundaryDisplay.from_estimator(model, wide)
    with pytest.raises(ValueError, match="by a number below 3"):
        BoundaryDisplay.from_estimator(model, wide, columns=(0, 3))
    with pytest.raises(ValueError, match="color_by is 'class'"):
        BoundaryDisplay.from_estimator(model, wide, columns=(0, 1), color_by="class")
    with pytest.raises(ValueError, match="y has 2 labels and X has 40 rows"):
        BoundaryDisplay.from_estimator(model, wide, [1.0, 2.0], columns=(0, 1))
    with pytest.raises(ValueError, match="predicts 2 targets"):
        BoundaryDisplay.from_estimator(model.fit(rows, rows), rows)
    classes = ConditionalClassifier(alpha=1.0).fit(rows, rows[:, 0] > 0.5)
    with pytest.raises(ValueError, match="the label 'a'"):
        BoundaryDisplay.from_estimator(classes, rows, ["a"] * 40)
