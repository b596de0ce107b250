"""Smoothers: averages over all rows, labeled or not, that smooth a basis."""

from halfmoon.smoothers.base import Smoother
from halfmoon.smoothers.diffusion import Diffusion, diffused_grams
from halfmoon.smoothers.kernel_weights import KernelWeights
from halfmoon.smoothers.neighbors import Neighbors

__all__ = ["Diffusion", "KernelWeights", "Neighbors", "Smoother", "diffused_grams"]
