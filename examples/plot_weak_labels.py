"""
Partly known labels
===================

Each row has a set of candidate classes, or an interval that contains its number. That
is less than a label, and more than nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from halfmoon import ConditionalRegressor
from halfmoon.weak import CandidateSetClassifier, IntervalRegressor

# %%
# Four clusters. The candidates of a row are its true class, and each of the others with
# probability one half: two and a half candidates on average. Few rows have only one.

rng = np.random.default_rng(0)
X, truth = make_blobs(240, centers=4, cluster_std=1.6, random_state=1)
sets = rng.uniform(size=(240, 4)) < 0.5
sets[np.arange(240), truth] = True
model = CandidateSetClassifier(random_state=0).fit(X, sets)
single = sets.sum(axis=1) == 1
print(f"{single.mean():.0%} of the rows have one candidate")
print(f"{np.mean(model.disambiguated_ == truth):.1%} of the labels were found")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
colors = plt.get_cmap("tab10")
left.scatter(*X[~single].T, c="lightgray", s=12)
left.scatter(*X[single].T, c=colors(truth[single]), s=12)
left.set(title="rows with one candidate")
right.scatter(*X.T, c=colors(model.disambiguated_), s=12)
right.set(title="what was found in the sets")

# %%
# The objective falls with every step, in which the probabilities of all candidates
# change, and what is known about the sets of each class with them.

figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.plot(model.history_, marker="o")
axis.set(xlabel="step", ylabel="objective")

# %%
# Intervals. A gauge stops at 0.6, so above it only a lower end is known. If we use that
# end as the label, it pulls the fit down. With an interval the fit can rise.

t = np.sort(rng.uniform(0, 6, 90))[:, None]
value = np.sin(t[:, 0]) + 0.1 * rng.normal(size=90)
cut = value > 0.6
ends = np.c_[np.minimum(value, 0.6), np.where(cut, np.inf, value)]
interval = IntervalRegressor().fit(t, ends)
plain = ConditionalRegressor().fit(t, ends[:, 0])

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.plot(t[~cut], value[~cut], ".", color="gray", label="read exactly")
axis.plot(t[cut], ends[cut, 0], "^", color="gray", label="at least this")
axis.plot(t, np.sin(t), "k:", label="truth")
axis.plot(t, interval.predict(t), label="intervals")
axis.plot(t, plain.predict(t), label="the end as a label")
axis.legend()
for name, fit in (("intervals", interval), ("the end as a label", plain)):
    error = np.sqrt(np.mean((fit.predict(t[cut]) - np.sin(t[cut, 0])) ** 2))
    print(f"{name:19} error where the gauge stops {error:.3f}")
