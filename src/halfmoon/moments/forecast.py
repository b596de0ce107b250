"""How long an energy over rows in partitions will take, from a short probe."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfmoon.bases import Basis
from halfmoon.blocks import Stream, alone
from halfmoon.costs import (
    Cost,
    energy_cost,
    energy_operations,
    probe_rows,
    seconds_a_call,
)
from halfmoon.moments.dirichlet import dirichlet
from halfmoon.partitions.table import PartitionedRows

__all__ = ["energy_forecast"]

SHORT = 1e10  # operations: over before anybody has read how long they take


def energy_forecast(
    basis: Basis, rows: PartitionedRows, client: Any = None
) -> Cost | None:
    """The cost of the energy of a basis over rows in partitions; None of little work.

    The probe is the same work here, on some rows and with one thread. A worker is taken
    to be as fast, and reading all rows again as long as it took before.
    """
    (n, d), p = rows.shape, basis.n_components_
    if energy_operations(n, d, p) < SHORT:
        return None
    some = np.repeat(rows.example, min(n, probe_rows(p)), axis=0)
    with alone():
        taken = seconds_a_call(lambda: dirichlet(basis, some, stream=Stream(n_jobs=1)))
    return energy_cost(
        *(n, d, p),
        partitions=len(rows.partitions),
        rate=energy_operations(len(some), d, p) / taken,
        workers=rows.engine(client).threads,
        reading=rows.reading,
    )
