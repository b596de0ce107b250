"""
Four circles, four labels
=========================

Figure 1 of Cabannes et al., "Overcoming the curse of dimensionality with Laplacian
regularization" (2021): rows lie on four circles, and one row of each is labeled,
alternately minus and plus. The penalty

.. math:: \\frac1n \\sum_i |\\nabla g(x_i)|^2 + \\mu |g|^2

is a mean over all rows, labeled or not. Where there are no rows, a jump costs nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon import LaplacianRegressor
from halfmoon.datasets import concentric_circles, reveal
from halfmoon.kernels import Gaussian
from halfmoon.plotting import BoundaryDisplay

X, truth, circle = concentric_circles(1_500, rng=0)
y = reveal(truth, circle, rng=0)

# %%
# Use the same kernel and the same alpha twice: first with only the kernel norm as the
# penalty (kernel ridge), then with the energy.
#
# Every feature is penalized here, even the constant. With four labels, an unpenalized
# constant is the mean of very few values, and a circle would lean to it far from its
# label.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained")
for axis, energy in zip(axes, [None, "gradient"], strict=True):
    model = LaplacianRegressor(
        Gaussian(0.2), alpha=1.0, energy=energy, unpenalized=None
    ).fit(X, y)
    right = np.mean(np.sign(model.predict(X)) == truth)
    BoundaryDisplay.from_estimator(model, X, y, ax=axis)
    axis.set(title=f"energy={energy!r}: {right:.1%} right", aspect="equal")
    print(f"energy={energy!r}: {right:.1%} of 1,500 rows right from 4 labels")
