"""
Noisy rows: smooth the basis
============================

Que, Belkin and Wang, "Learning with Fredholm kernels" (2014): noise in the *rows*, not
in the labels, hides which rows are similar. A kernel averaged over all rows,

.. math:: k_F(x, z) = \\sum_{ij} a_i(x) \\, h(x_i, x_j) \\, a_j(z),

suppresses the directions in which rows scatter, and every unlabeled row improves the
average.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon import ConditionalClassifier, FredholmClassifier
from halfmoon.smoothers import Neighbors

# %%
# Four groups form two classes. Their centers lie in a plane, which noise hides among 60
# columns. Two rows of each group are labeled.

CENTERS = 2.5 * np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])


def table(n, rng):
    group = np.arange(n) % 4
    X = rng.standard_normal((n, 60))
    X[:, :2] += CENTERS[group]
    truth = np.where(group < 2, "even", "odd").astype(object)
    y = np.full(n, None, dtype=object)
    for each in range(4):
        y[np.flatnonzero(group == each)[:2]] = truth[each]
    return X, y, truth


# %%
# The number of labels stays the same; only the number of unlabeled rows grows.

sizes = [50, 100, 200, 400]
models = {
    "labels alone": ConditionalClassifier(alpha=1e-3),
    "smoothed": FredholmClassifier(smoother=Neighbors(20, steps=3), alpha=1e-3),
}
errors = {name: np.zeros((len(sizes), 8)) for name in models}
for i, n in enumerate(sizes):
    for seed in range(8):
        X, y, truth = table(n, np.random.default_rng(seed))
        hidden = np.array([label is None for label in y])
        for name, model in models.items():
            predicted = model.fit(X, y).predict(X[hidden])
            errors[name][i, seed] = np.mean(predicted != truth[hidden])

figure, axis = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
for name, error in errors.items():
    mean, spread = error.mean(axis=1), error.std(axis=1) / np.sqrt(8)
    axis.errorbar(sizes, mean, spread, marker="o", capsize=3, label=name)
    print(name, mean.round(3))
axis.set(xscale="log", xlabel="rows, of which 8 are labeled", ylabel="part wrong")
axis.legend()

# %%
# Averages help if neighboring rows are similar. They do not help if classes overlap, or
# if the label depends on what the average removes. Compare both by leave-one-out
# (``loo_score_``) before you trust either.
