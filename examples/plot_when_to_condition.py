"""
When to condition
=================

Features without a penalty are learned without bias, and cost variance. Which of the
two is larger can be predicted before any fit: `halfmoon.theory.should_condition`
compares the risks with and without them.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon.theory import should_condition

# %%
# A kernel on the circle has cosines and sines for modes, with eigenvalues that fall
# with the frequency. The target has the first five cosines, and the labels have noise.

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
ax.set(xlabel="modes without a penalty", ylabel="error saved, %", ylim=(-60, 105))
ax.legend()
plt.show()

# %%
# Freeing all ten modes that the target may have pays, the more so the less noise there
# is. Fewer than these help little, and each one beyond them costs about the variance of
# the noise divided by the number of labels. With noise alone, none should be free:

print(should_condition(spectrum, 100, 0.01, n_unpenalized=11, noise_variance=1.0))
