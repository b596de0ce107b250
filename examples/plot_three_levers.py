"""
All three levers at once
========================

A smoothed basis, an energy in the penalty and unpenalized features solve three
different problems. Here is a table that has all three problems. We switch off one lever
at a time and compare the errors.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon import LaplacianRegressor
from halfmoon.bases import Exact, Smoothed
from halfmoon.datasets import concentric_circles
from halfmoon.kernels import Gaussian
from halfmoon.smoothers import KernelWeights

# %%
# Rows scatter around two circles: smooth the basis. The target has a different level on
# each circle: penalize gradients where rows are dense. It also rises with the first
# column, across both circles: leave that column unpenalized. Twelve of 400 rows are
# labeled.


def table(seed):
    rng = np.random.default_rng(seed)
    X, level, _ = concentric_circles(400, n_circles=2, rng=rng)
    X += 0.12 * rng.standard_normal(X.shape)
    truth = level + X[:, 0]
    y = np.full(400, np.nan)
    shown = rng.choice(400, 12, replace=False)
    y[shown] = truth[shown] + 0.1 * rng.standard_normal(12)
    return X, y, truth


# %%
# `basis`, `energy` and `unpenalized` are the three levers. Each variant chooses its own
# alpha and length scale by leave-one-out, so that the comparison is fair.

KERNELS = [Gaussian(length_scale) for length_scale in (0.3, 0.6, 1.2)]


def fitted(X, y, smoothed, energy, free):
    models = []
    for kernel in KERNELS:
        basis = Exact(kernel)
        if smoothed:
            basis = Smoothed(basis, KernelWeights(Gaussian(0.15)))
        model = LaplacianRegressor(
            basis=basis,
            energy="gradient" if energy else None,
            unpenalized=[0] if free else "constant",
        )
        models.append(model.fit(X, y))
    return max(models, key=lambda model: model.loo_score_)


variants = {
    "all three": (True, True, True),
    "basis not smoothed": (False, True, True),
    "no energy": (True, False, True),
    "trend penalized": (True, True, False),
    "none": (False, False, False),
}
errors = {name: np.zeros(10) for name in variants}
for seed in range(10):
    X, y, truth = table(seed)
    hidden = np.isnan(y)
    for name, levers in variants.items():
        values = fitted(X, y, *levers).predict(X[hidden])
        errors[name][seed] = np.sqrt(np.mean((values - truth[hidden]) ** 2))

# %%
# Errors on the unlabeled rows, over ten tables:

for name, error in errors.items():
    worse = (error > errors["all three"]).sum()
    spread = error.std(ddof=1) / np.sqrt(10)
    print(f"{name:21} {error.mean():.2f} +- {spread:.2f}; "
          f"worse than all three in {worse} of 10")  # fmt: skip

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.plot(list(errors.values()), list(errors), ".", color="0.6")
axis.plot([error.mean() for error in errors.values()], list(errors), "D")
axis.set(xlabel="root mean square error (gray: each table)", xlim=(0, None))
axis.invert_yaxis()
