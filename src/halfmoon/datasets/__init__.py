"""Synthetic tables of the papers."""

from halfmoon.datasets._synthetic import (
    concentric_circles,
    noisy_circles,
    noisy_line,
    reveal,
    two_gaussians,
)

__all__ = [
    "concentric_circles",
    "noisy_circles",
    "noisy_line",
    "reveal",
    "two_gaussians",
]
