"""Cells: what is written in them, and how to write more of the same."""
