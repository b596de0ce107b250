"""Moments: what a basis needs to know of the rows, each a sum over row blocks."""

from halfmoon.moments.covariance import covariance
from halfmoon.moments.dirichlet import dirichlet, dirichlet_and_covariance
from halfmoon.moments.forecast import energy_forecast
from halfmoon.moments.graph import graph_energy
from halfmoon.moments.labels import label_moments

__all__ = [
    "covariance",
    "dirichlet",
    "dirichlet_and_covariance",
    "energy_forecast",
    "graph_energy",
    "label_moments",
]
