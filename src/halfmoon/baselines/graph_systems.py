"""Systems on a graph: I - S, or a part of it, of which the diagonal is 1.

Dense by Cholesky; sparse by LU while that is small, and by conjugate gradients beyond,
where the factors of a graph in many columns would be nearly full.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from sklearn.exceptions import ConvergenceWarning

from halfmoon.rows import Array
from halfmoon.solvers import conjugate_gradients

__all__ = ["graph_solve", "identity_minus"]

LU_ROWS = 3_000
TOLERANCE = 1e-10  # of the residual of conjugate gradients


def identity_minus(S: Any) -> Any:
    """I - S, sparse where S is."""
    n = S.shape[0]
    return (sp.eye_array(n, format="csr") if sp.issparse(S) else np.eye(n)) - S


def graph_solve(A: Any, B: Array) -> Array:
    """A^-1 B for a positive definite A of unit diagonal.

    Parameters
    ----------
    A : ndarray or csr_array of shape (m, m)
    B : ndarray of shape (m, t)
    """
    if A.shape[0] == 0:
        return B
    if not sp.issparse(A):
        try:
            return np.asarray(sla.cho_solve(sla.cho_factor(A), B))
        except sla.LinAlgError:  # tied to the labels by little more than rounding
            return np.asarray(sla.lstsq(A, B)[0])
    if A.shape[0] > LU_ROWS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = conjugate_gradients(
                lambda V: A @ V, B, tolerance=TOLERANCE, max_iterations=A.shape[0]
            )
        if found.converged:
            return found.value
    # Diagonally dominant, so that the pivots may stay on the diagonal.
    factor = splu(
        A.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factor.solve(B))
