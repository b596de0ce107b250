"""
Two moons, six labels
=====================

Six of four hundred rows are labeled. A model of these six rows alone draws a straight
border. Two of halfmoon's levers use the positions of the other rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from halfmoon import ConditionalClassifier, FredholmClassifier, LaplacianClassifier
from halfmoon.kernels import Gaussian
from halfmoon.plotting import BoundaryDisplay
from halfmoon.smoothers import Diffusion

# %%
# An unlabeled row has a missing value in ``y``: NaN here; None and ``pd.NA`` also work.

X, truth = make_moons(400, noise=0.08, random_state=0)


def six_labels(seed):
    rng = np.random.default_rng(seed)
    y = np.full(400, np.nan)
    for moon in (0, 1):
        shown = rng.choice(np.flatnonzero(truth == moon), 3, replace=False)
        y[shown] = moon
    return y


# %%
# All three models get the same table. The first uses no lever and learns from the
# labeled rows only. The second asks that the function changes little where rows are
# dense. The third measures similarity by walks on the neighbor graph.

models = {
    "labels alone": ConditionalClassifier(),
    "Dirichlet energy": LaplacianClassifier(Gaussian(0.3)),
    "smoothed basis": FredholmClassifier(
        inner_kernel=Gaussian(0.2), smoother=Diffusion(n_neighbors=8, restart=0.003)
    ),
}
y = six_labels(seed=3)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    BoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=axis)
    axis.set(title=name, xlabel="", ylabel="")

# %%
# One draw of six labels may be lucky. Here are ten draws:

for name, model in models.items():
    right = []
    for seed in range(10):
        y = six_labels(seed)
        hidden = np.isnan(y)
        right.append(np.mean(model.fit(X, y).predict(X[hidden]) == truth[hidden]))
    print(f"{name:17} {np.mean(right):.1%} right, {min(right):.1%} at worst")

# %%
# Colors are probabilities: the border is sharp in a gap between clusters, and blurred
# elsewhere. Leave-one-out errors can tell whether unlabeled rows help on your own
# table: see the example "Did the unlabeled rows help?".
