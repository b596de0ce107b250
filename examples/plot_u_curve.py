"""
The hard threshold, and its U curve
===================================

How many functions should be unpenalized? Leave the top k eigenfunctions of the kernel
unpenalized: k = 0 is kernel ridge, k equal to the rank is interpolation, and in between
the test error often follows a U. Takhanov and Assylbekov, "Conditional KRR" (2026),
section 5.1. One eigendecomposition gives the error for every k and every alpha.
"""

import numpy as np

from halfmoon import ConditionalRegressor
from halfmoon.kernels import PeriodicSobolev
from halfmoon.plotting import HardThresholdDisplay

# %%
# The target is a sum of five waves on the circle, and faster waves are larger. So a
# smoothness penalty shrinks most what matters most.

WAVES = np.arange(1, 6)


def signal(x):
    return np.cos(x[:, None] * WAVES) @ WAVES.astype(float)


rng = np.random.default_rng(0)
x, x_test = rng.uniform(0, 2 * np.pi, 100), rng.uniform(0, 2 * np.pi, 2_000)
y = signal(x) + rng.standard_normal(100)

# %%
# The constant and the five waves, as sines and cosines, are the first eleven
# eigenfunctions.

model = ConditionalRegressor(PeriodicSobolev(1.0), unpenalized=None)
path = model.fit(x[:, None], y).hard_threshold_path(
    x_test[:, None], signal(x_test), alphas=[1e-3, 1e-2, 1e-1]
)
display = HardThresholdDisplay.from_path(path)
display.ax_.set_xlim(-1, 60)
display.ax_.set_ylim(top=30)
for alpha, errors, (k, least) in zip(
    path.alphas, path.errors, display.best, strict=True
):
    print(f"alpha = {alpha:<5g}  {errors[0]:.2f} at k = 0, {least:.2f} at k = {k}")

# %%
# This plot needs test rows. To *choose* k from the labels, pass several:
# ``unpenalized=Eigenfunctions([0, 5, 11, 21])``. The choice is made by folds in which
# the eigenfunctions are recomputed. Closed-form leave-one-out is exact for alpha but
# would be wrong for k, because every row has influenced the eigenfunctions.
