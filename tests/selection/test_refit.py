"""From the labels that were compared to all labels, by matrices or at landmarks."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._estimators import ConditionalRegressor
from halfmoon._selection import refit
from halfmoon._selection.average_weights import stacked_weights
from halfmoon._selection.candidate import ALPHAS, Candidate, Entry, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.refit import Refit, average_of_entries
from halfmoon._selection.search import SearchOutcome
from halfmoon._selection.target_transforms import IDENTITY
from halfmoon.bases import Exact, Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels._user_kernels import FromFunction
from halfmoon.problem import solve_ridge
from selection.search_tables import bench_of

SOME = np.array([0, 2, 3, 5, 8, 9, 12, 15])  # labels that were compared


@pytest.fixture
def few(shared):
    data = shared.data
    return bench_of(shared.X, data.y[SOME], data.w[SOME], labeled=shared.labeled[SOME])


def outcome_of(entries, answer="average"):
    """An outcome in which the first entries have the most weight."""
    weights = np.arange(len(entries), 0.0, -1.0)
    twin = np.array([not entry.candidate.uses_unlabeled for entry in entries]) * weights
    shares = {"average": weights / weights.sum(), "twin": twin / max(twin.sum(), 1.0)}
    return SearchOutcome(entries, shares, True, answer, {}, {})


@pytest.fixture
def refitted(candidates, few, data):
    """The answers of an outcome in which candidates had falling weights."""

    def make(*names, answer="average", data=data, local=None):
        entries = [
            fit_at_all_alphas(candidates[n], few, NumberCriterion())[4] for n in names
        ]
        rng, outcome = np.random.default_rng(0), outcome_of(entries, answer)
        return Refit(data, outcome, NumberCriterion(), rng, local).averages()

    return make


def test_an_average_that_saw_all_labels_is_the_answer(candidates, shared, data, new):
    entries = [
        fit_at_all_alphas(candidates[n], shared, NumberCriterion())[4]
        for n in ("walk", "gaussian")
    ]
    rng = np.random.default_rng(0)
    answers = Refit(data, outcome_of(entries), NumberCriterion(), rng, None).averages()
    limits = NumberCriterion().limits(data.y)
    expected = average_of_entries(entries, np.array([2 / 3, 1 / 3]), data, limits)
    assert_array_equal(answers["chosen"].predict(new), expected.predict(new))
    assert_array_equal(answers["chosen"].limits, limits)
    assert [m.name for m in answers["twin"].members] == ["gaussian"]
    safe = Refit(
        data, outcome_of(entries, "twin"), NumberCriterion(), rng, None
    ).averages()
    assert safe["chosen"] is safe["twin"]


def test_the_weightiest_are_fitted_to_all_labels(refitted, candidates, shared, new):
    answer = refitted("gaussian", "laplace", "linear")["chosen"]
    data, made = shared.data, []
    for name in ("gaussian", "laplace"):  # the third is left out
        for entry in fit_at_all_alphas(candidates[name], shared, NumberCriterion()):
            made.append(entry)
    weights = NumberCriterion().weights(made, data.y, data.w)
    expected = average_of_entries(made, weights, data, NumberCriterion().limits(data.y))
    names = {member.name for member in answer.members}
    assert names <= {"gaussian, all labels", "laplace, all labels"}
    assert_allclose(answer.predict(new), expected.predict(new), rtol=1e-6, atol=1e-8)
    assert_allclose(answer.held_out, expected.held_out, rtol=1e-6, atol=1e-8)
    assert_allclose(answer.std(new), expected.std(new), rtol=1e-5)


def test_a_kernel_that_is_not_definite_on_all_labels_is_passed_over(
    refitted, candidates, constant, shared, new
):
    limit = len(SOME)

    def odd(X, Z):
        K = np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2))
        return K if len(Z) <= limit else -K

    candidates["odd"] = Candidate("odd", "odd", FromFunction(odd), constant)
    found = refitted("odd", "gaussian", "laplace")["chosen"]
    expected = refitted("gaussian", "laplace")["chosen"]
    assert_array_equal(found.predict(new), expected.predict(new))


def test_what_cannot_be_fitted_to_more_labels_is_passed_over(
    candidates, few, data, constant, kernels, new
):
    # Columns weighed by fewer labels, logarithms, and the constant.
    zero = Candidate("constant", "constant", kernels["linear"] * 0.0, constant)
    folds = np.zeros((len(ALPHAS), 8, 2))
    weighted = replace(candidates["laplace"], by_folds=folds, name="relevance")
    chosen = [
        zero,
        weighted,
        candidates["gaussian"],
        candidates["linear"],
    ]
    entries = [fit_at_all_alphas(each, few, NumberCriterion())[4] for each in chosen]
    rng = np.random.default_rng(0)
    answers = Refit(data, outcome_of(entries), NumberCriterion(), rng, None).averages()
    names = {member.name for member in answers["chosen"].members}
    assert names <= {"gaussian, all labels", "linear, all labels"}


def test_the_constant_is_the_answer_where_nothing_else_has_weight(
    few, data, constant, kernels, new
):
    zero = Candidate("constant", "constant", kernels["linear"] * 0.0, constant)
    entries = fit_at_all_alphas(zero, few, NumberCriterion())[4:5]
    rng = np.random.default_rng(0)
    answers = Refit(data, outcome_of(entries), NumberCriterion(), rng, None).averages()
    mean = np.average(data.y, axis=0, weights=data.w)
    assert_allclose(answers["chosen"].predict(new), np.tile(mean, (7, 1)), rtol=1e-9)


# ---- at landmarks --------------------------------------------------------------------


@pytest.fixture
def many(monkeypatch):
    """More labels than a matrix is made of."""
    monkeypatch.setattr(refit, "DUAL_LABELS", 10)
    return monkeypatch


@pytest.mark.parametrize("single", [True, False])
def test_all_labels_as_landmarks_are_the_exact_fit(
    many, refitted, candidates, data, new, single
):
    column = slice(1) if single else slice(2)
    own = replace(data, y=data.y[:, column], single=single)
    answer = refitted("gaussian", data=own)["chosen"]
    (member,) = answer.members
    assert isinstance(member.fit.posed.basis, Nystrom)
    assert member.name == "gaussian, at landmarks"
    model = ConditionalRegressor(candidates["gaussian"].kernel, alpha=ALPHAS)
    model.fit(own.X, own.y[:, 0] if single else own.y, own.w)
    expected, std = model.predict(new, return_std=True)
    free = replace(answer, limits=None)
    assert_allclose(free.predict(new), expected, rtol=1e-5, atol=1e-6)
    assert_allclose(free.std(new), std, rtol=1e-4)
    residuals = free.leave_one_out()
    assert_allclose(residuals, model.leave_one_out(), rtol=1e-4, atol=1e-5)
    H = free.smoother_matrix(new)
    assert_allclose(H, model.smoother_matrix(new), rtol=1e-4, atol=1e-5)
    again = pickle.loads(pickle.dumps(answer))
    assert_array_equal(again.predict(new), answer.predict(new))


@pytest.mark.parametrize("name", ["walk", "averaged", "energy"])
def test_what_learned_from_unlabeled_rows_keeps_its_kernel_at_landmarks(
    many, refitted, candidates, data, new, name
):
    answer = refitted(name, "gaussian")["chosen"]
    (member,) = answer.members
    if member.uses_unlabeled:
        exact = solve_ridge(candidates[name].pose(data), ALPHAS)
        assert member.fit.alpha == exact.alpha
        free = replace(answer, limits=None)
        assert_allclose(free.predict(new), exact.predict(new), rtol=1e-4, atol=1e-4)
    else:  # then the other was better on held-out labels
        walk, plain = (
            solve_ridge(candidates[each].pose(data), ALPHAS).loo_score
            for each in (name, "gaussian")
        )
        assert plain <= walk * (1 + 1e-6)


@pytest.mark.parametrize(("limit", "kind"), [(10_367, Nystrom), (10_369, Exact)])
def test_memory_decides_between_a_matrix_and_landmarks(
    refitted, data, limit, kind, new
):
    # Four matrices of 18 by 18 numbers are 10,368 bytes.
    answer = refitted("gaussian", data=replace(data, stream=Stream(limit, n_jobs=1)))
    assert isinstance(answer["chosen"].members[0].fit.posed.basis, kind)
    assert np.isfinite(answer["chosen"].predict(new)).all()


# ---- local fits ----------------------------------------------------------------------


@pytest.fixture
def local(candidates, data):
    """Local fits whose held-out values are at some distance from the labels."""

    def make(distance):
        fit = solve_ridge(candidates["laplace"].pose(data), 0.01)
        values = data.y + distance
        entry = Entry(
            *(candidates["laplace"], 0.01, IDENTITY, data.y, values, values),
            *(np.zeros(18), fit.theta, fit.beta),
        )
        return average_of_entries([entry], np.ones(1), data, None)

    return make


@pytest.mark.parametrize("better", [True, False])
def test_at_landmarks_the_lower_held_out_loss_decides(many, refitted, local, better):
    found = local(0.0 if better else 10.0)
    answers = refitted("walk", "gaussian", local=lambda: found)
    assert (answers["twin"] is found) == better
    assert (answers["chosen"] is found) == better
    names = {
        kind: refitted("walk", "gaussian", answer=kind, local=lambda: found)["chosen"]
        for kind in ("twin", "average")
    }
    expected = "laplace" if better else "gaussian, at landmarks"
    assert names["twin"].members[0].name == expected


@pytest.mark.parametrize("distance", [0.0, 0.3, 10.0])
def test_refits_and_local_fits_are_averaged_by_least_squares(
    refitted, local, data, new, distance
):
    found = local(distance)
    alone = refitted("gaussian", answer="twin")["chosen"]
    both = refitted("gaussian", answer="twin", local=lambda: found)
    assert both["chosen"] is both["twin"] is both["without local fits"]
    values = np.array([alone.held_out, found.held_out])
    entries = [
        SimpleNamespace(values=v, losses=((v - data.y) ** 2).mean(axis=1))
        for v in values
    ]
    shares = stacked_weights(entries, data.y, data.w)
    # Halves are favored, but what is far from the labels has hardly a part.
    assert shares[1] > 0.5 or distance > 0
    assert shares[1] > 0.1 if distance < 1 else shares[1] < 0.01
    free = [replace(each, limits=None).predict(new) for each in (alone, found)]
    expected = alone.clip(np.tensordot(shares, free, 1))
    assert_allclose(both["chosen"].predict(new), expected, rtol=1e-9)
    assert_allclose(both["chosen"].weights.sum(), 1.0, rtol=1e-12)
    assert {m.name for m in both["chosen"].members} <= {
        "gaussian, all labels",
        "laplace",
    }


@pytest.mark.parametrize("distance", [0.0, 10.0])
def test_what_was_compared_on_all_labels_has_half(
    candidates, shared, data, local, new, distance
):
    entries = [
        fit_at_all_alphas(candidates[n], shared, NumberCriterion())[4]
        for n in ("walk", "gaussian")
    ]
    outcome, found = outcome_of(entries), local(distance)
    # Cross-fitted values, which local fits are compared with.
    outcome.held_out.update(average=data.y + 0.1, twin=data.y + 20.0)
    rng, criterion = np.random.default_rng(0), NumberCriterion()
    alone = Refit(data, outcome, criterion, rng, None).averages()
    both = Refit(data, outcome, criterion, rng, lambda: found).averages()
    # Local fits that are clearly worse than the average are still better than its twin.
    shares = {"twin": 0.5, "chosen": 0.5 if distance == 0 else 0.0}
    for name, share in shares.items():
        free = [replace(a, limits=None).predict(new) for a in (alone[name], found)]
        expected = alone[name].clip((1 - share) * free[0] + share * free[1])
        assert_allclose(both[name].predict(new), expected, rtol=1e-9)
    assert [m.name for m in both["twin"].members] == ["gaussian", "laplace"]
    assert [m.weight for m in both["twin"].members] == [0.5, 0.5]
    assert [m.name for m in both["without local fits"].members] == ["gaussian"]


@pytest.mark.parametrize(("size", "share"), [(0.099, 0.5), (0.101, 0.0)])
def test_local_fits_that_are_a_little_worse_have_no_part(
    candidates, shared, data, local, size, share
):
    entry = fit_at_all_alphas(candidates["gaussian"], shared, NumberCriterion())[4]
    outcome, found = outcome_of([entry], "twin"), local(0.0)
    data = replace(data, w=np.ones_like(data.w))
    # Rows with an error of either; a difference of 0.001 is far within their noise.
    alone, worse = np.zeros_like(data.y), np.zeros_like(data.y)
    alone[::2], worse[1::2] = 0.1, size
    outcome.held_out.update(twin=data.y + alone)
    (member,) = found.members
    found = replace(found, members=[replace(member, held_out=data.y + worse)])
    refit = Refit(data, outcome, NumberCriterion(), None, lambda: found)
    twin = refit.averages()["twin"]
    parts = {each.name: each.weight for each in twin.members}
    assert parts.get("laplace", 0.0) == share


def test_beyond_some_labels_landmarks_are_too_few_for_plain_kernels(
    many, refitted, local
):
    found = local(10.0)  # worse than any other
    assert refitted("gaussian", local=lambda: found)["twin"] is not found
    many.setattr(refit, "LANDMARK_LABELS", 17)
    assert refitted("gaussian", local=lambda: found)["twin"] is found
    assert refitted("gaussian")["twin"] is not found  # where there are no local fits
    answers = refitted("walk", "gaussian", local=lambda: found)
    assert answers["chosen"].members[0].name == "walk, at landmarks"


def test_fewer_landmarks_come_close(many, refitted, new):
    exact = refitted("gaussian")["chosen"].predict(new)
    many.setattr(refit, "REFIT_LANDMARKS", 17)  # of 18 labeled rows
    close = refitted("gaussian")["chosen"]
    assert close.members[0].fit.posed.basis.n_components_ == 17
    assert_allclose(close.predict(new), exact, atol=0.1 * exact.std())


@pytest.mark.parametrize("name", ["walk", "averaged", "energy"])
def test_every_kernel_has_a_form_at_landmarks(candidates, data, new, name):
    rng = np.random.default_rng(0)
    made = Refit(data, None, NumberCriterion(limited=False), rng, None)
    answer = made._refit_at_landmarks(candidates[name])
    assert answer.uses_unlabeled
    exact = solve_ridge(candidates[name].pose(data), ALPHAS)
    assert answer.members[0].fit.alpha == exact.alpha
    assert_allclose(answer.predict(new), exact.predict(new), rtol=1e-4, atol=1e-4)


# ---- time ----------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""
    now = SimpleNamespace(seconds=0.0)
    reading = SimpleNamespace(monotonic=lambda: now.seconds)
    monkeypatch.setattr(refit, "time", reading)
    return now


@pytest.fixture
def in_time(candidates, few, data, clock):
    """The answers by the seconds that are left when refits begin."""

    def make(seconds, *names, local=None):
        entries = [
            fit_at_all_alphas(candidates[n], few, NumberCriterion())[4] for n in names
        ]
        until, rng = clock.seconds + seconds, np.random.default_rng(0)
        found = Refit(
            *(data, outcome_of(entries), NumberCriterion(), rng, local, until)
        ).averages()
        return {name: {m.name for m in each.members} for name, each in found.items()}

    return make


def test_without_time_left_there_is_one_refit(in_time, local, many):
    worse = local(10.0)
    for seconds, expected in ((-1.0, "laplace"), (600.0, "walk, at landmarks")):
        found = in_time(seconds, "walk", "gaussian", local=lambda: worse)
        assert found["chosen"] == {expected}
    plain = in_time(-1.0, "walk", "gaussian")  # the twin is needed, and nothing else
    assert plain["chosen"] == plain["twin"] == {"gaussian, at landmarks"}
    many.undo()
    both = {"gaussian, all labels", "laplace, all labels"}
    assert in_time(600.0, "walk", "gaussian", "laplace")["twin"] <= both
    plain = in_time(-1.0, "walk", "gaussian", "laplace")
    assert plain["chosen"] == plain["twin"] == {"gaussian, all labels"}


def test_a_kernel_whose_columns_take_long_is_not_refitted(
    in_time, local, many, candidates, clock
):
    kernel, worse = candidates["walk"].kernel, local(10.0)
    calls = []

    def slow(Z):
        calls.append(Z.shape[0])
        clock.seconds += 0.05
        return type(kernel).sections(kernel, Z)

    many.setattr(refit, "TIMED_COLUMNS", 2)
    many.setattr(kernel, "sections", slow, raising=False)
    # 0.05 s have passed and 18 columns take 0.45 s, the factorizations 1e-5 s.
    for seconds, expected in ((0.49, False), (0.51, True)):
        calls.clear()
        found = in_time(seconds, "walk", "gaussian", local=lambda: worse)
        assert calls == [2]
        assert ("walk, at landmarks" in found["chosen"]) == expected
        assert found["twin"] == {"gaussian, at landmarks"}


def test_the_average_and_the_twin_share_a_refit_at_landmarks(
    many, refitted, local, candidates
):
    made = []
    before = Refit._refit_at_landmarks

    def counted(self, candidate):
        made.append(candidate.name)
        return before(self, candidate)

    many.setattr(Refit, "_refit_at_landmarks", counted)
    found = local(10.0)
    refitted("gaussian", "walk", local=lambda: found)
    assert sorted(made) == ["gaussian", "walk"]


def test_landmarks_of_kernels_that_saw_all_rows_hold_the_memory_limit(
    many, candidates, data
):
    rng, criterion = np.random.default_rng(0), NumberCriterion()
    for limit, p in ((8 * refit.CHOOSING * refit.GRAPH_ROWS * 5, 5), (10**9, 18)):
        within = replace(data, stream=Stream(limit, n_jobs=1))
        made = Refit(within, None, criterion, rng, None)
        for name, expected in (("walk", p), ("gaussian", 18)):
            (member,) = made._refit_at_landmarks(candidates[name]).members
            assert member.fit.posed.basis.n_components_ == expected
