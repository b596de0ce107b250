"""Smoothers: averages over all rows, labeled or not, that smooth a basis."""

from halfmoon.smoothers.base import Smoother
from halfmoon.smoothers.diffusion import Diffusion, diffused_values
from halfmoon.smoothers.diffusion_kernel import DiffusionKernel
from halfmoon.smoothers.kernel_weights import KernelWeights
from halfmoon.smoothers.neighbors import Neighbors

__all__ = [
    "Diffusion",
    "DiffusionKernel",
    "KernelWeights",
    "Neighbors",
    "Smoother",
    "diffused_values",
]
