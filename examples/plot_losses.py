"""
Other losses: quantiles, outliers, log odds
===========================================

Every estimator has a parameter `loss`. Here the quantile loss draws a band, Huber's
loss tolerates outliers, and the hinge and logistic losses draw a border.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from halfmoon import ConditionalRegressor, LaplacianClassifier
from halfmoon.kernels import Gaussian
from halfmoon.losses import Quantile

# %%
# **Quantiles.** The noise grows from left to right. Each quantile is a separate fit;
# alpha is chosen by leave-one-out, approximated by one Newton step.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 200))
y = np.sin(x) + 0.1 * (1 + x) * rng.standard_normal(200)
X, kernel = x[:, None], Gaussian(1.5)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
axes[0].plot(x, y, "k.", markersize=3)
for level in (0.1, 0.5, 0.9):
    model = ConditionalRegressor(kernel, loss=Quantile(level)).fit(X, y)
    values = model.predict(X)
    axes[0].plot(x, values, label=f"{level:.0%}")
    print(f"below the {level:.0%} quantile: {np.mean(y <= values):.0%} of the labels")
axes[0].set(title="quantiles")
axes[0].legend()

# %%
# **Outliers.** Every tenth label lost its decimal point.

spoiled = np.sin(x) + 0.1 * rng.standard_normal(200)
spoiled[::10] *= 10
axes[1].plot(x, spoiled, "k.", markersize=3)
axes[1].plot(x, np.sin(x), "k:", label="truth")
for loss in ("squared", "huber"):
    values = ConditionalRegressor(kernel, loss=loss).fit(X, spoiled).predict(X)
    axes[1].plot(x, values, label=loss)
    error = np.sqrt(np.mean((values - np.sin(x)) ** 2))
    print(f"{loss}: root mean squared error {error:.2f}")
axes[1].set(title="outliers", ylim=(-3, 3))
axes[1].legend()

# %%
# **Classes.** Eight labels, and an energy that keeps the border away from dense rows.

rows, moon = make_moons(200, noise=0.08, random_state=0)
known = np.where(np.arange(200) < 8, moon, np.nan)
grid = np.stack(np.meshgrid(np.linspace(-1.5, 2.5, 60), np.linspace(-1, 1.6, 60)), -1)
axes[2].scatter(*rows.T, c=moon, s=6, cmap="coolwarm")
axes[2].scatter(*rows[:8].T, c=moon[:8], s=60, cmap="coolwarm", edgecolors="k")
for loss, color in (("squared", "C0"), ("hinge", "C1"), ("logistic", "C2")):
    machine = LaplacianClassifier(loss=loss, unpenalized=None, random_state=0)
    machine.fit(rows, known)
    scores = machine.decision_function(grid.reshape(-1, 2)).reshape(60, 60)
    axes[2].contour(grid[..., 0], grid[..., 1], scores, [0.0], colors=color)
    print(f"{loss}: {machine.score(rows[8:], moon[8:]):.0%} of the other rows right")
axes[2].set(title="borders of three losses")
plt.show()
