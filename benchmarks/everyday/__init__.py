"""Everyday tables, through the command line."""
