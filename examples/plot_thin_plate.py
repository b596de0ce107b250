"""
A thin plate spline, and a trend that continues
===============================================

A spline has unpenalized features (Takhanov and Assylbekov, "Conditional KRR", 2026):
its penalty measures bending, planes do not bend, so planes are unpenalized. With
another kernel, the same model is universal kriging.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import RBFInterpolator

from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian, ThinPlate
from halfmoon.plotting import LeaveOneOutDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (60, 2))


def surface(X):
    return 2 * X[:, 0] + X[:, 1] + np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1])


y = surface(X) + 0.1 * rng.standard_normal(60)

# %%
# Exact leave-one-out chooses alpha. SciPy gives the same spline if its smoothing is the
# number of labels times alpha.

spline = ConditionalRegressor(ThinPlate(), unpenalized="linear").fit(X, y)
lam = 60 * LeaveOneOutDisplay.from_estimator(spline).alpha
scipy = RBFInterpolator(X, y, kernel="thin_plate_spline", smoothing=lam)
new = rng.uniform(-1, 1, (1_000, 2))
values = spline.predict(new)
print(f"lam = {lam:.2g}, leave-one-out R^2 = {spline.loo_score_:.3f}")
print(f"largest difference from SciPy: {np.abs(values - scipy(new)).max():.0e}")
print(f"root mean square error: {np.sqrt(np.mean((values - surface(new)) ** 2)):.3f}")

# %%
# Outside the range of the rows, a penalized function decays to its constant, and an
# unpenalized trend continues. Both come with a standard deviation; that of an
# unpenalized slope grows with the distance.

across = np.linspace(-3, 3, 200)
line = np.column_stack([across, np.zeros(200)])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for axis, free in zip(axes, ["constant", "linear"], strict=True):
    model = ConditionalRegressor(Gaussian(0.7), unpenalized=free).fit(X, y)
    mean, std = model.predict(line, return_std=True)
    axis.plot(across, surface(line), "k--", label="truth")
    axis.plot(across, mean, label="fit")
    axis.fill_between(across, mean - 2 * std, mean + 2 * std, alpha=0.25)
    axis.axvspan(-1, 1, color="0.93", zorder=0)
    axis.set(title=f"unpenalized={free!r}", xlabel="first column")
    far = np.abs(across) > 1.5
    rms = np.sqrt(np.mean((mean - surface(line))[far] ** 2))
    print(f"unpenalized={free!r}: error {rms:.2f} beyond 1.5")
axes[0].legend()
