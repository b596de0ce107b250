"""Forecast of the time for an energy over rows in partitions, from a short probe."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon._costs import (
    Cost,
    energy_cost,
    energy_operations,
    probe_rows,
    seconds_a_call,
)
from halfmoon._moments.dirichlet import dirichlet
from halfmoon._partitions.partitioned_rows import PartitionedRows
from halfmoon.bases import Basis
from halfmoon.blocks import Stream, alone

__all__ = ["energy_forecast"]

MIN_OPERATIONS = 1e10  # less work ends before anyone has read a forecast


def energy_forecast(
    basis: Basis, rows: PartitionedRows, client: Any = None
) -> Cost | None:
    """Return the cost of the energy of a basis over rows in partitions.

    It is None if there is little work. The probe is the same work on a few rows, here,
    with one thread. The forecast assumes workers of the same speed, and that reading
    all rows takes as long as it did the first time.
    """
    (n, d), p = rows.shape, basis.n_components_
    if energy_operations(n, d, p) < MIN_OPERATIONS:
        return None
    probe = np.repeat(rows.example, min(n, probe_rows(p)), axis=0)
    stream = Stream(n_jobs=1)
    with alone():
        seconds = seconds_a_call(lambda: dirichlet(basis, probe, stream=stream))
    return energy_cost(
        *(n, d, p),
        partitions=len(rows.partitions),
        rate=energy_operations(len(probe), d, p) / seconds,
        workers=rows.engine(client).threads,
        reading=rows.reading,
    )
