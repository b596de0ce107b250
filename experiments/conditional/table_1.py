"""S2 takes the 12,214 sevens and nines of MNIST's training part, crops them to 24 by
24 pixels, and compares by cross-validation two ways to regularize: kernel ridge with a
tuned penalty weight, and a fixed weight of 0.01 with the k leading empirical
eigenfunctions unpenalized, k being tuned.

Chosen by us, where the paper is silent. The two border pixels on each side are cropped.
Columns are standardized by the training rows, and deviations below 0.05 (pixels are in
[0, 1]) count as 0.05. Gaussian, Laplace and Matern kernels have the median distance as
their length scale; the erf kernel has weights and biases of deviation 1. The weight
0.01 is that of a loss averaged over the rows; all others are half decades from 1e-9 to
0.1. Of ten folds three are run, each with one eigendecomposition of 10,992 or 10,993
rows for each kernel. Half of the rows held out are there to choose by, the other half
to test on. *Tuned* takes in each fold what does best on its test rows. *Honest* takes
the weight of kernel ridge by exact leave-one-out on the training rows, and k on the
rows to choose by: leave-one-out is wrong there, as the eigenfunctions come from the
labeled rows. What stands after ± is the deviation over folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.conditional.digits import ALL, fold_of, standardized
from experiments.conditional.left_out import left_out_errors
from experiments.experiment import Experiment, Run, Size
from experiments.page import Claim, Page, Table
from halfmoon._rows import Array, Indices
from halfmoon._solvers.feature_path import hard_threshold
from halfmoon.kernels import NNGP, Gaussian, Kernel, Laplace, Matern

KERNELS: dict[str, Kernel] = {
    "Gaussian": Gaussian(),
    "Laplace": Laplace(),
    "Matern 3/2": Matern(nu=1.5),
    "NNGP erf": NNGP("erf", bias=1.0),
}

#: kernel -> mean and deviation of kernel ridge, then of the threshold.
PRINTED = {
    "Gaussian": ((0.0671, 0.0015), (0.0732, 0.0023)),
    "Laplace": ((0.0750, 0.0029), (0.0744, 0.0023)),
    "Matern 3/2": ((0.1102, 0.0038), (0.1087, 0.0029)),
    "NNGP erf": ((0.0574, 0.0020), (0.0572, 0.0022)),
}

FIXED = 0.01
ALPHAS = 10.0 ** np.arange(-9.0, -0.9, 0.5)
SEED = 510

#: Differences below this share of the error are none, however sure they are.
NOTHING = 0.02


def cells(size: Size) -> list[dict[str, Any]]:
    folds, rows = size.pick(3, 2), size.pick(ALL, 900)
    return [
        {"kernel": kernel, "fold": fold, "rows": rows}
        for fold in range(folds)
        for kernel in KERNELS
    ]


def run(kernel: str, fold: int, rows: int) -> dict[str, Any]:
    data = standardized(fold_of(fold, rows))
    k = KERNELS[kernel].resolve(data.X, np.random.default_rng([SEED, fold]))
    path = hard_threshold(k(data.X), data.y)
    left_out = left_out_errors(path, data.y, ALPHAS)
    K_choose, K_test = k(data.X_choose, data.X), k(data.X_test, data.X)
    choose = path.errors(K_choose, data.y_choose, ALPHAS)
    test = path.errors(K_test, data.y_test, ALPHAS)

    fixed = int(np.argmin(np.abs(np.log(ALPHAS / FIXED))))
    own = int(left_out.argmin())  # kernel ridge's own weight
    curves = {
        "choose": choose[fixed],
        "test": test[fixed],
        "own_choose": choose[own],
        "own_test": test[own],
    }
    ks = _some_of(len(path.s), [int(curve.argmin()) for curve in curves.values()])

    def squares(columns: int, alpha: float) -> Array:
        return (K_test @ path.dual_coef(columns, alpha) - data.y_test) ** 2

    def paired(columns: int, weight: int) -> list[float]:
        """Threshold less kernel ridge on the test rows: mean, and standard error."""
        gap = squares(columns, FIXED) - squares(0, ALPHAS[weight])
        return [float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(gap.size))]

    return {
        "train_rows": len(data.y),
        "test_rows": len(data.y_test),
        "rank": len(path.s),
        "length_scale": getattr(k, "length_scale", None),
        "constant": data.constant,
        "alphas": ALPHAS,
        "ridge_left_out": left_out,
        "ridge_choose": choose[:, 0],
        "ridge_test": test[:, 0],
        "any_k_test": test.min(axis=1),  # for each weight, the k that is best there
        "own_alpha": ALPHAS[own],
        "k": ks,
        **{name: curve[ks] for name, curve in curves.items()},
        "paired_honest": paired(int(choose[fixed].argmin()), own),
        "paired_tuned": paired(int(test[fixed].argmin()), int(test[:, 0].argmin())),
    }


def _some_of(rank: int, wanted: list[int]) -> Indices:
    """k = 0, more of them where few are unpenalized, the last, and those wanted."""
    spread = [np.geomspace(1, rank, 110), np.linspace(0, rank, 45), np.array(wanted)]
    return np.unique(np.concatenate(spread).round().astype(np.intp))


class Outcome:
    """What the folds of one kernel say."""

    def __init__(self, kernel: str, runs: list[Run]) -> None:
        self.kernel = kernel
        self.results = [r.result for r in runs if r.cell["kernel"] == kernel]

    def ridge(self, by: str) -> Array:
        """Test errors of kernel ridge, its weight chosen by 'test' or 'left_out'."""
        return np.array(
            [r["ridge_test"][int(np.argmin(r[f"ridge_{by}"]))] for r in self.results]
        )

    def threshold(self, by: str) -> Array:
        """Test errors at the fixed weight, k chosen on 'test' or 'choose'."""
        return np.array([r["test"][int(np.argmin(r[by]))] for r in self.results])

    def paired(self, how: str) -> tuple[float, float]:
        """Threshold less ridge over all test rows: mean, and its standard error."""
        means, errors = np.array([r[f"paired_{how}"] for r in self.results]).T
        return float(means.mean()), float(np.sqrt((errors**2).sum()) / len(errors))

    def own(self) -> Array:
        """Test errors at ridge's own weight, means over folds.

        At k = 0, at the k of the rows to choose by, at that of the test rows, and at
        the largest k.
        """
        places = [
            (0, int(np.argmin(r["own_choose"])), int(np.argmin(r["own_test"])), -1)
            for r in self.results
        ]
        curves = [np.array(r["own_test"]) for r in self.results]
        picked = [curve[list(at)] for curve, at in zip(curves, places, strict=True)]
        return np.mean(picked, axis=0)

    def chosen(self) -> tuple[str, str]:
        """The weights and the k that honest choices took."""
        weights = sorted({f"{r['own_alpha']:.0e}" for r in self.results})
        ks = sorted(int(r["k"][int(np.argmin(r["choose"]))]) for r in self.results)
        return ", ".join(weights), ", ".join(map(str, ks))


def report(runs: list[Run]) -> Page:
    outcomes = [o for o in (Outcome(name, runs) for name in KERNELS) if o.results]
    lines = []
    for o in outcomes:
        weights, ks = o.chosen()
        ridge, threshold = PRINTED[o.kernel]
        lines.append(
            [
                o.kernel,
                "KRR",
                _pm(*ridge),
                _spread(o.ridge("test")),
                _spread(o.ridge("left_out")),
                f"alpha {weights}",
            ]
        )
        lines.append(
            [
                o.kernel,
                "C-KRR",
                _pm(*threshold),
                _spread(o.threshold("test")),
                _spread(o.threshold("choose")),
                f"k {ks} of {o.results[0]['rank']}",
            ]
        )
    constant = np.array([run.result["constant"] for run in runs]).mean()
    lines.append(["any", "constant", "", f"{constant:.4f}", f"{constant:.4f}", ""])
    results = outcomes[0].results
    rows = results[0]
    table = Table(
        f"Mean squared test error, {len(results)} fold(s) of {rows['train_rows']:,} "
        f"training and {rows['test_rows']:,} test rows. C-KRR is the threshold at "
        f"alpha = {FIXED}.",
        ["kernel", "method", "printed", "tuned", "honest", "chosen honestly"],
        lines,
    )
    return Page(
        [table, _printed_gap(), *_interpolating(outcomes)],
        [f(outcomes) for f in (_close, _order, _nothing_more, _harm, _ours)],
    )


def _printed_gap() -> str:
    far = [
        f"{name} ({b[0] - a[0]:+.4f} against {a[1] + b[1]:.4f})"
        for name, (a, b) in PRINTED.items()
        if abs(b[0] - a[0]) > a[1] + b[1]
    ]
    return (
        "In the paper's own table the two methods differ by more than the sum of what "
        f"stands after ± for: {', '.join(far)}."
    )


def _interpolating(outcomes: list[Outcome]) -> list[str]:
    """Kernels that want no penalty at all: there the two methods are one."""
    names = [
        o.kernel
        for o in outcomes
        if all(np.isclose(r["own_alpha"], min(r["alphas"])) for r in o.results)
    ]
    if not names:
        return []
    text = (
        f"For {' and '.join(names)}, leave-one-out takes the least weight there is in "
        "every fold. That all but interpolates the labels, as does k near its largest "
        "value at any weight, and this is why the two methods agree there."
    )
    return [text]


def _close(outcomes: list[Outcome]) -> Claim:
    said, close = [], 0
    for o in outcomes:
        mean, error = o.paired("honest")
        share = mean / o.ridge("left_out").mean()
        close += abs(mean) <= 2 * error or abs(share) <= NOTHING
        said.append(f"{o.kernel} {mean:+.5f} ± {error:.5f} ({share:+.1%})")
    return Claim(
        "Test errors of the two methods are extremely close, their difference "
        "statistically insignificant, for every kernel",
        _verdict(close, len(outcomes)),
        f"C-KRR less KRR, honest, over the same test rows with standard error: "
        f"{'; '.join(said)}. Within two standard errors, or within {NOTHING:.0%} of "
        f"the error, for {close} of {len(outcomes)}",
    )


def _order(outcomes: list[Outcome]) -> Claim:
    seen = {o.kernel: float(o.ridge("left_out").mean()) for o in outcomes}
    ours = sorted(seen, key=lambda name: seen[name])
    printed = sorted(seen, key=lambda name: PRINTED[name][0][0])
    if ours == printed:
        verdict = "reproduced"
    else:
        ends = (ours[0] == printed[0]) or (ours[-1] == printed[-1])
        verdict = "reproduced in part" if ends else "not reproduced"
    return Claim(
        f"Order of the kernels, best first: {', '.join(printed)}",
        verdict,
        "KRR, honest: " + ", ".join(f"{name} {seen[name]:.4f}" for name in ours),
    )


def _nothing_more(outcomes: list[Outcome]) -> Claim:
    said, held = [], 0
    for o in outcomes:
        none, honest, tuned, _ = o.own()
        held += honest >= (1 - NOTHING) * none
        said.append(
            f"{o.kernel} {none:.4f}, {honest:.4f} ({honest / none - 1:+.1%}), "
            f"{tuned:.4f} ({tuned / none - 1:+.1%})"
        )
    return Claim(
        "At the weight that is best for KRR, unpenalized eigenfunctions bring nothing",
        _verdict(held, len(outcomes)),
        "test error without any, with k chosen honestly, and with k tuned: "
        f"{'; '.join(said)}. No gain beyond {NOTHING:.0%}, honestly, for {held} of "
        f"{len(outcomes)}",
    )


def _harm(outcomes: list[Outcome]) -> Claim:
    said, held = [], 0
    for o in outcomes:
        none, _, _, last = o.own()
        held += last > (1 + NOTHING) * none
        said.append(f"{o.kernel} {none:.4f}, {last:.4f} ({last / none - 1:+.1%})")
    return Claim(
        "At that weight the test error increases once k is large enough",
        _verdict(held, len(outcomes)),
        f"test error without any, and at the largest k: {'; '.join(said)}. More by "
        f"{NOTHING:.0%} for {held} of {len(outcomes)}",
    )


def _ours(outcomes: list[Outcome]) -> Claim:
    said, held = [], 0
    for o in outcomes:
        mean, error = o.paired("tuned")
        share = mean / o.ridge("test").mean()
        held += mean >= -2 * error or share >= -NOTHING
        said.append(f"{o.kernel} {mean:+.5f} ± {error:.5f} ({share:+.1%})")
    return Claim(
        "(ours) A threshold does not beat a tuned weight, even if k is tuned on the "
        "test rows",
        _verdict(held, len(outcomes)),
        f"C-KRR less KRR, both tuned, with standard error: {'; '.join(said)}. Not "
        f"below by both two standard errors and {NOTHING:.0%} for {held} of "
        f"{len(outcomes)}",
    )


def _verdict(held: int, of: int) -> str:
    if held == of:
        return "reproduced"
    return "reproduced in part" if held else "not reproduced"


def _pm(mean: float, deviation: float) -> str:
    return f"{mean:.4f} ± {deviation:.4f}"


def _spread(errors: Array) -> str:
    return _pm(errors.mean(), errors.std(ddof=1) if len(errors) > 1 else 0.0)


EXPERIMENT = Experiment(
    name="conditional-table-1",
    title="A tuned weight against unpenalized eigenfunctions, 7 against 9",
    cells=cells,
    run=run,
    report=report,
    data=("mnist",),
    setting=__doc__,
)
