"""
Eigenfunctions of the rows
==========================

The functions with the most variance for their energy show the shape of a table: first
clusters, then positions along them. `LaplacianEigenmaps` finds them as *functions*, so
new rows have values too. Figure 2 of Cabannes et al. (2021).
"""

import numpy as np

from halfmoon import LaplacianEigenmaps
from halfmoon.datasets import concentric_circles
from halfmoon.kernels import Gaussian
from halfmoon.plotting import EigenfunctionDisplay

# %%
# On an interval they are cosines. With s the eigenvalues found, 1 / s are those of the
# Laplacian, the squared frequencies.

line = np.linspace(0, 1, 200)[:, None]
maps = LaplacianEigenmaps(3, Gaussian(0.1), mu=1e-9, random_state=0).fit(line)
EigenfunctionDisplay.from_estimator(maps, line)
print("rates / pi:", (np.sqrt(1 / maps.eigenvalues_) / np.pi).round(3))

# %%
# On two circles the first function is constant on each circle and separates them. This
# needs a basis with derivatives of the kernel: kernel sections alone cannot be flat
# along a curve and across it at once. That basis has n (d + 1) functions, so it is for
# small tables.

X, _, circle = concentric_circles(240, n_circles=2, rng=0)
maps = LaplacianEigenmaps(4, Gaussian(0.5), basis="derivatives", mu=1e-6).fit(X)
EigenfunctionDisplay.from_estimator(maps, X)
first = maps.transform(X)[:, 0]
for number in (0, 1):
    here = first[circle == number]
    print(f"function 1 on circle {number}: {here.mean():+.3f}, +- {here.std():.3f}")

# %%
# With landmarks, which work for tables of any size, the same function comes later,
# after waves along the circles.

maps = LaplacianEigenmaps(8, Gaussian(0.5), mu=1e-6, random_state=0).fit(X)
display = EigenfunctionDisplay.from_estimator(maps, X)
values = maps.transform(X)
within = [values[circle == number].var(axis=0) for number in (0, 1)]
print("part of the variance within circles:", np.mean(within, axis=0).round(2))
