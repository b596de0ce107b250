r"""
Density ratios by the same Fredholm equation
============================================

Training rows follow a density p, and the rows to predict follow another one, q. The
ratio q / p says how much weight each training row should have. For any kernel k,

.. math:: \int k(x, u) \, \frac{q(u)}{p(u)} \, p(u) \, du = \int k(x, v) \, q(v) \, dv ,

so the ratio solves a Fredholm equation, and both sides are averages over rows. This is
the equation behind `FredholmRegressor`, with averages instead of labels (Que and
Belkin, "Inverse density as an inverse problem", 2013).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from halfmoon import ConditionalRegressor
from halfmoon.bases import Nystrom, Smoothed
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.smoothers import KernelWeights

# %%
# Draw rows of both kinds. Here the true ratio is known, so we can compare.

rng = np.random.default_rng(0)
p, q = norm(0, 1), norm(1, 0.6)
rows, others = p.rvs(600, random_state=rng)[:, None], q.rvs(600, random_state=rng)
others = others[:, None]

# %%
# The left side smooths a basis over the rows of p. The right side is the mean of the
# kernel over the rows of q. The penalty is the norm of h.

k, h = Gaussian(0.3), Gaussian(0.7)
left = Smoothed(Nystrom(h, 60), KernelWeights(k, normalize=False))
right = k(rows, others).mean(axis=1)
fit = Problem(left, unpenalized=None).fit(rows, right, alpha=1e-5, rng=0)

# %%
# The fit is the smoothed ratio. The ratio itself is the function before smoothing.

ratio = fit.posed.basis.basis_.function(fit.theta)
x = np.linspace(-2.5, 3, 200)[:, None]
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
axis.plot(x, q.pdf(x) / p.pdf(x), "k:", label="q / p")
axis.plot(x, ratio(x), label="solution")
axis.plot(rows, np.zeros(600), "|", color="gray", label="rows of p")
axis.set(xlabel="x", ylim=(-0.3, 4))
axis.legend()
weights = np.maximum(ratio(rows)[:, 0], 0.0)
print(f"mean of the ratio over the rows of p: {weights.mean():.2f} (1 is right)")

# %%
# Use the ratio as weights: a straight line cannot follow a curve everywhere, so it
# should follow it where we need predictions.

y = np.sin(1.5 * rows[:, 0]) + 0.1 * rng.normal(size=600)
target = np.sin(1.5 * others[:, 0])
for name, w in (("equal weights", None), ("weights q / p", weights)):
    line = ConditionalRegressor("linear", alpha=1e-6).fit(rows, y, sample_weight=w)
    error = np.sqrt(np.mean((line.predict(others) - target) ** 2))
    print(f"{name}: error on the rows of q {error:.3f}")
