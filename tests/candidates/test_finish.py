"""From the labels that were compared to all labels, by matrices or at landmarks."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Smoothed
from halfmoon.blocks import Stream
from halfmoon.candidates import (
    ALPHAS,
    Average,
    Blend,
    Candidate,
    Entry,
    Finish,
    ForNumbers,
    Labeled,
    PreparedFit,
    finish,
    landmarks,
)
from halfmoon.estimators import ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.kernels.length_scales import median_distance
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion
from halfmoon.unpenalized import Constant

SOME = np.array([0, 2, 3, 5, 8, 9, 12, 15])  # labels that were compared
NAMES = ["gaussian", "laplace", "linear", "walk", "averaged", "energy"]


@pytest.fixture
def few(data):
    return Labeled(data.X, data.chosen[SOME], data.y[SOME], data.w[SOME])


@pytest.fixture
def entries(parts, few, constant):
    """An entry of each part, on few labels, in the order of their weights."""
    made = {}
    for name in NAMES:
        candidate = Candidate(name, ((parts[name].on(few), 1.0),), constant, few)
        left_out = candidate.left_out()[4]
        losses = ForNumbers(few).losses(left_out[None], few)[0]
        made[name] = Entry(candidate, ALPHAS[4], left_out, losses)
    return made


@pytest.fixture
def finishing(data):
    def make(stream=None, single=False):
        return Finish(
            data,
            ForNumbers(data),
            Constant().fit(data.X),
            single,
            np.random.default_rng(0),
            stream or Stream(),
        )

    return make


def blend_of(entries, *names):
    weights = np.arange(len(names), 0, -1.0)
    return Blend([entries[name] for name in names], weights / weights.sum())


def test_an_average_that_saw_all_labels_is_the_answer(parts, data, constant, finishing):
    candidate = Candidate("g", ((parts["gaussian"], 1.0),), constant, data)
    entry = Entry(candidate, 0.1, candidate.left_out()[6], np.ones(18))
    average = Blend([entry], np.ones(1))
    answer = finishing()(average, average)
    assert isinstance(answer, Average)
    assert answer.blend is average
    low, high = ForNumbers(data).limits(data)
    assert_array_equal(answer.limits, [low, high])


def test_the_weightiest_are_fitted_to_all_labels(
    entries, parts, data, constant, finishing, new
):
    average = blend_of(entries, "walk", "gaussian", "energy", "linear")
    answer = finishing()(average, average)
    assert isinstance(answer, Average)
    made = []
    for name in ("walk", "gaussian"):  # the others are left out
        candidate = Candidate(name, ((parts[name], 1.0),), constant, data)
        for alpha, left_out in zip(ALPHAS, candidate.left_out(), strict=True):
            losses = ((left_out - data.y) ** 2).mean(axis=1)
            made.append(Entry(candidate, alpha, left_out, losses))
    expected = Blend(made, ForNumbers(data).weights(made, data))
    assert {e.candidate.name for e in answer.blend.entries} <= {"walk", "gaussian"}
    assert_allclose(answer.blend(new), expected(new), rtol=1e-6, atol=1e-8)
    assert_allclose(answer.blend.left_out, expected.left_out, rtol=1e-6, atol=1e-8)


@pytest.fixture
def many(monkeypatch):
    """More labels than a matrix is made of."""
    monkeypatch.setattr(finish, "DUAL_LABELS", 10)


@pytest.mark.parametrize("single", [True, False])
def test_all_labels_as_landmarks_are_the_exact_fit(
    many, entries, parts, data, prepare, finishing, new, single
):
    average = blend_of(entries, "gaussian")
    answer = finishing(single=single)(average, average)
    assert isinstance(answer, PreparedFit)
    assert not answer.unlabeled
    model = ConditionalRegressor(Gaussian(1.2), alpha=ALPHAS)
    model.fit(prepare(data.X), data.on_table, data.weight_on_table)
    expected, std = model.predict(prepare(new), return_std=True)
    shape = (slice(None), 0) if single else slice(None)
    assert_allclose(answer.predict(new), expected[shape], rtol=1e-5, atol=1e-6)
    assert_allclose(answer.std(new), std[shape], rtol=1e-4)
    residuals = answer.leave_one_out()
    assert_allclose(residuals, model.leave_one_out()[shape], rtol=1e-4, atol=1e-5)
    H = answer.smoother_matrix(new)
    assert_allclose(H, model.smoother_matrix(prepare(new)), rtol=1e-4, atol=1e-5)
    again = pickle.loads(pickle.dumps(answer))
    assert_array_equal(again.predict(new), answer.predict(new))


def test_a_mix_keeps_its_shares_at_landmarks(
    many, parts, few, data, constant, finishing, new
):
    mix = ((parts["linear"].on(few), 0.5), (parts["laplace"].on(few), 0.3))
    candidate = Candidate("mix", mix, constant, few)
    entry = Entry(candidate, 0.1, candidate.left_out()[6], np.ones(8))
    average = Blend([entry], np.ones(1))
    answer = finishing()(average, average)
    K = sum(a * part.scale * part.on(data)._gram() for part, a in mix)
    lam, ones = data.w.sum() * answer.fit.alpha, np.ones((18, 1))
    M = np.block([[K + lam * np.diag(1 / data.w), ones], [ones.T, np.zeros((1, 1))]])
    s = np.linalg.solve(M, np.vstack([data.y, np.zeros((1, 2))]))
    expected = K @ s[:-1] + s[-1]
    assert_allclose(answer.predict(data.X_l), expected, rtol=1e-5, atol=1e-6)


def test_fewer_landmarks_come_close(many, entries, finishing, new, monkeypatch):
    average = blend_of(entries, "gaussian")
    exact = finishing()(average, average).predict(new)
    monkeypatch.setattr(landmarks, "LANDMARKS", 14)
    close = finishing()(average, average)
    assert close.fit.posed.basis.transform(new).shape[1] == 14
    assert_allclose(close.predict(new), exact, atol=0.1 * exact.std())


def test_a_walk_at_landmarks_smooths_sections_of_all_rows(
    many, entries, data, prepare, finishing, new
):
    average = blend_of(entries, "walk")
    answer = finishing()(average, average)
    assert answer.unlabeled
    Z = prepare(data.X)
    inner = Exact(Gaussian(0.5 * median_distance(Z)))
    problem = Problem(Smoothed(inner, Diffusion(5, 0.1, 1)))  # half of two repeats
    fit = problem.fit(
        Z, data.on_table, alpha=ALPHAS, sample_weight=data.weight_on_table
    )
    assert answer.fit.alpha == fit.alpha
    expected = fit.predict(prepare(new))
    assert_allclose(answer.predict(new), expected, rtol=1e-4, atol=1e-4)


def test_the_better_kind_answers_at_landmarks(many, entries, finishing, new):
    both = blend_of(entries, "walk", "laplace", "gaussian", "energy")
    answer = finishing()(both, both)
    alone = [finishing()(blend_of(entries, name), both) for name in ("walk", "laplace")]
    best = min(alone, key=lambda each: each.fit.loo_score)
    assert answer.fit.loo_score == pytest.approx(best.fit.loo_score, rel=1e-6)
    assert answer.unlabeled == best.unlabeled


@pytest.mark.parametrize("names", [["energy"], ["averaged"], ["averaged", "energy"]])
def test_the_twin_answers_where_nothing_else_fits_at_landmarks(
    many, entries, finishing, names, new
):
    twin = blend_of(entries, "laplace", "gaussian")
    answer = finishing()(blend_of(entries, *names), twin)
    assert not answer.unlabeled
    expected = finishing()(twin, twin)
    assert_allclose(answer.predict(new), expected.predict(new), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("limit", "kind"), [(10_367, PreparedFit), (10_369, Average)])
def test_memory_decides_between_a_matrix_and_landmarks(
    entries, finishing, limit, kind, new
):
    # Four matrices of 18 by 18 numbers are 10,368 bytes.
    average = blend_of(entries, "gaussian")
    answer = finishing(Stream(limit, n_jobs=1))(average, average)
    assert type(answer) is kind
    assert np.isfinite(answer.predict(new)).all()
