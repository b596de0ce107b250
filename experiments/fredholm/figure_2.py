"""S0, figure 2: principal component regression, where the Fredholm kernel needs no
number of components.

Rows from N(0, diag(10, 1, ..., 1)), 2,000 of them unlabeled, and Y the first column.
The paper is silent on the number of columns (100 here), on noise (none, as its formula
has none, and beside it noise of variance 1) and on what its error is (here the mean
square on 2,000 test rows over the variance of Y). Fredholm is FredLin1, a linear outer
and a Gaussian inner kernel, with t and alpha chosen by leave-one-out on the labels.
Regression on k principal components uses all rows for the components. Ten draws.
"""

import numpy as np

from experiments.experiment import Experiment
from experiments.page import Claim, Page, Picture, Table
from halfmoon import FredholmRegressor
from halfmoon.baselines import PrincipalComponentRegressor
from halfmoon.kernels import Gaussian

COLUMNS, UNLABELED, TEST = 100, 2_000, 2_000
SIGNAL = 10.0
LABELS = (5, 10, 20, 40, 60, 80, 120)
COMPONENTS = (1, 2, 5, 20, COLUMNS)
WIDTHS = (5.0, 10.0, 20.0, 40.0, 80.0)
FREDHOLM, LINEAR = "Fredholm", f"{COLUMNS} components: plain regression"


def cells(size):
    labels = size.pick(LABELS, (10, 40))
    return [
        {"noise": noise, "labels": l, "splits": size.splits}
        for noise in (0.0, 1.0)
        for l in labels
    ]


def run(noise, labels, splits):
    errors: dict[str, list[float]] = {}
    for split in range(splits):
        rng = np.random.default_rng([2, labels, split])
        scale = np.r_[np.sqrt(SIGNAL), np.ones(COLUMNS - 1)]
        X = scale * rng.standard_normal((labels + UNLABELED + TEST, COLUMNS))
        y = X[:, 0] + np.sqrt(noise) * rng.standard_normal(len(X))
        known = np.full(labels + UNLABELED, np.nan)
        known[:labels] = y[:labels]
        rows, X_test, truth = X[: len(known)], X[len(known) :], X[len(known) :, 0]
        models = {_name(k): PrincipalComponentRegressor(k) for k in COMPONENTS}
        models[FREDHOLM] = _fredholm(rows, known)
        for name, model in models.items():
            g = model.fit(rows, known).predict(X_test)
            error = ((g - truth) ** 2).mean() / SIGNAL
            errors.setdefault(name, []).append(error)
    return {"errors": errors}


def _fredholm(X, y):
    """FredLin1 with the width that leave-one-out prefers, and its alpha."""
    models = [
        FredholmRegressor("linear", Gaussian(w), normalize=False, unpenalized=None)
        for w in WIDTHS
    ]
    return min(models, key=lambda model: -model.fit(X, y).loo_score_)


def _name(k):
    return LINEAR if k == COLUMNS else f"{k} component{'s' if k > 1 else ''}"


def report(runs):
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    claims, rows = [], []
    for noise, axes in zip((0.0, 1.0), panels, strict=True):
        found = [run for run in runs if run.cell["noise"] == noise]
        labels = [run.cell["labels"] for run in found]
        means = {
            name: np.array([np.mean(run.result["errors"][name]) for run in found])
            for name in found[0].result["errors"]
        }
        for name, values in means.items():
            style = {"color": "k", "lw": 2} if name == FREDHOLM else {"marker": "o"}
            axes.loglog(labels, np.maximum(values, 1e-5), label=name, **style)
            rows.append([f"{noise:g}", name, *(f"{v:.4f}" for v in values)])
        axes.set(xlabel="labels", title=f"noise of variance {noise:g}")
        wrong = [name for name in means if name not in (FREDHOLM, _name(1))]
        wins = sum(int((means[FREDHOLM] < means[name]).sum()) for name in wrong)
        of = len(wrong) * len(labels)
        right = int((means[_name(1)] < means[FREDHOLM]).sum())
        claims.append(
            Claim(
                f"Fredholm has less error than regression on k principal components "
                f"unless k is the right one (noise {noise:g})",
                "reproduced"
                if wins > 0.9 * of
                else ("reproduced in part" if wins > of / 2 else "not reproduced"),
                f"less error in {wins} of {of} cells with k of 2 or more (rule: 90 %); "
                f"the right k = 1 has less error in {right} of {len(labels)}",
            )
        )
    panels[0].set_ylabel("mean square over variance of Y")
    panels[1].legend(fontsize=8)
    head = ["noise", "method", *(f"{l} labels" for l in labels)]
    return Page(
        [
            Picture("Error against the number of labels (floored at 1e-5).", figure),
            Table("Mean over the draws.", head, rows),
        ],
        claims,
    )


EXPERIMENT = Experiment(
    name="fredholm-figure-2",
    title="Principal component regression without choosing components",
    cells=cells,
    run=run,
    report=report,
    setting=__doc__,
)
