"""Partitions: rows that stay where they are, on this machine or on many.

A table of Dask is never brought home whole. What a fit needs of it is a sum over all
rows, which each partition takes of its own rows, the labeled rows, and a sample.
"""

from halfmoon.partitions.engines import ByExecutor, Engine, InTurn
from halfmoon.partitions.table import PartitionedRows, Reader

__all__ = ["ByExecutor", "Engine", "InTurn", "PartitionedRows", "Reader"]
