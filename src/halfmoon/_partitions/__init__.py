"""Rows in partitions, on this machine or on many.

A Dask table is never collected as a whole. A fit needs sums over all rows, which each
partition computes for its own rows, and collects the labeled rows and a sample.
"""
