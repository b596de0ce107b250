"""Unpenalized features: the third lever, the null space of the penalty."""

from halfmoon.unpenalized.base import Unpenalized
from halfmoon.unpenalized.features import Features
from halfmoon.unpenalized.polynomials import Constant, Polynomials

__all__ = ["Constant", "Features", "Polynomials", "Unpenalized"]
