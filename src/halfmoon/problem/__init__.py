"""The one problem behind every estimator: stated, posed on data, and solved.

>>> import numpy as np
>>> from halfmoon.bases import Nystrom, Smoothed
>>> from halfmoon.kernels import Gaussian
>>> from halfmoon.smoothers import KernelWeights
>>> from halfmoon.unpenalized import Polynomials
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, (200, 2))
>>> y = np.where(np.arange(200) < 40, X[:, 0] + np.sin(3 * X[:, 1]), np.nan)
>>> problem = Problem(
...     Smoothed(Nystrom(Gaussian(0.5), 50), KernelWeights(Gaussian(0.1))),  # lever 1
...     energy="gradient",  # lever 2
...     unpenalized=Polynomials(degree=1),  # lever 3
... )
>>> fit = problem.fit(X, y, alpha=[1e-6, 1e-4, 1e-2], rng=0)
>>> errors = fit.predict(X) - (X[:, 0] + np.sin(3 * X[:, 1]))
>>> bool(np.sqrt(np.mean(errors**2)) < 0.1)
True
"""

from halfmoon.problem._conjugate_gradients import solve_iteratively
from halfmoon.problem._convex_loss import solve_loss
from halfmoon.problem._fit import Fit, solve_ridge
from halfmoon.problem._local_fits import solve_locally
from halfmoon.problem._problem import Problem
from halfmoon.problem._spectral_filter import solve_filter

__all__ = [
    "Fit",
    "Problem",
    "solve_filter",
    "solve_iteratively",
    "solve_locally",
    "solve_loss",
    "solve_ridge",
]
