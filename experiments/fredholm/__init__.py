"""Que, Belkin, Wang, "Learning with Fredholm Kernels", 2014."""
