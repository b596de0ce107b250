"""How often are `should_condition` and the warning of ConditionalRegressor right?

**From a known spectrum.** Powers of the frequencies on the circle are the eigenvalues,
random coefficients the target. The sign of the margin of `should_condition` is compared
with that of the mean errors of simulated fits, with and without the first modes
unpenalized, on the same rows.

**From data.** Random problems: a linear trend, a smooth function and noise of random
sizes, 15 to 150 labels, 1 to 8 columns. The columns are left unpenalized, and the
predicted cost is compared with the true one: the error on 1,000 new rows relative to
that of a fit with the constant alone, each with the alpha that it chooses.

    python -m benchmarks.conditioning
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.markdown import row
from benchmarks.stored_runs import RESULTS
from halfmoon import ConditionalRegressor
from halfmoon._estimators.conditional import COSTLY_SHARE, compared_with_constant
from halfmoon.theory import should_condition

SPECTRA, DRAWS = 100, 100
PROBLEMS = 1500
NEW = 1000
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


def spectrum_margins(seed):
    """Predicted and simulated margin for a known spectrum, and its standard error."""
    rng = np.random.default_rng(seed)
    n, top, f = int(rng.integers(30, 120)), 150, 2 * int(rng.integers(0, 8)) + 1
    order = np.arange(1, top + 1)
    s = np.append(1.0, np.repeat(order ** -rng.uniform(1.2, 3.0), 2) / 2)
    v = np.append(0.0, rng.normal(size=2 * top) * np.repeat(order, 2) ** -1.5)
    v *= rng.choice([0.3, 1.0, 3.0])
    alpha, noise = 10.0 ** rng.uniform(-4, -1), rng.choice([0.1, 1.0])
    asked = {"target": v, "noise_variance": noise, "n_unpenalized": f}
    predicted = should_condition(s, n, alpha, **asked)

    def error(Phi, y, free):
        """Error of a fit with the first modes free, noise included."""
        F, rest = Phi[:, :free], Phi[:, free:]
        A = np.zeros((n + free, n + free))
        A[:n, :n] = rest * s[free:] @ rest.T + n * alpha * np.eye(n)
        A[:n, n:], A[n:, :n] = F, F.T
        found = np.linalg.solve(A, np.append(y, np.zeros(free)))
        theta = np.append(found[n:], s[free:] * (rest.T @ found[:n]))
        return noise + ((theta - v) ** 2).sum()

    pairs = []
    for _ in range(DRAWS):
        angles = np.outer(rng.uniform(0, 2 * np.pi, n), order)
        waves = np.sqrt(2) * np.stack([np.cos(angles), np.sin(angles)], axis=2)
        Phi = np.hstack([np.ones((n, 1)), waves.reshape(n, -1)])
        y = Phi @ v + np.sqrt(noise) * rng.normal(size=n)
        pairs.append([error(Phi, y, f), error(Phi, y, 0)])
    with_, without = np.array(pairs).T
    differences, usual = without - with_, without.mean()
    spread = differences.std() / np.sqrt(DRAWS) / usual
    return predicted.margin, differences.mean() / usual, spread


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


def page(of_spectra, found):
    margin, simulated, spread = np.array(of_spectra).T
    right = np.sign(margin) == np.sign(simulated)
    clear = np.abs(simulated) > 2 * spread
    yield "# When to leave features unpenalized"
    yield ""
    yield (
        f"From a known spectrum, the sign of `should_condition` is right in "
        f"{right.sum()} of {len(right)} random problems, and in {right[clear].sum()} "
        f"of the {clear.sum()} in which {DRAWS} simulated fits differ by more than two "
        f"standard errors."
    )
    yield ""
    predicted, true = np.array([each for each in found if each is not None]).T
    yield "## When to warn of them, from data"
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
    of_spectra = [spectrum_margins(seed) for seed in range(SPECTRA)]
    lines = page(of_spectra, [costs(seed) for seed in range(PROBLEMS)])
    text = "\n".join(lines) + "\n"
    (RESULTS / "conditioning.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
