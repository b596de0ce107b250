"""The energy of a problem whose rows are in partitions: computed once, over all."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from halfmoon._moments import dirichlet, energy_forecast
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._rows import Array
from halfmoon.bases import Basis, Exact, WithDerivatives
from halfmoon.blocks import Stream

__all__ = ["KnownEnergy", "energy_of_partitions"]

logger = logging.getLogger("halfmoon")


@dataclass(frozen=True, eq=False)
class KnownEnergy:
    """An energy computed over rows in partitions, as a form of theta, (p, p)."""

    matrix: Array


def energy_of_partitions(
    energy: str | None, basis: Basis, rows: PartitionedRows, stream: Stream, n: int
) -> tuple[Any, int]:
    """Return the energy and its number of rows; a graph has those in memory.

    The energy of gradients is computed here, over all rows.
    """
    if energy is None:
        return energy, rows.n
    if energy != "gradient":
        return energy, n
    if isinstance(basis, (Exact, WithDerivatives)):
        raise ValueError(
            f"{type(basis).__name__} has functions for every row, and {rows.n:,} rows "
            f"in partitions are never all in memory. Use landmarks (Nystrom, or "
            f"n_components) or RandomFeatures."
        )
    forecast = energy_forecast(basis, rows, stream.client)
    if forecast is not None:
        logger.info("%s", forecast)
    return KnownEnergy(dirichlet(basis, rows, stream=stream)), rows.n
