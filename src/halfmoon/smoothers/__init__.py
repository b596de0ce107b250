"""Smoothers: averages over all rows, labeled or not, to smooth a basis with."""

from halfmoon.smoothers._base import Smoother
from halfmoon.smoothers._diffusion import Diffusion
from halfmoon.smoothers._kernel_weights import KernelWeights
from halfmoon.smoothers._neighbors import Neighbors

__all__ = [
    "Diffusion",
    "KernelWeights",
    "Neighbors",
    "Smoother",
]
