"""Readers of the real data sets of the papers and of the benchmarks.

They are read from a folder that the environment variable ``HALFMOON_DATA`` names, never
from the network while an experiment runs: ``python -m experiments.data list`` says
which are there, and ``python -m experiments.data download mnist`` gets one, or says
where it comes from.
"""

from experiments.data.folder import DataNotFound, find
from experiments.data.real_tables import (
    load_california_housing,
    load_covtype,
    load_mnist,
    load_protein,
    load_ssl_book,
    load_usps,
)
from experiments.data.real_texts import (
    load_20news,
    load_imdb,
    load_twitter,
    load_webkb,
    load_webkb_pages,
)

__all__ = [
    "DataNotFound",
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
]
