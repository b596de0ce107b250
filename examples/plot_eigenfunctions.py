"""
Eigenfunctions of the rows
==========================

The functions that vary most for their energy see the shape of a table: clusters first,
then positions along them. `LaplacianEigenmaps` finds them as *functions*, so that new
rows have values too. Figure 2 of Cabannes et al. (2021).
"""

import numpy as np

from halfmoon import LaplacianEigenmaps
from halfmoon.datasets import concentric_circles
from halfmoon.kernels import Gaussian
from halfmoon.plotting import EigenfunctionDisplay

# %%
# On an interval they are cosines, and 1 / s the eigenvalues of the Laplacian, the
# squares of their rates.

line = np.linspace(0, 1, 200)[:, None]
maps = LaplacianEigenmaps(3, Gaussian(0.1), mu=1e-9, random_state=0).fit(line)
EigenfunctionDisplay.from_estimator(maps, line)
print("rates / pi:", (np.sqrt(1 / maps.eigenvalues_) / np.pi).round(3))

# %%
# On two circles the first is constant on each: it tells them apart. For this the basis
# needs the derivatives of the kernel, because kernel sections alone are not flat along
# a curve and across it at once. There are n (d + 1) functions in that basis, so it is
# for small tables.

X, _, circle = concentric_circles(240, n_circles=2, rng=0)
maps = LaplacianEigenmaps(4, Gaussian(0.5), basis="derivatives", mu=1e-6).fit(X)
EigenfunctionDisplay.from_estimator(maps, X)
first = maps.transform(X)[:, 0]
for number in (0, 1):
    here = first[circle == number]
    print(f"function 1 on circle {number}: {here.mean():+.3f}, +- {here.std():.3f}")

# %%
# With landmarks, which any table can afford, the same function comes later, after waves
# along the circles.

maps = LaplacianEigenmaps(8, Gaussian(0.5), mu=1e-6, random_state=0).fit(X)
display = EigenfunctionDisplay.from_estimator(maps, X)
values = maps.transform(X)
within = [values[circle == number].var(axis=0) for number in (0, 1)]
print("part of the variance within circles:", np.mean(within, axis=0).round(2))
