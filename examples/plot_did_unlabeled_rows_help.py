"""
Did the unlabeled rows help?
============================

Unlabeled rows are not always good for something. `HalfmoonClassifier` and
`HalfmoonRegressor` fit a *supervised twin* beside everything else, which sees the
labels alone, and compare each candidate with it on the same left-out rows.
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
    for name, who in [("answer", model), ("twin", model.twin_)]:
        right = np.mean(who.predict(X[hidden]) == truth[hidden])
        print(f"{name:7} {right:.1%} of the unlabeled rows right")
    print("The unlabeled rows are used:", model.used_unlabeled_)
    return ComparisonDisplay.from_estimator(model)


# %%
# **Moons.** Two curved clusters and five labels of each. A point left of the line has a
# smaller leave-one-out error than the twin, and its interval says by how much. In color
# are the candidates that have a part in the answer.

X, moon = make_moons(500, noise=0.1, random_state=0)
truth = np.where(moon == 0, "upper", "lower").astype(object)
compare(X, truth, hide(truth, 5, seed=1)).ax_.set_title("two moons, 10 labels")

# %%
# **One cloud.** Rows without a gap, whose class changes along a line through the
# middle: where the rows are says nothing of it. With ``safe=True``, the default, the
# twin answers unless it is clearly beaten.

X, _ = two_gaussians(500, n_features=2, distance=0.0, rng=0)
truth = np.where(X[:, 0] + X[:, 1] > 0, "above", "below").astype(object)
compare(X, truth, hide(truth, 15, seed=1)).ax_.set_title("one cloud, 30 labels")
