"""Raw pixels and few labels: HalfmoonClassifier() on MNIST and USPS, all defaults.

The data are 10,000 images of MNIST's test set and the 2,007 of USPS's, with 20 random
labels per class, 5 draws each. The error is over all unlabeled rows. Memory is the peak
of the process after a fit, minus what it held before. Run with

    HALFMOON_DATA=folder python -m benchmarks.images
"""

from __future__ import annotations

import json
import platform
import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn

from experiments.data import DataNotFound, find, load_mnist, load_usps
from halfmoon import HalfmoonClassifier

LABELS_PER_CLASS = 20
SPLITS = 5
ABOUT = """\
HalfmoonClassifier() on raw pixels with {labels} labels per class: mean and standard
deviation of the error on all unlabeled rows over {splits} draws of the labels, the
longest fit, and the most memory that a fit added to the process.
"""
BARS = {"mnist": 0.075, "usps": 0.10}  # errors to stay below
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    try:
        find("usps")
        find("mnist")
    except DataNotFound as error:
        sys.exit(str(error))
    runs = []
    for name, load in (("usps", load_usps), ("mnist", load_mnist)):
        X, y = load("test")
        X = X.astype(np.float64)
        for split in range(SPLITS):
            runs.append({"data": name, "split": split} | run(X, y, split))
            print(runs[-1], flush=True)
    text = report(runs)
    print(text)
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    record = {"versions": versions, "runs": runs}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "images.json").write_text(json.dumps(record, indent=1) + "\n")
    (RESULTS / "images.md").write_text(text)


def run(X, y, split):
    rng = np.random.default_rng(split)
    labeled = np.concatenate(
        [
            rng.choice(np.flatnonzero(y == c), LABELS_PER_CLASS, replace=False)
            for c in np.unique(y)
        ]
    )
    known = np.full(len(y), np.nan)
    known[labeled] = y[labeled]
    rest = np.isnan(known)
    before = held_bytes()
    start = time.perf_counter()
    model = HalfmoonClassifier(random_state=split).fit(X, known)
    seconds = time.perf_counter() - start
    held = peak_bytes() - before
    wrong = model.predict(X) != y
    wrong_twin = model.twin_.predict(X) != y
    return {
        "error": float(wrong[rest].mean()),
        "twin_error": float(wrong_twin[rest].mean()),
        "loo_error": 1.0 - model.loo_score_,
        "seconds": round(seconds, 1),
        "megabytes": round(held / 2**20),
    }


def report(runs):
    lines = [
        "# Images with few labels\n",
        ABOUT.format(labels=LABELS_PER_CLASS, splits=SPLITS),
        "| data | error | bar | supervised twin | longest fit | memory |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, bar in BARS.items():
        own = [each for each in runs if each["data"] == name]
        errors, twins = ([100 * r[key] for r in own] for key in ("error", "twin_error"))
        lines.append(
            f"| {name} | {np.mean(errors):.2f} +- {np.std(errors, ddof=1):.2f} % "
            f"| {100 * bar:g} % | {np.mean(twins):.2f} % "
            f"| {max(r['seconds'] for r in own):.0f} s "
            f"| {max(r['megabytes'] for r in own)} MB |"
        )
    return "\n".join(lines) + "\n"


def held_bytes():
    """Memory that this process holds now, or its peak if the system gives only that."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_bytes()
    return int(statm.read_text().split()[1]) * resource.getpagesize()


def peak_bytes():
    """Peak memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
