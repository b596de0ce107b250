"""Solvers: linear algebra for the one problem, independent of kernels."""

from halfmoon._solvers.bordered_system import Bordered
from halfmoon._solvers.box_program import LossPoint, solve_box
from halfmoon._solvers.cholesky_ridge import (
    PathPoint,
    PointFactor,
    RidgePoint,
    factor_point,
    path_point,
    ridge_point,
)
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.feature_path import (
    FeaturePath,
    HardThreshold,
    hard_threshold,
    nested_features,
)
from halfmoon._solvers.preconditioned_cg import (
    SolveResult,
    conjugate_gradients,
    nystrom_preconditioner,
)
from halfmoon._solvers.ridge import (
    IndefiniteKernelError,
    column_sum_norm,
    positive_part,
    ridge_cholesky,
    ridge_dual,
    ridge_eigh,
    ridge_svd,
    ridge_weighted,
)
from halfmoon._solvers.ridge_path import RidgePath, scaled_variances
from halfmoon._solvers.smooth_loss import solve_logistic, solve_softmax

__all__ = [
    "Bordered",
    "Elimination",
    "FeaturePath",
    "HardThreshold",
    "IndefiniteKernelError",
    "LossPoint",
    "PathPoint",
    "PointFactor",
    "RidgePath",
    "RidgePoint",
    "SolveResult",
    "column_sum_norm",
    "conjugate_gradients",
    "factor_point",
    "hard_threshold",
    "nested_features",
    "nystrom_preconditioner",
    "path_point",
    "positive_part",
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
