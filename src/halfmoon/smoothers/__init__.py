"""Smoothers: averages over all rows, labeled or not, to smooth a basis with."""

from halfmoon.smoothers._diffusion import Diffusion
from halfmoon.smoothers._weights import KernelWeights, Neighbors, Smoother

__all__ = [
    "Diffusion",
    "KernelWeights",
    "Neighbors",
    "Smoother",
]
