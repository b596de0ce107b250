"""Solvers: linear algebra for the one problem, independent of kernels."""
