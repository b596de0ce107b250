"""Every table and figure of the three papers, each from one script.

The papers, which give their names to the folders here; S0, S1 and S2 in docstrings:

fredholm     Que, Belkin, Wang, "Learning with Fredholm Kernels", 2014
laplacian    Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the curse of
             dimensionality with Laplacian regularization", 2021
conditional  Takhanov, Assylbekov, "Conditional KRR: Injecting Unpenalized Features
             into Kernel Methods with Applications to Kernel Thresholding", 2026

A script says what to run (`cells`), runs one piece of it (`run`) and tells what came
out (`report`); see `experiment.py`. Results are kept as JSON, one line per cell, and
`RESULTS.md` is written from them and from nothing else.
"""
