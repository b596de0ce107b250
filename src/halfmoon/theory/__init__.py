"""Theory: what the papers say of a fit, as numbers that can be laid beside it."""

from halfmoon.theory.conditioning import conditional_learner, cost_of_conditioning
from halfmoon.theory.decision import (
    Conditioning,
    should_condition,
    should_condition_from_data,
)
from halfmoon.theory.eigenlearning import Eigenlearning, eigenlearning
from halfmoon.theory.noise import (
    fredholm_constant,
    fredholm_inner_product,
    fredholm_linear_noise,
    fredholm_width,
    gaussian_noise,
    linear_noise,
    outer_width,
)
from halfmoon.theory.residual import ResidualKernel, residual_kernel
from halfmoon.theory.schedules import Schedule, laplacian_schedule
from halfmoon.theory.soft_threshold import SoftThreshold, soft_threshold_spectrum

__all__ = [
    "Conditioning",
    "Eigenlearning",
    "ResidualKernel",
    "Schedule",
    "SoftThreshold",
    "conditional_learner",
    "cost_of_conditioning",
    "eigenlearning",
    "fredholm_constant",
    "fredholm_inner_product",
    "fredholm_linear_noise",
    "fredholm_width",
    "gaussian_noise",
    "laplacian_schedule",
    "linear_noise",
    "outer_width",
    "residual_kernel",
    "should_condition",
    "should_condition_from_data",
    "soft_threshold_spectrum",
]
