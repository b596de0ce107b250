"""
When to condition
=================

Unpenalized features reduce bias and add variance. `halfmoon.theory.should_condition`
predicts which of the two is larger before any fit: it compares the risks with and
without them.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon.theory import should_condition

# %%
# The modes of a kernel on the circle are cosines and sines; its eigenvalues fall with
# the frequency. The target is a sum of the first five cosines, and labels are noisy.

frequency = np.repeat(np.arange(1.0, 501.0), 2)
spectrum = np.append(1.0, frequency**-2.0 / 2)
target = np.zeros(1001)
target[1:11:2] = np.arange(1, 6) / np.sqrt(2)
free = np.arange(1, 42, 2)  # a constant, and pairs of a cosine and a sine

fig, ax = plt.subplots(layout="constrained")
for noise in (0.1, 1.0, 10.0):
    margins = [
        should_condition(
            *(spectrum, 100, 0.01),
            target=target,
            noise_variance=noise,
            n_unpenalized=int(k),
        ).margin
        for k in free
    ]
    ax.plot(free, 100 * np.array(margins), ".-", label=f"noise variance {noise:g}")
ax.axhline(0.0, color="black", linewidth=1.0)
ax.set(xlabel="unpenalized modes", ylabel="error saved, %", ylim=(-60, 105))
ax.legend()
plt.show()

# %%
# It pays to leave all ten modes of the target unpenalized, more so with less noise.
# Fewer modes help little, and each further one costs about the variance of the noise
# divided by the number of labels. If the labels are pure noise, all modes should be
# penalized:

print(should_condition(spectrum, 100, 0.01, n_unpenalized=11, noise_variance=1.0))
