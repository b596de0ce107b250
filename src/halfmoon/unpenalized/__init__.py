"""Unpenalized features: the third lever, the null space of the penalty."""

from halfmoon.unpenalized.base import Unpenalized
from halfmoon.unpenalized.draws import GaussianDraws
from halfmoon.unpenalized.eigenfunctions import Eigenfunctions
from halfmoon.unpenalized.features import Features
from halfmoon.unpenalized.network import HiddenLayer, is_network
from halfmoon.unpenalized.polynomials import Constant, Polynomials

__all__ = [
    "Constant",
    "Eigenfunctions",
    "Features",
    "GaussianDraws",
    "HiddenLayer",
    "Polynomials",
    "Unpenalized",
    "is_network",
]
