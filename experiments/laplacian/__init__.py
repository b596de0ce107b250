"""Cabannes et al., "Overcoming the curse of dimensionality ...", 2021."""
