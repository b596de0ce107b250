"""Columns: which to learn from, what each contains, and its numbers in the matrix."""
