"""Theory: predictions of the papers about a fit, as numbers to compare with it."""

from halfmoon.theory._eigenlearning import eigenlearning
from halfmoon.theory._noise_suppression import (
    fredholm_constant,
    fredholm_inner_product,
    fredholm_linear_noise,
    fredholm_width,
    gaussian_noise,
    linear_noise,
    outer_width,
)
from halfmoon.theory._residual import (
    conditional_learner,
    cost_of_conditioning,
    residual_kernel,
)
from halfmoon.theory._schedules import laplacian_schedule
from halfmoon.theory._soft_threshold import soft_threshold_spectrum
from halfmoon.theory._when_to_condition import (
    should_condition,
    should_condition_from_data,
)

__all__ = [
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
