"""Handwritten digits with 20 labels a class; all other images are unlabeled, and test.

S0 takes USPS's test set (2,007 images) and "10k digits" of MNIST, pixels in [0, 1], and
chooses the parameters of each method on the test rows. It does not say which digits of
MNIST: here they are the 10,000 of its test set, whose classes have 892 to 1,135 images.
Labels are drawn at random within each class, ten times.

Also chosen here. Widths of the Gaussian kernel, the same for all methods: 0.25, 0.3,
0.35, 0.5 and 0.7 of the median distance between images; FredGauss has one width for
both of its kernels. Each lam is in units of the mean diagonal of the kernel at the
labeled images, 1e-8 to 100. LapRLSC is solved exactly, with the normalized Laplacian of
one graph of 10 neighbors, self-tuned: on USPS of widths 0.35 and 0.5 with gamma_I /
(gamma_A n^2) = 3, 30 and 300, which makes little difference, so that on MNIST it is of
width 0.5 with 30 and 300. Seconds are those of the processor for a whole search, per
split; what serves all splits, such as a kernel matrix or a factorization, is shared out
among them. Halfmoon is
`HalfmoonClassifier()` with nothing told of the table, and seconds enough that its
search ends by itself; seconds are for its fit and its predictions.
"""

from __future__ import annotations

import numpy as np

from experiments.experiment import Experiment, Run, Size
from experiments.fredholm.comparison import OURS, Comparison
from experiments.fredholm.images import METHODS, cells_of, claims_of, run_cell, twins
from experiments.page import Page, Picture

WIDTHS = (0.35, 0.5, 0.3, 0.7, 0.25)
#: Width and ratio of LapRLSC; MNIST has the first two.
GRAPHS = [
    (0.5, 30.0),
    (0.5, 300.0),
    (0.5, 3.0),
    (0.35, 3.0),
    (0.35, 30.0),
    (0.35, 300.0),
]

PRINTED = {
    "USPS": {
        "KRLSC": (11.8, 1.4),
        "LapRLSC": (10.2, 0.5),
        "FredGauss": (12.4, 1.8),
        "FredGauss(N)": (10.8, 1.1),
    },
    "MNIST": {
        "KRLSC": (14.3, 1.2),
        "LapRLSC": (8.6, 1.2),
        "FredGauss": (12.2, 1.0),
        "FredGauss(N)": (13.0, 0.9),
    },
}

CLAIMS = [
    *(
        (row, "LapRLSC", other, f"{row}: manifold regularization beats {other}")
        for row in PRINTED
        for other in ("KRLSC", "FredGauss", "FredGauss(N)")
    ),
    ("USPS", "FredGauss(N)", "KRLSC", "USPS: FredGauss(N) beats KRLSC"),
    ("USPS", "KRLSC", "FredGauss", "USPS: KRLSC beats FredGauss without normalizing"),
    ("MNIST", "FredGauss", "KRLSC", "MNIST: FredGauss beats KRLSC"),
    ("MNIST", "FredGauss(N)", "KRLSC", "MNIST: FredGauss(N) beats KRLSC"),
]


def cells(size: Size):
    rows = size.pick((2007, 10_000), (500, 500))
    usps = cells_of("usps", rows[0], {"USPS": 20}, WIDTHS, GRAPHS, size)
    mnist = cells_of("mnist", rows[1], {"MNIST": 20}, WIDTHS, GRAPHS[:2], size)
    return usps + mnist


def report(runs: list[Run]) -> Page:
    comparison = Comparison(runs, PRINTED)
    table = comparison.table("Errors in percent, 20 labels a class.", "data")
    return Page(
        [table, _picture(comparison), twins(runs)], claims_of(comparison, CLAIMS)
    )


def _picture(comparison: Comparison) -> Picture:
    import matplotlib.pyplot as plt

    rows = comparison.rows
    figure, axes = plt.subplots(
        1, len(rows), figsize=(4.5 * len(rows), 3.2), sharey=True, squeeze=False
    )
    for ax, row in zip(axes[0], rows, strict=True):
        methods = [m for m in (*METHODS, OURS) if m in comparison.methods(row)]
        x = np.arange(len(methods))
        tuned = [comparison.tuned(row, m) for m in methods]
        honest = [comparison.honest(row, m) for m in methods]
        others = [i for i, m in enumerate(methods) if m != OURS]
        ax.bar(
            x[others] - 0.2,
            [tuned[i].mean for i in others],
            0.38,
            yerr=[tuned[i].deviation for i in others],
            color="#56B4E9",
            label="tuned on test rows",
        )
        ax.bar(
            x + 0.2 * np.isin(x, others),
            [h.mean for h in honest],
            0.38,
            yerr=[h.deviation for h in honest],
            color="#E69F00",
            label="chosen by leave-one-out",
        )
        printed = [comparison.printed[row][methods[i]][0] for i in others]
        ax.plot(x[others] - 0.2, printed, "kD", ms=5, label="printed")
        ax.set_xticks(x, methods, rotation=20)
        ax.set_title(row)
    axes[0, 0].set_ylabel("error, %")
    axes[0, 0].set_ylim(0, 1.45 * axes[0, 0].get_ylim()[1])  # room for the legend
    axes[0, 0].legend(frameon=False, loc="upper right", fontsize=8)
    return Picture(
        "Errors with 20 labels a class; bars with standard deviations over splits.",
        figure,
    )


EXPERIMENT = Experiment(
    name="fredholm-table-5",
    title="Handwritten digits, 20 labels a class",
    cells=cells,
    run=run_cell,
    report=report,
    data=("usps", "mnist"),
    setting=__doc__,
)
