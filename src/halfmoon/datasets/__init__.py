"""Data sets: the synthetic tables of the papers, and readers of real ones.

Synthetic tables are drawn anew from a seed. Real ones are read from a folder that the
environment variable ``HALFMOON_DATA`` names, never from the network while a program
runs: ``python -m halfmoon.datasets list`` says which are there, and ``python -m
halfmoon.datasets download mnist`` gets one, or says where it comes from.
"""

from halfmoon.datasets.folder import DataNotFound, find
from halfmoon.datasets.real_tables import (
    load_california_housing,
    load_covtype,
    load_mnist,
    load_protein,
    load_ssl_book,
    load_usps,
)
from halfmoon.datasets.real_texts import (
    load_20news,
    load_imdb,
    load_twitter,
    load_webkb,
    load_webkb_pages,
)
from halfmoon.datasets.synthetic import (
    concentric_circles,
    noisy_circles,
    noisy_line,
    reveal,
    two_gaussians,
)

__all__ = [
    "DataNotFound",
    "concentric_circles",
    "find",
    "load_20news",
    "load_california_housing",
    "load_covtype",
    "load_imdb",
    "load_mnist",
    "load_protein",
    "load_ssl_book",
    "load_twitter",
    "load_usps",
    "load_webkb",
    "load_webkb_pages",
    "noisy_circles",
    "noisy_line",
    "reveal",
    "two_gaussians",
]
