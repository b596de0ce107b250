"""Moments of a basis over the rows: sums over row blocks."""

from halfmoon._moments.dirichlet import dirichlet, dirichlet_and_covariance
from halfmoon._moments.forecasts import energy_forecast
from halfmoon._moments.graph import graph_energy
from halfmoon._moments.second_moments import label_moments

__all__ = [
    "dirichlet",
    "dirichlet_and_covariance",
    "energy_forecast",
    "graph_energy",
    "label_moments",
]
