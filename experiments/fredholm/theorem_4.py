"""S0, theorem 4: with a linear outer kernel and Gaussian rows, the Fredholm kernel is
an inner product that shrinks directions of low variance: a soft principal components.

The theorem is for infinitely many rows. Ten columns of variances 10, 10/2, 10/4, ...,
mean 0; t = 1; 200, 1,000 and 8,000 unlabeled rows, ten draws each. Shown is the factor
of each principal direction, x'k_F x / x'x, measured with halfmoon's own smoothed basis,
beside the theorem's.
"""

import numpy as np

from experiments.experiment import Experiment
from experiments.page import Claim, Page, Picture
from halfmoon.kernels import Gaussian
from halfmoon.theory import fredholm_inner_product

VARIANCES = 10.0 / 2.0 ** np.arange(10.0)
T = 1.0


def cells(size):
    counts = size.pick((200, 1_000, 8_000), (200, 1_000))
    return [{"rows": n, "draws": size.pick(10, 3)} for n in counts]


def run(rows, draws):
    """S = X'H X / n^2 is the inner product of the linear outer kernel."""
    rng = np.random.default_rng([4, rows])
    kernel = Gaussian(np.sqrt(T))
    factors = []
    for _ in range(draws):
        X = np.sqrt(VARIANCES) * rng.standard_normal((rows, VARIANCES.size))
        S = sum(
            X[block].T @ (kernel(X[block], X) @ X)
            for block in np.array_split(np.arange(rows), max(1, rows // 1_000))
        )
        # The diagonal of H pairs a row with itself, which independent pairs do not.
        S = (S - X.T @ X) / (rows * (rows - 1))
        factors.append(np.diag(S))
    return {"factors": factors}


def report(runs):
    import matplotlib.pyplot as plt

    theory = np.diag(fredholm_inner_product(np.zeros(10), VARIANCES, T))
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.loglog(VARIANCES, theory, "k-", label="theorem 4")
    axes.loglog(
        VARIANCES, theory[0] / VARIANCES[0] * VARIANCES, "k:", label="plain x'z"
    )
    worst, wide = {}, {}
    for run, marker in zip(runs, "ovs", strict=False):
        factors = np.array(run.result["factors"])
        n, mean = run.cell["rows"], factors.mean(axis=0)
        error = factors.std(axis=0, ddof=1) / np.sqrt(len(factors))
        worst[n] = float(np.abs(mean / theory - 1).max())
        wide[n] = float(np.abs((mean - theory) / error).max())
        axes.errorbar(
            VARIANCES, mean, factors.std(axis=0, ddof=1), fmt=marker, label=f"n = {n:,}"
        )
    axes.axvline(T, color="gray", lw=0.8)
    axes.set(xlabel="variance of a principal direction (t = 1)", ylabel="factor in k_F")
    axes.legend()
    most = max(worst)
    holds = worst[most] < 0.1
    claim = Claim(
        "k_F(x, z) = x'S z, where S shrinks a direction of variance v to "
        "v^2 / (2 v + t)",
        "reproduced" if holds else "not reproduced",
        f"largest deviation of a factor from the theorem with {most:,} rows: "
        f"{100 * worst[most]:.1f} %, {wide[most]:.1f} standard errors (rule: 10 %)",
    )
    return Page(
        [Picture("Factor of each direction: theory and draws.", figure)], [claim]
    )


EXPERIMENT = Experiment(
    name="fredholm-theorem-4",
    title="A linear outer kernel softly thresholds principal components",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__,
)
