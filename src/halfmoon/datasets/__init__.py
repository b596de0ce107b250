"""Synthetic tables of the papers, drawn from a seed."""

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
