"""The warning of ConditionalRegressor: how often is it right?

Random problems: a linear trend, a smooth function and noise of random sizes, 15 to 150
labels, 1 to 8 columns. The columns are left unpenalized, and the predicted cost is
compared with the true one: the error on 1,000 new rows relative to that of a fit with
the constant alone, each with the alpha that it chooses.

    python -m benchmarks.conditioning
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.markdown import row
from benchmarks.stored_runs import RESULTS
from halfmoon import ConditionalRegressor
from halfmoon._estimators.conditional import COSTLY_SHARE, compared_with_constant

PROBLEMS = 1500
NEW = 1000
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


def problem(seed):
    """Rows, labels, the function without noise, and the variance of the noise."""
    rng = np.random.default_rng(seed)
    labels, d = int(rng.choice([15, 25, 40, 80, 150])), int(rng.integers(1, 9))
    X = rng.normal(size=(labels + NEW, d))
    W = rng.normal(size=(d, 30)) * rng.choice([0.5, 1.0, 2.0]) / np.sqrt(d)
    smooth = np.cos(X @ W + rng.uniform(0, 2 * np.pi, 30)) @ rng.normal(size=30) / 4
    trend = X @ rng.normal(size=d) / np.sqrt(d)
    f = rng.choice([0.0, 0.3, 1.0, 3.0]) * trend + rng.choice([0.5, 1.0]) * smooth
    noise = rng.choice([0.1, 0.5, 1.0, 2.0]) * f.std()
    return X, f + noise * rng.normal(size=len(f)), f, noise**2, labels


def costs(seed):
    """Predicted and true cost of the unpenalized columns, as shares of the error."""
    X, y, f, noise, labels = problem(seed)

    def fitted(unpenalized):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ConditionalRegressor(unpenalized=unpenalized)
            model.fit(X[:labels], y[:labels])
        return model, noise + np.mean((model.predict(X[labels:]) - f[labels:]) ** 2)

    (model, error), (_, without) = fitted("linear"), fitted("constant")
    found = compared_with_constant(model.solution_)
    return None if found is None else (-found.margin, error / without - 1)


def page(found):
    predicted, true = np.array([each for each in found if each is not None]).T
    yield "# When to warn of unpenalized features"
    yield ""
    yield (
        f"{len(true):,} random problems, in {np.mean(true > 0):.0%} of which the "
        f"features raise the error. Made by `python -m benchmarks.conditioning`, which "
        f"says how. ConditionalRegressor warns from {COSTLY_SHARE:.0%} on."
    )
    yield ""
    yield row(["predicted cost above", "problems", "really raised", "median true cost"])
    yield "| ---: | ---: | ---: | ---: |"
    for share in SHARES:
        some = true[predicted > share]
        figures = (f"{np.mean(some > 0):.0%}", f"{np.median(some):.0%}")
        yield row([f"{share:.0%}", len(some), *figures])


def main():
    text = "\n".join(page([costs(seed) for seed in range(PROBLEMS)])) + "\n"
    (RESULTS / "conditioning.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
