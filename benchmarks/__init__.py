"""Timings compared with other libraries, as ratios within one run."""
