"""Two and three levers in one candidate, where each alone did well."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._selection import (
    supervised_families as supervised,
)
from halfmoon._selection.candidate import ALPHAS, fit_at_all_alphas
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.semi_supervised_families import MU, composed_candidates
from halfmoon._selection.supervised_families import unpenalized_columns
from halfmoon.bases import Nystrom, Smoothed
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion, KernelWeights


@pytest.fixture
def columns(shared, prepare, monkeypatch):
    monkeypatch.setattr(supervised, "LABELS_PER_FEATURE", 2)
    found = unpenalized_columns(shared, prepare)
    assert found is not None
    return found


def test_nothing_is_composed_of_what_did_not_do_well(
    shared, constant, columns, prepare
):
    for promising in (set(), {"plain", "relevance", "constant"}):
        found = composed_candidates(shared, constant, columns, prepare, promising)
        assert list(found) == []


@pytest.mark.parametrize(
    ("promising", "names"),
    [
        ({"fredholm"}, ["averaged"]),
        ({"walk", "plain"}, ["walk"]),
        ({"long walk", "fredholm"}, ["averaged", "walk"]),
    ],
)
def test_what_did_well_is_composed(
    shared, constant, columns, prepare, promising, names
):
    found = list(composed_candidates(shared, constant, columns, prepare, promising))
    expected = []
    for name in names:
        full = f"normal scores, composed {name} + energy"
        expected += [full, f"{full}, columns unpenalized"]
    assert [each.name for each in found] == expected
    assert all(each.uses_unlabeled for each in found)
    alone = list(composed_candidates(shared, constant, None, prepare, promising))
    assert [each.name for each in alone] == expected[::2]


@pytest.mark.parametrize("name", ["averaged", "walk"])
def test_three_levers_are_the_problem_of_the_engine(
    X, shared, constant, columns, prepare, name, data
):
    promising = {"fredholm"} if name == "averaged" else {"walk"}
    made = list(composed_candidates(shared, constant, columns, prepare, promising))[1]
    entries = fit_at_all_alphas(made, shared, NumberCriterion())
    posed = made.kernel.terms()[0][1].kernel.posed
    smoother = KernelWeights if name == "averaged" else Diffusion
    assert isinstance(posed.basis, Smoothed)
    assert isinstance(posed.basis.smoother_, smoother)
    assert posed.energy == "graph"
    assert posed.mu == MU
    # The same basis and energy, posed with the labels and the columns themselves: the
    # kernel is scaled, so alpha is too.
    factor = made.kernel.terms()[0][0]
    Z = prepare(X)
    y, w = np.full((40, 2), np.nan), np.ones(40)
    y[shared.labeled], w[shared.labeled] = data.y, data.w
    inner = Nystrom(
        Gaussian(posed.basis.basis_.sections_.kernel_.length_scale),
        landmarks=posed.basis.basis_.sections_.rows_,
    )
    whole = Problem(
        Smoothed(inner, posed.basis.smoother),
        energy="graph",
        mu=MU,
        unpenalized=columns.features,
    )
    for i in (4, 7):
        fit = whole.fit(Z, y, ALPHAS[i] / factor, sample_weight=w)
        entry = entries[i]
        made_fit = made.pose(data).basis.function(entry.theta)(X)
        made_fit += columns.transform(X) @ entry.beta
        assert_allclose(made_fit, fit.predict(Z), rtol=1e-6, atol=1e-6)
        left = data.y - fit.leave_one_out()
        assert_allclose(entry.held_out, left, rtol=1e-5, atol=1e-6)
