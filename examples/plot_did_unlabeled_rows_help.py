"""
Did the unlabeled rows help?
============================

Unlabeled rows do not always help. `HalfmoonClassifier` and `HalfmoonRegressor` also fit
a *supervised twin*, which learns from the labeled rows only, and compare each candidate
with it on the same held-out labels.
"""

import numpy as np
from sklearn.datasets import make_moons

from halfmoon import HalfmoonClassifier
from halfmoon.datasets import two_gaussians
from halfmoon.plotting import ComparisonDisplay


def hide(truth, per_class, seed):
    y = np.full(len(truth), None, dtype=object)
    rng = np.random.default_rng(seed)
    for each in np.unique(truth):
        shown = rng.choice(np.flatnonzero(truth == each), per_class, replace=False)
        y[shown] = each
    return y


def compare(X, truth, y):
    model = HalfmoonClassifier(random_state=0).fit(X, y)
    hidden = np.array([label is None for label in y])
    for name, who in [("model", model), ("twin", model.twin_)]:
        right = np.mean(who.predict(X[hidden]) == truth[hidden])
        print(f"{name:7} {right:.1%} of the unlabeled rows right")
    print("The unlabeled rows are used:", model.used_unlabeled_)
    return ComparisonDisplay.from_estimator(model)


# %%
# **Moons.** Two curved clusters with five labels each. A point to the left of the line
# has a smaller leave-one-out error than the twin; its interval says by how much.
# Candidates with a weight in the model are colored.

X, moon = make_moons(500, noise=0.1, random_state=0)
truth = np.where(moon == 0, "upper", "lower").astype(object)
compare(X, truth, hide(truth, 5, seed=1)).ax_.set_title("two moons, 10 labels")

# %%
# **One cloud.** Rows without a gap, whose class changes along a line through the
# middle. The positions of unlabeled rows say nothing about it. With ``safe=True``, the
# default, halfmoon uses the twin unless the labels give more evidence for the
# candidates that use unlabeled rows. Thirty labels can decide this wrongly, but then
# the two models are nearly equally good.

X, _ = two_gaussians(500, n_features=2, distance=0.0, rng=0)
truth = np.where(X[:, 0] + X[:, 1] > 0, "above", "below").astype(object)
compare(X, truth, hide(truth, 15, seed=1)).ax_.set_title("one cloud, 30 labels")
