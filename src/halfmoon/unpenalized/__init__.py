"""Unpenalized features: the third lever, the null space of the penalty."""

from halfmoon.unpenalized.base import Unpenalized
from halfmoon.unpenalized.draws import GaussianDraws
from halfmoon.unpenalized.eigenfunctions import Eigenfunctions
from halfmoon.unpenalized.features import Features
from halfmoon.unpenalized.network import HiddenLayer, is_network
from halfmoon.unpenalized.polynomials import Constant, Polynomials
from halfmoon.unpenalized.prepared import PreparedFeatures

__all__ = [
    "Constant",
    "Eigenfunctions",
    "Features",
    "GaussianDraws",
    "HiddenLayer",
    "Polynomials",
    "PreparedFeatures",
    "Unpenalized",
    "is_network",
]
