"""Rows in partitions, on this machine or on many.

A Dask table is never collected as a whole. A fit needs sums over all rows, which each
partition computes for its own rows, and collects the labeled rows and a sample.
"""

from halfmoon._partitions.partitioned_rows import Engine, PartitionedRows, Reader

__all__ = ["Engine", "PartitionedRows", "Reader"]
