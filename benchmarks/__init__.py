"""Timings beside those of other libraries, as ratios within one run."""
