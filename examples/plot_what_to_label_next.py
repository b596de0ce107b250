"""
What to label next
==================

On two moons, one row at each outer tip is labeled. Which rows should a person label
next? Each function of `halfmoon.queries` answers this from one fit. Within a batch,
every pick counts as labeled before the next one is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons

from halfmoon import LaplacianClassifier
from halfmoon.kernels import Gaussian
from halfmoon.queries import (
    informative,
    margin,
    maximin,
    suspicious_labels,
    variance_reduction,
)

X, y = make_moons(300, noise=0.06, random_state=0)
known = np.full(300, np.nan)
tips = [int(X[:, 0].argmin()), int(X[:, 0].argmax())]
known[tips] = y[tips]
model = LaplacianClassifier(Gaussian(0.3), alpha=1e-6, random_state=0).fit(X, known)

# %%
# The first ten picks, numbered in order. Margin follows the border between the classes,
# variance reduction covers the moons evenly, and `informative`, the rule of
# ``halfmoon next``, picks rows between the two. MaxiMin picks where even the expected
# label would change the function most. In a batch it guesses the labels of its picks,
# so here it picks one row at a time, with a refit after each answer: it finds where the
# moons come close, and stays there.


def one_at_a_time(model, X, n):
    labels, picks = known.copy(), []
    for _ in range(n):
        [row] = maximin(clone(model).fit(X, labels), X, 1)
        labels[row] = y[row]
        picks.append(row)
    return picks


rules = {
    "informative": informative,
    "margin": margin,
    "variance reduction": variance_reduction,
    "MaxiMin, one at a time": one_at_a_time,
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
for (name, rule), ax in zip(rules.items(), axes.ravel(), strict=True):
    picks = rule(model, X, 10)
    more = known.copy()
    more[picks] = y[picks]
    accuracy = np.mean(clone(model).fit(X, more).predict(X) == y)
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=10, alpha=0.4)
    ax.scatter(*X[tips].T, marker="s", c="black")
    for number, (x, z) in enumerate(X[picks], start=1):
        ax.text(x, z, str(number), ha="center", va="center", weight="bold")
    ax.set_title(f"{name}: {accuracy:.0%} right with these labels")
    ax.set_axis_off()

# %%
# A fit also shows which labels look wrong. Here 60 rows are labeled, and six of these
# labels are flipped. The score is above one half if the other labels suggest another
# class.

rng = np.random.default_rng(0)
labeled = rng.permutation(300)[:60]
given = np.full(300, np.nan)
given[labeled] = y[labeled]
flipped = labeled[:6]
given[flipped] = 1 - y[flipped]
found = suspicious_labels(LaplacianClassifier(random_state=0).fit(X, given))
for row, label, other, score in found[:8]:
    wrong = "flipped" if row in flipped else "right"
    print(f"row {row:3}: {label:.0f} given, {other:.0f} likelier, {score:.2f}, {wrong}")
