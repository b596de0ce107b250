"""Data sets: the synthetic tables of the papers."""

from halfmoon.datasets.synthetic import (
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
