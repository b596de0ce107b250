"""Solvers: linear algebra for the one problem. They know nothing of kernels."""

from halfmoon.solvers.bordered import Bordered
from halfmoon.solvers.box_program import LossPoint, solve_box
from halfmoon.solvers.cg import (
    SolveResult,
    conjugate_gradients,
    nystrom_preconditioner,
)
from halfmoon.solvers.elimination import Elimination
from halfmoon.solvers.kriging import kriging_variance, scaled_variances
from halfmoon.solvers.nested import FeaturePath, nested_features
from halfmoon.solvers.point import PointFactor, RidgePoint, factor_point, ridge_point
from halfmoon.solvers.ridge import (
    RidgePath,
    ridge_cholesky,
    ridge_dual,
    ridge_eigh,
    ridge_svd,
    ridge_weighted,
)
from halfmoon.solvers.smooth_loss import solve_logistic, solve_softmax
from halfmoon.solvers.spectral import Eigenpairs, filtered, generalized_eigenpairs
from halfmoon.solvers.threshold import HardThreshold, hard_threshold

__all__ = [
    "Bordered",
    "Eigenpairs",
    "Elimination",
    "FeaturePath",
    "HardThreshold",
    "LossPoint",
    "PointFactor",
    "RidgePath",
    "RidgePoint",
    "SolveResult",
    "conjugate_gradients",
    "factor_point",
    "filtered",
    "generalized_eigenpairs",
    "hard_threshold",
    "kriging_variance",
    "nested_features",
    "nystrom_preconditioner",
    "ridge_cholesky",
    "ridge_dual",
    "ridge_eigh",
    "ridge_point",
    "ridge_svd",
    "ridge_weighted",
    "scaled_variances",
    "solve_box",
    "solve_logistic",
    "solve_softmax",
]
