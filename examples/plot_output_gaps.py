"""
Outputs with gaps
=================

Two properties are measured on the same rows. One is cheap and known in many rows, the
other is expensive. In one fit, each output learns from the rows that have it. We
compare this with a fit that uses complete rows only.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian

# %%
# 60 rows on a line. The cheap output is known in 40 of them, the expensive one in 12,
# and only six rows have both.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 60))
truth = np.column_stack([np.sin(x), 0.2 * x + np.cos(0.7 * x)])
Y = truth + 0.1 * rng.standard_normal(truth.shape)
order = rng.permutation(60)
Y[order[40:], 0] = np.nan
Y[order[:34], 1] = np.nan
Y[order[46:], 1] = np.nan
complete = np.asarray(~np.isnan(Y).any(axis=1))
print(f"known: {(~np.isnan(Y)).sum(axis=0)}, complete rows: {complete.sum()}")

# %%
# ``fit`` accepts the gaps. ``alpha_`` has one value per output, because each group of
# outputs with the same labeled rows chooses its own by leave-one-out.

X, kernel = x[:, None], Gaussian(1.5)
with_gaps = ConditionalRegressor(kernel).fit(X, Y)
dropped = ConditionalRegressor(kernel).fit(X, np.where(complete[:, None], Y, np.nan))
for name, model in (("with gaps", with_gaps), ("complete rows only", dropped)):
    errors = np.sqrt(((model.predict(X) - truth) ** 2).mean(axis=0))
    print(f"{name}: root mean squared error {errors.round(2)}")

# %%
# The standard deviation of each output is small where that output has labels.

line = np.linspace(0, 10, 200)[:, None]
values, std = with_gaps.predict(line, return_std=True)
other = dropped.predict(line)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.5), layout="constrained")
for j, (ax, title) in enumerate(zip(axes, ["cheap", "expensive"], strict=True)):
    ax.plot(x, truth[:, j], "k:", label="truth")
    ax.plot(line, values[:, j], label="with gaps")
    low, high = values[:, j] - 2 * std[:, j], values[:, j] + 2 * std[:, j]
    ax.fill_between(line[:, 0], low, high, alpha=0.2)
    ax.plot(line, other[:, j], "--", label="complete rows only")
    ax.plot(x, Y[:, j], "k.")
    ax.set(title=title, ylim=(-2, 4))
axes[0].legend()
plt.show()
