"""
How sure? Probabilities and deviations, checked
===============================================

Classifiers calibrate their probabilities on held-out labels, and regressors return the
posterior standard deviation of the function. Both are claims. Rows with hidden labels
can check them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import brier_score_loss

from halfmoon import ConditionalRegressor, LaplacianClassifier
from halfmoon.datasets import two_gaussians
from halfmoon.kernels import Gaussian

# %%
# **Probabilities.** Two overlapping groups and 60 labels. Of the rows with probability
# 80 %, 80 % should belong to the class. Here the best possible probability is known: a
# logistic function of the first column.

X, group = two_gaussians(3_000, n_features=4, distance=1.5, rng=0)
y = np.where(np.arange(3_000) < 60, group, np.nan)
model = LaplacianClassifier(n_components=200, random_state=0).fit(X, y)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
test = slice(60, None)
CalibrationDisplay.from_estimator(
    *(model, X[test], group[test]),
    n_bins=8,
    strategy="quantile",
    name="halfmoon",
    ax=axes[0],
)
best = 1 / (1 + np.exp(-1.5 * (X[test, 0] - 0.75)))
for name, p in [("halfmoon", model.predict_proba(X[test])[:, 1]), ("the truth", best)]:
    print(f"{name}: Brier score {brier_score_loss(group[test] > 0, p):.3f}")

# %%
# **Standard deviations.** They describe the function, not a new measurement. Over 20
# tables, how often is the truth within a given number of them?

spans = np.linspace(0.25, 3, 12)
inside = np.zeros((20, 12))
for seed in range(20):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-3, 3, (400, 1))
    truth = np.sin(2 * rows[:, 0])
    labels = np.where(
        np.arange(400) < 40, truth + 0.3 * rng.standard_normal(400), np.nan
    )
    fit = ConditionalRegressor(Gaussian(0.8)).fit(rows, labels)
    mean, std = fit.predict(rows[40:], return_std=True)
    off = np.abs(mean - truth[40:]) / std
    inside[seed] = [np.mean(off < span) for span in spans]

axes[1].plot(spans, 2 * norm.cdf(spans) - 1, "k:", label="normal")
axes[1].errorbar(
    *(spans, inside.mean(axis=0), inside.std(axis=0) / np.sqrt(20)),
    marker="s",
    label="halfmoon",
)
axes[1].set(xlabel="within this many deviations", ylabel="part of rows")
axes[1].legend()
print(f"within 2 deviations: {inside[:, 7].mean():.1%} of rows (normal: 95.4 %)")

# %%
# A single table may do better or worse than the mean. No posterior knows whether its
# kernel is right; leave-one-out residuals can check that.
