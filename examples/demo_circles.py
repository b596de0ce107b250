"""Four circles, four labels: what the unlabeled rows are good for.

Figure 1 of Cabannes et al., "Overcoming the curse of dimensionality with Laplacian
regularization", 2021. 2,000 rows lie on four circles, and one row of each is labeled.
Kernel ridge learns from the four labels alone. The Laplacian penalty also asks that the
function changes little where rows are dense, so each label fills its circle.

    python examples/demo_circles.py [picture.png]
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from halfmoon import ConditionalClassifier, LaplacianClassifier
from halfmoon.datasets import concentric_circles, reveal
from halfmoon.kernels import Gaussian


def draw(path, X, y_known, panels):
    """Draw the labels, then each fit: rows colored by their sign, labels on top."""
    figure = Figure(figsize=(10.5, 3.75), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 1 + len(panels))
    labeled = ~np.isnan(y_known)
    for axis, (title, values) in zip(axes, [("4 labels", None), *panels], strict=True):
        colors = "0.6" if values is None else np.where(values > 0, "C3", "C0")
        axis.scatter(*X.T, s=3, c=colors, linewidths=0)
        axis.scatter(
            *X[labeled].T,
            s=110,
            c=np.where(y_known[labeled] > 0, "C3", "C0"),
            edgecolors="black",
            linewidths=1.2,
        )
        axis.set(title=title, aspect="equal", xticks=[], yticks=[])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(path):
    X, y, circle = concentric_circles(2_000, rng=0)
    y_known = reveal(y, circle, rng=0)
    panels = []
    for name, estimator in [
        ("kernel ridge", ConditionalClassifier),
        ("Laplacian penalty", LaplacianClassifier),
    ]:
        start = time.perf_counter()
        # No constant: far from its label, a circle must not lean to either side.
        model = estimator(Gaussian(length_scale=0.2), alpha=1.0, unpenalized=None)
        values = model.fit(X, y_known).decision_function(X)
        seconds = time.perf_counter() - start
        accuracy = model.score(X, y)
        print(f"{name:18} {accuracy:7.1%} of 2,000 rows right from 4 labels"
              f"  ({seconds:.2f} s)")  # fmt: skip
        panels.append((f"{name}: {accuracy:.1%} right", values))
    draw(path, X, y_known, panels)
    print(f"picture: {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/circles.png"))
