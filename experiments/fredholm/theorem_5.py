"""S0, theorem 5: the Fredholm kernel of a linear inner kernel estimates the inner
product of the clean rows without bias, and with less variance than x'z itself.

Two columns of signal (variance 4) and eight of noise (variance 0.25), as the paper's
problem setup; t from 0.25 to 16; averages over 20,000 unlabeled rows in place of the
paper's integral (a row and its negative by turns, so that their mean is 0), 2,000 pairs
of noisy rows around two fixed clean ones, scaled as the theorem says. The measured
variance includes what a finite table adds.
"""

import numpy as np

from experiments.experiment import Experiment
from experiments.page import Claim, Page, Picture
from halfmoon.kernels import Gaussian
from halfmoon.smoothers import KernelWeights
from halfmoon.theory import fredholm_linear_noise, linear_noise

SIGNAL, NOISE = 4.0, 0.25
CLEAN = np.array([[1.5, 0.5], [-0.5, 2.0]])
COLUMNS = 8


def cells(size):
    return [
        {"t": t, "rows": size.pick(20_000, 2_000), "pairs": size.pick(2_000, 200)}
        for t in size.pick((0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0), (1.0, 4.0))
    ]


def run(t, rows, pairs):
    rng = np.random.default_rng([5, rows])
    smoother = KernelWeights(Gaussian(np.sqrt(t))).fit(table(rows, rng))
    x, z = (noisy(clean, pairs, rng) for clean in CLEAN)
    averaged = [
        np.vstack([smoother.weights(part) @ smoother.rows_ for part in chunks(each)])
        for each in (x, z)
    ]
    k_F = ((t + SIGNAL) / SIGNAL) ** 2 * (averaged[0] * averaged[1]).sum(axis=1)
    plain = (x * z).sum(axis=1)
    return {
        "mean": k_F.mean(),
        "variance": k_F.var(ddof=1),
        "plain_mean": plain.mean(),
        "plain_variance": plain.var(ddof=1),
    }


def table(rows, rng):
    """Unlabeled rows, a row and its negative by turns."""
    scale = np.sqrt(np.r_[np.full(2, SIGNAL), np.full(COLUMNS, NOISE)])
    half = scale * rng.standard_normal((rows // 2, scale.size))
    return np.vstack([half, -half])


def noisy(clean, rows, rng):
    """Rows with one signal, and noise of their own."""
    noise = np.sqrt(NOISE) * rng.standard_normal((rows, COLUMNS))
    return np.c_[np.tile(clean, (rows, 1)), noise]


def chunks(X, size=200):
    return np.array_split(X, max(1, len(X) // size))


def report(runs):
    import matplotlib.pyplot as plt

    t = np.array([run.cell["t"] for run in runs])
    seen = {
        name: np.array([run.result[name] for run in runs]) for name in runs[0].result
    }
    theory = np.array(
        [fredholm_linear_noise(COLUMNS, SIGNAL, NOISE, each) for each in t]
    )
    plain = linear_noise(COLUMNS, NOISE)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.semilogx(t, seen["mean"], "o", label="Fredholm kernel, scaled")
    left.semilogx(t, seen["plain_mean"], "s", label="x'z of the noisy rows")
    left.axhline(CLEAN[0] @ CLEAN[1], color="k", label="x'z of the clean rows")
    left.set(xlabel="t", ylabel="mean")
    left.legend()
    right.loglog(t, theory, "k-", label="lemma 7")
    right.loglog(t, seen["variance"], "o", label="Fredholm kernel, drawn")
    right.axhline(plain, color="gray", label="lemma 6")
    right.loglog(t, seen["plain_variance"], "s", label="x'z of the noisy rows, drawn")
    right.set(xlabel="t", ylabel="variance under noise")
    right.legend()
    pairs = runs[0].cell["pairs"]
    bias = np.abs(seen["mean"] - CLEAN[0] @ CLEAN[1])
    error = np.sqrt(seen["variance"] / pairs)
    less = int((seen["variance"] < seen["plain_variance"]).sum())
    wide = t >= 1
    ratio = seen["variance"][wide] / theory[wide]
    return Page(
        [Picture("Mean and variance of the two estimates.", figure)],
        [
            Claim(
                "Scaled by ((t + signal) / signal)^2 the Fredholm kernel has the mean "
                "of the clean inner product",
                "reproduced" if bias[wide].max() < 0.1 else "reproduced in part",
                f"for t of 1 and more within {bias[wide].max():.3f} of "
                f"{CLEAN[0] @ CLEAN[1]:.2f} (rule: 0.1); largest deviation at any t "
                f"{bias.max():.3f}, {(bias / error).max():.0f} standard errors: small "
                f"t leaves few rows to average over",
            ),
            Claim(
                "Its variance is below that of x'z wherever the signal has more "
                "variance than the noise",
                "reproduced" if less == len(t) else "reproduced in part",
                f"at {less} of {len(t)} values of t; variance over that of lemma 7 for "
                f"t of 1 and more: {ratio.min():.2f} to {ratio.max():.2f}",
            ),
        ],
    )


EXPERIMENT = Experiment(
    name="fredholm-theorem-5",
    title="Less variance under noise, linear inner kernel",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__,
)
