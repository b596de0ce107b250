"""
Choosing alpha by exact leave-one-out
=====================================

For squared errors, the leave-one-out residual of a row has a closed form,
:math:`e_i = (y_i - g(x_i)) / (1 - H_{ii})`, for every alpha from one factorization.
From a sequence of alphas, `fit` chooses the best.
"""

import numpy as np
from sklearn.base import clone

from halfmoon import LaplacianRegressor
from halfmoon.kernels import Gaussian
from halfmoon.plotting import LeaveOneOutDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (500, 2))
truth = np.sin(2 * X[:, 0]) * X[:, 1]
y = np.where(np.arange(500) < 80, truth + 0.2 * rng.standard_normal(500), np.nan)

# %%
# Compare the leave-one-out error with the true error on the 420 unlabeled rows, which
# needs one fit per alpha. The two numbers differ, because labels are noisy and the
# truth is not, but both are smallest at nearly the same alpha.

alphas = np.logspace(-7, 0, 22).tolist()
model = LaplacianRegressor(Gaussian(0.7), alpha=alphas).fit(X, y)
display = LeaveOneOutDisplay.from_estimator(model)

hidden = np.isnan(y)
true_errors = []
for alpha in alphas:
    values = clone(model).set_params(alpha=alpha).fit(X, y).predict(X[hidden])
    true_errors.append(np.mean((values - truth[hidden]) ** 2))
display.ax_.plot(alphas, true_errors, "--", color="0.5", label="true, unlabeled rows")
display.ax_.legend()
best = alphas[np.argmin(true_errors)]
print(f"chosen: {display.alpha:.1e}; best in truth: {best:.1e}")

# %%
# The formula is exact. To check it, hide one label and refit. The row stays in the
# table as an unlabeled one, and lam, alpha times the number of labels, stays the same.

without = y.copy()
without[7] = np.nan
other = clone(model).set_params(alpha=display.alpha * 80 / 79).fit(X, without)
print("by formula:", model.leave_one_out()[7])
print("by a refit:", y[7] - other.predict(X[7:8])[0])
