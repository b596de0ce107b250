"""Landmarks: which p of n rows a basis is built on. Labels play no part."""

from halfmoon.landmarks.kmeans import kmeans
from halfmoon.landmarks.leverage import leverage, ridge_leverage_scores
from halfmoon.landmarks.rpcholesky import PivotedCholesky, randomly_pivoted_cholesky
from halfmoon.landmarks.select import select_landmarks
from halfmoon.landmarks.uniform import uniform

__all__ = [
    "PivotedCholesky",
    "kmeans",
    "leverage",
    "randomly_pivoted_cholesky",
    "ridge_leverage_scores",
    "select_landmarks",
    "uniform",
]
