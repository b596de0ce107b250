"""Theory: what the papers say of a fit, as numbers that can be laid beside it."""

from halfmoon.theory.conditioning import conditional_learner, cost_of_conditioning
from halfmoon.theory.residual import ResidualKernel, residual_kernel

__all__ = [
    "ResidualKernel",
    "conditional_learner",
    "cost_of_conditioning",
    "residual_kernel",
]
