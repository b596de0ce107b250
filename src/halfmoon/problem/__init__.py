"""The one problem, stated, posed on data and solved.

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

from halfmoon.problem.filtering import solve_filter
from halfmoon.problem.fit import Fit
from halfmoon.problem.folds import (
    balanced_folds,
    in_order_of_targets,
    out_of_fold,
    some_labels,
)
from halfmoon.problem.iterative import solve_iteratively
from halfmoon.problem.left_out import left_out_together, telling_rows
from halfmoon.problem.likelihood import restricted_deviances
from halfmoon.problem.local import LocalFit, solve_locally
from halfmoon.problem.loss import search_loss, solve_loss
from halfmoon.problem.partition import Partition
from halfmoon.problem.posed import Posed
from halfmoon.problem.posed_kernel import PosedKernel
from halfmoon.problem.ridge import as_numbers, solve_ridge
from halfmoon.problem.search import search
from halfmoon.problem.statement import Problem

__all__ = [
    "Fit",
    "LocalFit",
    "Partition",
    "Posed",
    "PosedKernel",
    "Problem",
    "as_numbers",
    "balanced_folds",
    "in_order_of_targets",
    "left_out_together",
    "out_of_fold",
    "restricted_deviances",
    "search",
    "search_loss",
    "solve_filter",
    "solve_iteratively",
    "solve_locally",
    "solve_loss",
    "solve_ridge",
    "some_labels",
    "telling_rows",
]
