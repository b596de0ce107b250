import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import halfmoon
from halfmoon import ConditionalClassifier, LaplacianClassifier
from halfmoon._estimators.fit_problem import unit_of
from halfmoon.kernels import Gaussian
from halfmoon.smoothers import Neighbors
from halfmoon.unpenalized import Constant, Polynomials
from halfmoon.weak import CandidateSetClassifier
from halfmoon.weak._weak_estimator import WEAK_ALPHAS

X, TRUTH = load_iris(return_X_y=True)


def ambiguous(rng, share=0.4):
    """The truth, and with some probability each false class."""
    sets = rng.uniform(size=(150, 3)) < share
    sets[np.arange(150), TRUTH] = True
    return sets


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("unpenalized", ["constant", None])
def test_single_candidates_are_plain_labels(classes, unpenalized, rng):
    some = classes > TRUTH
    rows, y = X[some], TRUTH[some].astype(object)
    y[rng.uniform(size=len(y)) < 0.5] = None
    setting = {"kernel": Gaussian(1.5), "alpha": 1e-3, "unpenalized": unpenalized}
    plain = ConditionalClassifier(**setting).fit(rows, y)
    weak = CandidateSetClassifier(**setting).fit(rows, y)
    assert_allclose(weak.decision_function(rows), plain.decision_function(rows))
    assert_allclose(weak.predict_proba(rows), plain.predict_proba(rows))
    assert weak.decision_function(rows).ndim == (1 if classes == 2 else 2)
    known = y != None  # noqa: E711
    assert_array_equal(weak.disambiguated_[known], y[known])
    assert weak.n_labeled_ == known.sum()


def test_with_an_energy_it_is_laplacian(rng):
    y = np.where(rng.uniform(size=150) < 0.2, TRUTH, np.nan)
    setting = {"kernel": Gaussian(1.0), "alpha": 1e-2, "energy": "gradient"}
    plain = LaplacianClassifier(**setting).fit(X, y)
    weak = CandidateSetClassifier(**setting).fit(X, y)
    assert_allclose(
        weak.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("smoother", [None, Neighbors(5)])
def test_it_finds_the_truth_within_the_sets(smoother, rng):
    sets = ambiguous(rng)
    model = CandidateSetClassifier(
        "|", kernel="gaussian", random_state=0, smoother=smoother
    )
    model.fit(X, sets)
    assert sets[np.arange(150), model.disambiguated_].all()
    assert np.mean(model.disambiguated_ == TRUTH) > 0.93
    assert np.mean(model.predict(X) == TRUTH) > 0.93
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (np.diff(model.history_) < 0).all()
    assert_allclose(model.objectives_.min(), model.history_[-1])
    alpha = WEAK_ALPHAS[np.argmin(model.fold_losses_)]
    assert_allclose(model.alpha_, alpha * unit_of(model.solution_.posed))


def test_names_of_classes_do_not_matter(rng):
    sets = ambiguous(rng)
    names = np.array(["setosa", "versicolor", "virginica"])
    texts = ["|".join(names[row]) for row in sets]
    setting = {"alpha": 1e-3, "random_state": 0}
    by_number = CandidateSetClassifier(**setting).fit(X, sets)
    by_name = CandidateSetClassifier(**setting).fit(X, texts)
    assert_array_equal(by_name.predict(X), names[by_number.predict(X)])
    assert by_name.classes_.tolist() == names.tolist()


def test_rows_of_weight_0_are_dropped(rng):
    sets, w = ambiguous(rng), np.where(np.arange(150) % 5 == 0, 0.0, 1.5)
    setting = {"kernel": Gaussian(1.0), "alpha": 1e-3, "random_state": 0}
    model = CandidateSetClassifier(**setting).fit(X, sets, w)
    alone = CandidateSetClassifier(**setting).fit(X[w > 0], sets[w > 0])
    assert_allclose(model.decision_function(X), alone.decision_function(X))
    assert len(model.disambiguated_) == 150
    assert sets[np.arange(150), model.disambiguated_].all()


def test_a_file_gives_back_the_model(rng, tmp_path):
    model = CandidateSetClassifier(alpha=1e-3, random_state=0).fit(X, ambiguous(rng))
    halfmoon.save(model, tmp_path / "model.halfmoon")
    again = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.history_ == model.history_
    assert_array_equal(again.disambiguated_, model.disambiguated_)


def test_parameters_survive_a_clone():
    model = clone(CandidateSetClassifier(kernel=Gaussian(2.0), n_starts=2))
    assert (model.kernel.length_scale, model.n_starts) == (2.0, 2)
    assert model.separator == "|"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"unpenalized": [Constant(), Polynomials(1)]}, "gives 2 choices"),
        ({"alpha": -1.0}, "alpha is -1"),
        ({"mu": [0.1, 1.0], "energy": "gradient"}, "mu"),
    ],
)
def test_settings_that_make_no_sense(setting, message, rng):
    with pytest.raises(ValueError, match=message):
        CandidateSetClassifier(**setting).fit(X, ambiguous(rng))


@pytest.mark.parametrize("form", ["matrix", "sets", "texts"])
def test_the_score_of_sets_is_the_share_with_the_prediction(form, rng):
    sets = ambiguous(rng)
    model = CandidateSetClassifier(kernel="laplace", alpha=1e-3).fit(X, sets)
    sets[:10], sets[10] = True, [False, True, False]
    w = np.linspace(0.0, 2.0, 150)
    y = sets
    if form == "sets":
        y = [set(np.flatnonzero(row)) for row in sets]
    elif form == "texts":
        names = np.array(["a", "b", "c"])
        y = ["|".join(names[row]) for row in sets]
        model.classes_ = names
    inside = sets[np.arange(150), model.solution_.predict(X).argmax(axis=1)]
    known = ~sets.all(axis=1)
    expected = np.average(inside[known], weights=w[known])
    assert known[10]
    assert not inside[10]
    assert_allclose(model.score(X, y, w), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="None of the 9 rows to score"):
        model.score(X[:9], y[:9])


def test_sets_to_score_have_the_classes_of_the_model(rng):
    model = CandidateSetClassifier(kernel="laplace", alpha=1e-3).fit(X, ambiguous(rng))
    with pytest.raises(ValueError, match="each of 2 classes, but the model has 3"):
        model.score(X, np.eye(150, 2, dtype=bool))
    # A class that the model does not know is no candidate of its.
    sets = [{0, 9}] * 149 + [{9}]
    expected = np.mean(model.predict(X)[:-1] == 0) * 149 / 150
    assert_allclose(model.score(X, sets), expected, rtol=1e-12)


def test_only_full_sets_is_an_error():
    with pytest.raises(ValueError, match="None of the 150 rows is labeled"):
        CandidateSetClassifier().fit(X, np.ones((150, 3), dtype=bool))
