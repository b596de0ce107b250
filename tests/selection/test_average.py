"""An average of members compared with the members one by one, and with refits."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection import average_members
from halfmoon._selection.average import Average
from halfmoon._selection.average_members import Member
from halfmoon._selection.candidate import ALPHAS, Candidate, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.refit import average_of_entries
from halfmoon._selection.relevance import Stretched
from halfmoon._selection.row_preparation import Preparation
from halfmoon._selection.target_transforms import IDENTITY
from halfmoon.bases import Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from halfmoon.kernels._gaussian_sums import gaussian_sum
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.problem import solve_locally, solve_ridge
from halfmoon.problem._local_fits import LocalFit
from halfmoon.smoothers import Diffusion
from halfmoon.unpenalized import Polynomials
from halfmoon.unpenalized._base import PreparedFeatures
from selection.search_tables import with_targets

WEIGHTS = np.array([0.3, 0.1, 0.25, 0.15, 0.12, 0.08])


@pytest.fixture
def entries(kernels, constant, prepare, X, entry_at):
    """Entries that share kernels, candidates, graphs and features, or do not."""
    columns = PreparedFeatures(prepare, Polynomials(1)).fit(X)
    both = kernels["linear"] * 0.5 + kernels["laplace"] * 0.5
    plain = Candidate("plain", "plain", both, constant)
    mix = kernels["walk"] + kernels["gaussian"] * 0.2
    mixed = Candidate("mixed", "walk", mix, constant, True)
    free = Candidate("free", "plain", kernels["gaussian"], columns)
    energy = Candidate("energy", "energy", kernels["energy"], None, True)
    averaged = Candidate("averaged", "fredholm", kernels["averaged"], constant, True)
    return [
        entry_at(plain, 0.01),
        entry_at(plain, 1.0),
        entry_at(mixed, 0.1),
        entry_at(free, 0.001),
        entry_at(energy, 0.1),
        entry_at(averaged, 0.01),
    ]


@pytest.fixture
def average(entries, data):
    return average_of_entries(entries, WEIGHTS, data, None)


def values(entry, data, X):
    """Of one entry, on the scale of its targets, by whole matrices."""
    candidate, F = entry.candidate, np.zeros((X.shape[0], 0))
    if candidate.unpenalized is not None:
        F = candidate.unpenalized.transform(X)
    return candidate.kernel(X, data.X) @ entry.theta + F @ entry.beta


# ---- values --------------------------------------------------------------------------


def test_values_are_the_weighted_sum_of_the_members(average, entries, data, new):
    each = [values(entry, data, new) for entry in entries]
    assert_allclose(average.predict(new), np.tensordot(WEIGHTS, each, 1), rtol=1e-9)
    each = [member.fit.predict(new) for member in average.members]
    assert_allclose(average.predict(new), np.tensordot(WEIGHTS, each, 1), rtol=1e-9)
    held_out = sum(w * e.held_out for w, e in zip(WEIGHTS, entries, strict=True))
    assert_allclose(average.held_out, held_out, rtol=1e-12)
    assert_allclose(average.leave_one_out(), data.y - held_out, rtol=1e-12)
    assert average.uses_unlabeled
    assert_array_equal(average.weights, WEIGHTS)
    alone = average_of_entries(entries[:2], np.array([0.4, 0.6]), data, None)
    assert not alone.uses_unlabeled


def test_entries_without_weight_are_no_members(entries, data, new):
    one = average_of_entries(
        entries, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), data, None
    )
    assert [member.name for member in one.members] == ["mixed"]
    assert_allclose(one.predict(new), values(entries[2], data, new), rtol=1e-9)


def test_entries_of_one_candidate_share_the_problem(average):
    assert average.members[0].fit.posed is average.members[1].fit.posed


@pytest.mark.parametrize("block_rows", [1, 3, 7, None])
def test_rows_do_not_depend_on_the_others(average, new, block_rows):
    in_blocks = replace(average, stream=Stream(block_rows=block_rows, n_jobs=1))
    for method in ("predict", "std", "smoother_matrix"):
        expected = getattr(average, method)(new)
        actual = getattr(in_blocks, method)(new)
        assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)


def test_kernels_and_preparations_are_evaluated_once_in_a_block(
    kernels, constant, shared, data, new, monkeypatch, prepare
):
    # Two candidates and two alphas of each: one Gaussian matrix for a block of rows.
    mix = kernels["gaussian"] * 0.5 + kernels["linear"] * 0.5
    made = [
        Candidate("a", "plain", kernels["gaussian"], constant),
        Candidate("b", "plain", mix, constant),
    ]
    entries = [
        e for c in made for e in fit_at_all_alphas(c, shared, NumberCriterion())[3:5]
    ]
    stream = Stream(block_rows=3, n_jobs=1)
    average = average_of_entries(
        entries, np.full(4, 0.25), replace(data, stream=stream), None
    )
    expected = average.predict(new)
    calls, transform = [], type(prepare.transformer).transform

    def counting(Z, terms):
        assert len(terms) == 1
        total = gaussian_sum(Z, terms)
        return lambda X: calls.append("gaussian") or total(X)

    def preparing(self, X):
        calls.append("prepared")
        return transform(self, X)

    monkeypatch.setattr(average_members, "gaussian_sum", counting)
    monkeypatch.setattr(type(prepare.transformer), "transform", preparing)
    again = replace(average)  # without the functions of the first
    again._groups[0].values  # noqa: B018 - built, which prepares the labeled rows
    calls.clear()
    assert_array_equal(again.predict(new), expected)
    assert sorted(calls) == 3 * ["gaussian"] + 3 * ["prepared"]  # 3, 3 and 1 rows


@pytest.mark.parametrize("stretched", [False, True])
def test_gaussian_kernels_of_the_same_rows_share_distances(
    kernels, constant, shared, data, new, monkeypatch, stretched
):
    gaussian = kernels["gaussian"].kernel
    prepare, inner = gaussian.prepare, gaussian.kernel
    if stretched:
        by = np.linspace(0.5, 1.5, prepare(data.X).shape[1])
        prepare = Preparation("stretched", Stretched(prepare, by))
    entries = []
    for width in (1.0, 0.5, 0.25, 0.3):
        kernel = Prepared(prepare, Gaussian(width * inner.width))
        candidate = Candidate("", "plain", kernel, constant)
        entries.append(fit_at_all_alphas(candidate, shared, NumberCriterion())[4])
    average = average_of_entries(entries, np.full(4, 0.25), data, None)
    built = []

    def counting(Z, terms):
        built.append(len(terms))
        return gaussian_sum(Z, terms)

    monkeypatch.setattr(average_members, "gaussian_sum", counting)
    each = [member.fit.predict(new) for member in average.members]
    assert_allclose(average.predict(new), np.mean(each, axis=0), rtol=1e-10)
    assert built == [4]


def test_walks_on_one_graph_take_their_first_step_together(
    kernels, shared, data, constant, new, prepare, X, monkeypatch
):
    first = kernels["walk"].terms()[0][1]
    walk = first.kernel.walk
    others = [walk.variant(restart=0.3), walk.variant(n_neighbors=3)]
    entries = []
    for each in (walk, *others):
        kernel = shared.scaled(replace(first, kernel=replace(first.kernel, walk=each)))
        candidate = Candidate("", "walk", kernel, constant, True)
        entries.append(fit_at_all_alphas(candidate, shared, NumberCriterion())[4])
    shares = np.array([0.5, 0.3, 0.2])
    average = average_of_entries(entries, shares, data, None)
    expected = sum(
        a * values(e, data, new) for a, e in zip(shares, entries, strict=True)
    )
    assert_allclose(average.predict(new), expected, rtol=1e-7, atol=1e-9)
    steps, weights = [], Diffusion.weights

    def counting(self, rows):
        steps.append(len(rows))
        return weights(self, rows)

    monkeypatch.setattr(Diffusion, "weights", counting)
    average.predict(new)
    assert steps == [7, 7]  # onto two graphs, not for three walks


# ---- scales --------------------------------------------------------------------------


@pytest.fixture
def scales(candidates, shared):
    """Entries on both scales of positive targets, and their data."""
    positive = with_targets(shared, np.exp(shared.data.y[:, :1]))
    entries = []
    for name in ("gaussian", "laplace"):
        found = fit_at_all_alphas(candidates[name], positive, NumberCriterion())
        entries += [e for e in found if e.alpha == 0.01]
    plain, logs = entries[::2], entries[1::2]
    return plain + logs, positive.data


def test_logarithms_are_averaged_before_they_are_brought_back(scales, new):
    entries, data = scales
    average = average_of_entries(entries, np.array([0.1, 0.3, 0.4, 0.2]), data, None)
    target, logs = entries[2].target, entries[2].y
    held_out = (0.4 * entries[2].held_out + 0.2 * entries[3].held_out) / 0.6
    smearing = np.exp(logs - held_out).mean()
    assert 1.0 < smearing < 2.0
    room = (logs.max() - logs.min()) / 2
    for at, actual in (
        (lambda e: values(e, data, new), average.predict(new)),
        (lambda e: e.held_out, average.held_out),
    ):
        g = [at(entry) for entry in entries]
        on_logs = (0.4 * g[2] + 0.2 * g[3]) / 0.6
        held = np.clip(on_logs, logs.min() - room, logs.max() + room)
        expected = 0.1 * g[0] + 0.3 * g[1]
        expected += 0.6 * (np.exp(held) * smearing - target.shift)
        assert_allclose(actual, expected, rtol=1e-8)
    assert average.scale == "mixed"
    assert_array_equal(average.fitted_targets, data.y)
    with pytest.raises(ValueError, match="logarithm of the targets, so predictions"):
        average.smoother_matrix(new)
    one = average_of_entries(entries[2:3], np.ones(1), data, None)
    assert one.scale == "log"
    assert_array_equal(one.fitted_targets, logs)
    weights = one.label_weights(new)
    assert_allclose(weights @ logs, values(entries[2], data, new), rtol=1e-8)
    assert (
        average_of_entries(entries[:2], np.ones(2) / 2, data, None).scale == "as given"
    )


def test_std_of_logarithms_is_in_units_of_the_targets(candidates, shared, new):
    # Targets a thousandfold: so is the deviation, on whichever scale they were fitted.
    y, stds = np.exp(shared.data.y[:, :1]), []
    for factor in (1.0, 1_000.0):
        scaled = with_targets(shared, factor * y)
        found = fit_at_all_alphas(candidates["gaussian"], scaled, NumberCriterion())
        entry = found[len(ALPHAS) + ALPHAS.index(0.1)]
        average = average_of_entries([entry], np.ones(1), scaled.data, None)
        mean, std = average.predict(new), average.std(new)
        own = average.members[0].fit.std(new)
        expected = (mean + entry.target.shift) * np.sqrt(np.expm1(own**2))
        assert_allclose(std, expected, rtol=1e-9)
        stds.append(std)
    assert_allclose(stds[1], 1_000.0 * stds[0], rtol=1e-7)


# ---- uncertainty ---------------------------------------------------------------------


def test_std_is_that_of_a_mixture_of_the_weightiest(entries, data, new, monkeypatch):
    monkeypatch.setattr("halfmoon._selection.average.MAX_DEVIATION_MEMBERS", 2)
    average = average_of_entries(entries[:3], np.array([0.6, 0.01, 0.39]), data, None)
    mean, expected = average.predict(new), 0.0
    for share, i in ((0.6 / 0.99, 0), (0.39 / 0.99, 2)):
        own = values(entries[i], data, new)
        posed = entries[i].candidate.pose(data)
        variance = solve_ridge(posed, entries[i].alpha).std(new) ** 2
        expected = expected + share * (variance + (own - mean) ** 2)
    assert_allclose(average.std(new), np.sqrt(expected), rtol=1e-7)


def test_members_have_their_own_std_however_small_their_weights(entries, data, new):
    posed = entries[0].candidate.pose(data)
    expected = solve_ridge(posed, entries[0].alpha).std(new)
    one = average_of_entries(entries[:1], np.ones(1), data, None)
    assert_allclose(one.std(new), expected, rtol=1e-7)
    many = 100 * entries[:1]  # none has as much as two in a hundred
    average = average_of_entries(many, np.full(100, 0.01), data, None)
    assert_allclose(average.std(new), expected, rtol=1e-7)


def test_the_constant_has_a_std(kernels, constant, entry_at, data, new):
    candidate = Candidate("constant", "constant", kernels["linear"] * 0.0, constant)
    average = average_of_entries([entry_at(candidate, 0.1)], np.ones(1), data, None)
    mean = np.average(data.y, axis=0, weights=data.w)
    assert_allclose(average.predict(new), np.tile(mean, (7, 1)), rtol=1e-10)
    # The standard error of a weighted mean: s2 / W, with s2 of l - 1 degrees.
    s2 = (data.w[:, None] * (data.y - mean) ** 2).sum(axis=0) / 17
    expected = np.sqrt(s2 / data.w.sum())
    assert_allclose(average.std(new), np.tile(expected, (7, 1)), rtol=1e-7)


# ---- what is asked of an answer ------------------------------------------------------


def test_values_are_held_to_the_limits(average, data, new):
    free = average.predict(new)
    limits = np.quantile(free, 0.3, axis=0), np.quantile(free, 0.7, axis=0)
    held = replace(average, limits=limits)
    assert_array_equal(held.predict(new), np.clip(free, *limits))
    assert_array_equal(held.held_out, np.clip(average.held_out, *limits))
    expected = data.y - np.clip(average.held_out, *limits)
    assert_array_equal(held.leave_one_out(), expected)
    assert_array_equal(held.leave_one_out(np.array([3, 1])), expected[[3, 1]])


def test_targets_that_came_as_a_vector_leave_as_one(scales, new):
    entries, data = scales
    column = average_of_entries(entries, np.full(4, 0.25), data, None)
    vector = average_of_entries(
        entries, np.full(4, 0.25), replace(data, single=True), None
    )
    for method in ("predict", "std"):
        expected = getattr(column, method)(new)[:, 0]
        assert_array_equal(getattr(vector, method)(new), expected)
    assert_array_equal(vector.leave_one_out(), column.leave_one_out()[:, 0])
    assert_array_equal(vector.held_out, column.held_out)  # a column in any case


def test_the_smoother_matrix_gives_values_of_all_targets(average, data, new):
    H = average.smoother_matrix(new)
    assert H.shape == (7, 18)
    assert_allclose(H @ data.y, average.predict(new), rtol=1e-7, atol=1e-9)


def test_the_smoother_matrix_holds_for_other_targets(
    average, entries, shared, new, rng
):
    y = rng.normal(size=(18, 3))
    again, expected = with_targets(shared, y), 0.0
    for weight, entry in zip(WEIGHTS, entries, strict=True):
        found = fit_at_all_alphas(entry.candidate, again, NumberCriterion())
        same = found[ALPHAS.index(entry.alpha)]
        expected = expected + weight * values(same, again.data, new)
    H = average.smoother_matrix(new)
    assert_allclose(H @ y, expected, rtol=1e-7, atol=1e-9)


def test_a_row_in_place_of_a_labeled_one_without_its_label(
    candidates, shared, data, new
):
    # By real fits to the other labels at the same lam, in which the row is unlabeled.
    for name in ("gaussian", "walk", "energy", "linear"):
        candidate = candidates[name]
        (entry,) = [
            e
            for e in fit_at_all_alphas(candidate, shared, NumberCriterion())
            if e.alpha == 0.01
        ]
        average = average_of_entries([entry], np.ones(1), data, None)
        some = np.array([4, 0, 17, 9])
        actual = average.loo_predictor(some)(new[:4])
        for place, i in enumerate(some):
            posed = candidate.pose(data).without(np.array([i]))
            alpha = 0.01 * data.w.sum() / posed.w.sum()  # lam is held
            expected = solve_ridge(posed, alpha).predict(new[[place]])
            assert_allclose(actual[[place]], expected, rtol=1e-5, atol=1e-7)
        at_home = average.loo_predictor(some)(data.X[some])
        assert_allclose(at_home, average.held_out[some], rtol=1e-6, atol=1e-8)


def test_weights_of_all_labels_are_solved_once(average, new, monkeypatch):
    some = np.arange(17)
    expected = average.loo_predictor(some)(average.X_l[some])
    average.smoother_matrix(new)
    monkeypatch.setattr(Average, "_weights_of", None)
    actual = average.loo_predictor(np.arange(18))(average.X_l)
    assert_allclose(actual[some], expected, rtol=1e-10, atol=1e-12)


def test_without_own_labels_on_two_scales(scales):
    entries, data = scales
    some = np.array([3, 0, 11])
    both = average_of_entries(
        [entries[0], entries[2]], np.array([0.3, 0.7]), data, None
    )
    actual = both.loo_predictor(some)(data.X[some])
    assert_allclose(actual, both.held_out[some], rtol=1e-8)
    limits = np.quantile(actual, 0.4, axis=0), np.quantile(actual, 0.6, axis=0)
    held = replace(both, limits=limits).loo_predictor(some)(data.X[some])
    assert_allclose(held, np.clip(actual, *limits), rtol=1e-10)


def test_weights_of_features_that_all_members_share(candidates, entry_at, data):
    chosen = [entry_at(candidates[name], 0.01) for name in ("gaussian", "walk")]
    average = average_of_entries(chosen, np.array([0.25, 0.75]), data, None)
    expected = 0.25 * chosen[0].beta + 0.75 * chosen[1].beta
    assert_allclose(average.coef, expected, rtol=1e-12)


# ---- members of other kinds ----------------------------------------------------------


@pytest.fixture
def of_all_kinds(candidates, data, entry_at):
    """An exact member, one at landmarks and one of local fits."""
    exact = average_of_entries(
        [entry_at(candidates["walk"], 0.01)], np.ones(1), data, None
    )
    posed = candidates["gaussian"].pose(data)
    kernel = candidates["gaussian"].kernel
    few = replace(posed, basis=Nystrom(kernel, 6).fit(data.X, 0))
    at_landmarks = solve_ridge(few, 0.01)
    local = solve_locally(posed, 0.01, size=9, rng=0)
    members = [replace(exact.members[0], weight=0.5)]
    for name, fit, weight in (("few", at_landmarks, 0.3), ("local", local, 0.2)):
        held_out = data.y - fit.leave_one_out()
        members.append(Member(name, fit, weight, held_out, data.y, False))
    return replace(exact, members=members)


def test_members_at_landmarks_and_local_ones(of_all_kinds, data, new):
    average, shares = of_all_kinds, np.array([0.5, 0.3, 0.2])
    assert len(average.members[2].fit.partition.regions) > 1
    fits = [member.fit for member in average.members]
    each = np.array([fit.predict(new) for fit in fits])
    mean = np.tensordot(shares, each, 1)
    assert_allclose(average.predict(new), mean, rtol=1e-9)
    H = np.tensordot(shares, [fit.smoother_matrix(new) for fit in fits], 1)
    assert_allclose(average.smoother_matrix(new), H, rtol=1e-7, atol=1e-9)
    assert_allclose(H @ data.y, mean, rtol=1e-7, atol=1e-9)
    variance = np.array([fit.std(new) ** 2 for fit in fits])
    expected = np.tensordot(shares, variance + (each - mean) ** 2, 1)
    assert_allclose(average.std(new), np.sqrt(expected), rtol=1e-7)
    betas = [fits[0].beta, fits[1].beta, fits[2].betas.mean(axis=0)]
    assert_allclose(average.coef, np.tensordot(shares, betas, 1), rtol=1e-10)


def test_one_local_member_without_its_own_labels(of_all_kinds, data):
    average = of_all_kinds
    alone = replace(average, members=[replace(average.members[2], weight=1.0)])
    some = np.array([2, 7, 12])
    actual = alone.loo_predictor(some)(data.X[some])
    assert_allclose(actual, alone.held_out[some], rtol=1e-6, atol=1e-8)


def test_local_members_of_one_region_without_own_labels(
    of_all_kinds, data, new, monkeypatch
):
    average, some = of_all_kinds, np.array([2, 7, 12])
    members = []
    for alpha, weight in ((0.01, 0.6), (0.1, 0.4)):
        fit = solve_locally(average.members[2].fit.posed, alpha, size=99, rng=0)
        members.append(Member("", fit, weight, fit.held_out, data.y, False))
    average = replace(average, members=members)
    rows = np.vstack([data.X[some], new[:3]])
    H = average.smoother_matrix(rows)[np.arange(6), np.resize(some, 6)]
    residuals = np.tile((data.y - average.held_out)[some], (2, 1))
    expected = average.predict(rows).reshape(6, -1) - H[:, None] * residuals
    monkeypatch.setattr(LocalFit, "smoother_matrix", None)  # l weights for each row
    actual = average.loo_predictor(some)(rows)
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-11)


def test_held_out_values_of_some_labeled_rows_only(of_all_kinds, data, new):
    # At landmarks, where labels are thousands, some rows tell; the own label stays in.
    rows = np.array([1, 4, 8])
    fit = of_all_kinds.members[1].fit
    held_out = data.y[rows] - fit.leave_one_out(rows)
    member = Member("few", fit, 1.0, held_out, data.y[rows], False)
    average = replace(of_all_kinds, members=[member], rows=rows)
    assert_array_equal(average.held_out, held_out)
    assert_allclose(average.leave_one_out(), fit.leave_one_out())
    some = np.array([4, 2])
    assert_allclose(average.leave_one_out(some), fit.leave_one_out(some))
    assert_allclose(average.loo_predictor(some)(new[:2]), fit.predict(new[:2]))
    # All labels have a weight, though some only have held-out predictions.
    assert_array_equal(average.fitted_targets, data.y)
    weighted = average.label_weights(new) @ average.fitted_targets
    assert_allclose(weighted, fit.predict(new).reshape(len(new), -1))
    sets = [np.array([4, 2, 5]), np.array([0])]
    for found, expected in zip(
        average.leave_sets_out(sets), fit.leave_sets_out(sets), strict=True
    ):
        assert_allclose(found, expected)


def test_a_stored_average_answers_alike(of_all_kinds, average, scales, new):
    entries, data = scales
    logs = average_of_entries(entries, np.full(4, 0.25), data, None)
    for each in (average, of_all_kinds, logs):
        expected, std = each.predict(new), each.std(new)
        again = pickle.loads(pickle.dumps(each))
        assert_array_equal(again.predict(new), expected)
        assert_array_equal(again.std(new), std)
        assert_array_equal(again.held_out, each.held_out)
    assert len({id(m.target) for m in average.members}) == 1
    assert average.members[0].target is IDENTITY
