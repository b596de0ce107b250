"""Runs: two passes over a table, and what they find."""
