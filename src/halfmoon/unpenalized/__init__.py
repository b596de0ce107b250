"""Unpenalized features: the null space of the penalty, the third lever."""

from halfmoon.unpenalized._base import Constant, Polynomials, Unpenalized
from halfmoon.unpenalized._hidden_layer import HiddenLayer
from halfmoon.unpenalized._kernel_features import Eigenfunctions, GaussianDraws
from halfmoon.unpenalized._user_features import Features

__all__ = [
    "Constant",
    "Eigenfunctions",
    "Features",
    "GaussianDraws",
    "HiddenLayer",
    "Polynomials",
    "Unpenalized",
]
