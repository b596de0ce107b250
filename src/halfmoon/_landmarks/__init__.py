"""Landmarks: p of the n rows, on which a basis is built. Labels are not used."""

from halfmoon._landmarks.methods import select_landmarks
from halfmoon._landmarks.rpcholesky import PivotedCholesky, randomly_pivoted_cholesky
from halfmoon._landmarks.sampling import (
    kmeans_plusplus,
    leverage,
    ridge_leverage_scores,
    uniform,
)

__all__ = [
    "PivotedCholesky",
    "kmeans_plusplus",
    "leverage",
    "randomly_pivoted_cholesky",
    "ridge_leverage_scores",
    "select_landmarks",
    "uniform",
]
