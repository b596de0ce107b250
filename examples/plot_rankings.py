"""
Rankings and unequal costs
==========================

A prediction may be a ranking, or a class where one mistake costs more than another. Any
outputs will do for which a loss can be written down.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfmoon.kernels import Gaussian
from halfmoon.weak import StructuredPredictor

# %%
# People live in a square and prefer the nearer of five shops, more or less. We know
# where they live, and how each of them ranks two or three of the shops.

rng = np.random.default_rng(0)
shops = np.array([[0.2, 0.2], [0.8, 0.25], [0.5, 0.5], [0.15, 0.8], [0.85, 0.85]])


def rankings(homes, noise):
    far = np.linalg.norm(homes[:, None] - shops, axis=2)
    return np.argsort(far + noise * rng.normal(size=far.shape), axis=1)


homes = rng.uniform(size=(150, 2))
complete = rankings(homes, noise=0.05)
known = [row[np.sort(rng.permutation(5)[: rng.integers(2, 4)])] for row in complete]
ranker = StructuredPredictor("kendall", 5, kernel=Gaussian("auto"), random_state=0)
ranker.fit(homes, [row.tolist() for row in known])

# %%
# A partial ranking is the set of all rankings that agree with it. The fit finds one for
# each person, and predicts the ranking with the fewest pairs in the wrong order.

others = rng.uniform(size=(2_000, 2))
wrong = -ranker.score(others, rankings(others, noise=0.0))
print(f"{np.mean([len(row) for row in known]):.1f} of 5 shops are ranked on average")
print(f"{wrong:.1%} of the pairs of other people are in the wrong order")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharey=True)
colors = plt.get_cmap("tab10")
predicted = ranker.predict(others)
for axis, place, title in zip(axes, (0, 4), ("first", "last"), strict=True):
    axis.scatter(*others.T, c=colors(predicted[:, place]), s=6)
    axis.scatter(*shops.T, c=colors(np.arange(5)), s=120, marker="*", edgecolor="k")
    axis.set(title=f"which shop comes {title}", aspect="equal")

# %%
# Costs. The shop in the middle is crowded: calling it the favorite of a person who
# prefers another one costs five times as much as other mistakes. So fewer people are
# sent there.

favorite = complete[:, 0]
costs = 1.0 - np.eye(5)
costs[2] *= 5.0
for name, loss in (("equal costs", "zero_one"), ("unequal costs", costs)):
    model = StructuredPredictor(loss, kernel=Gaussian("auto"), random_state=0)
    sent = np.mean(model.fit(homes, favorite).predict(others) == 2)
    print(f"{name:13} {sent:.0%} are sent to the shop in the middle")
