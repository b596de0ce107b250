"""The constants of forecasts, from curves on which forecasts are not tested.

- ``luck``: the variance of the error between draws of the same number of labels.
- ``fit``: the prior of the power law, fitted to one half of the tables of LCDB and to
  curves of ConditionalClassifier and ConditionalRegressor.

    HALFMOON_DATA=folder python -m benchmarks.curve_prior luck
    HALFMOON_DATA=folder python -m benchmarks.curve_prior fit
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize

from benchmarks.curve_tables import lever, standardized, tables_for_fitting
from benchmarks.learning_curves import (
    ENDS,
    MORE,
    NEW,
    OLD,
    complete,
    forecast_curve,
    halves,
    lcdb_curves,
    one_case,
)
from halfmoon.queries._hidden_labels import HiddenLabels
from halfmoon.queries._learning_curve import measured_points
from halfmoon.queries._power_law import PRIOR, REFERENCE, Prior

# The prior is fitted to forecasts near and far beyond the known counts.
FITTED = (
    (OLD, NEW, 60),
    ((16, 23, 32), (64, 128), 20),
    ((32, 45, 64, 91, 128, 181, 256), (512, 1024), 20),
)
LUCK_COUNTS, LUCK_DRAWS = (40, 90, 140, 240), 6


def luck():
    """Print s of `halfmoon.queries._measured_curve` (1) at each number of labels."""
    found = []
    for name, rows, labels, of_classes in tables_for_fitting():
        X, y = standardized(rows, labels, most=1500)
        order = np.random.default_rng(5).permutation(len(y))
        test, rest = np.split(order, [len(y) // 4])
        if LUCK_COUNTS[-1] > 0.9 * len(rest):
            continue
        errors = np.empty((LUCK_DRAWS, len(LUCK_COUNTS), len(test)))
        for seed in range(LUCK_DRAWS):
            drawn = np.random.default_rng(seed).permutation(rest)
            for j, n in enumerate(LUCK_COUNTS):
                known = np.full(len(y), np.nan)
                known[drawn[:n]] = y[drawn[:n]]
                answers = lever(of_classes).fit(X, known).predict(X[test])
                wrong = answers != y[test] if of_classes else np.abs(answers - y[test])
                errors[seed, j] = wrong
        by_draw = errors.mean(axis=2)
        # The same rows test every draw; what is left of them is noise of the means.
        rest_of = errors - by_draw[:, :, None] - errors.mean(axis=0)
        rest_of += errors.mean(axis=(0, 2))[:, None]
        noise = (rest_of**2).sum(axis=(0, 2)) / ((LUCK_DRAWS - 1) * (len(test) - 1))
        variance = by_draw.var(axis=0, ddof=1) - noise / len(test)
        found.append(variance / by_draw.mean(axis=0) ** 2)
        print(f"{name:12}", np.round(found[-1], 4), flush=True)
    mean = np.mean(found, axis=0)
    for n, each in zip(LUCK_COUNTS, mean, strict=True):
        print(f"{n} labels: s = {np.sqrt(max(each, 0.0) * n / REFERENCE):.3f}")
    s = np.sqrt(np.mean(mean * np.array(LUCK_COUNTS) / REFERENCE))
    print(f"{len(found)} tables: s = {s:.3f}")


def prior_of(p):
    return Prior(
        log_rate=p[0],
        log_rate_std=np.exp(p[1]),
        logit_floor=p[2],
        logit_floor_std=np.exp(p[3]),
        correlation=np.tanh(p[4]),
        drift=np.exp(p[5]),
        drift_weights=(np.exp(p[6]), 1.0, np.exp(p[7])),
        delay_weights=(1.0, np.exp(p[8]), np.exp(p[9])),
    )


def numbers_of(prior):
    weights = [*prior.drift_weights[::2], *prior.delay_weights[1:]]
    positive = [prior.log_rate_std, prior.logit_floor_std, prior.drift, *weights]
    a, b, c, *rest = np.log(positive)
    rho = np.arctanh(prior.correlation)
    return np.array([prior.log_rate, a, prior.logit_floor, b, rho, c, *rest])


def pinball(q, truth):
    """Mean pinball loss of three quantiles; twice the absolute error for the median."""
    far = truth - q
    levels = np.array(ENDS)[:, None]
    losses = np.maximum(levels * far, (levels - 1) * far).mean(axis=1)
    return float(losses @ np.array([4.0, 2.0, 4.0]))


def fit():
    errors, deviations = lcdb_curves()
    rows = np.random.default_rng(0).permutation(halves(errors)[0])
    curves = [
        (i, old, new)
        for old, new, most in FITTED
        for i in complete(errors, rows, [*old, *new])[:most]
    ]
    cases = []
    for name, *table, of_classes in tables_for_fitting():
        X, y = standardized(*table)
        for n in (20, 40, 80, 160):
            for seed in range(2):
                if n + MORE[0] > 0.75 * len(y):
                    continue
                case = one_case(X, y, of_classes, n, 100 * seed + n, lever)
                labels = HiddenLabels.of(case[0], X, case[1])
                if labels.tested.sum() >= 10:
                    points = measured_points(labels, np.random.default_rng(0))
                    unit = 0.3 if of_classes else case[3].mean()
                    cases.append((points, n, case[2], case[3], unit))
        print(name, len(cases), flush=True)

    def loss(p):
        prior = prior_of(p)
        published = np.mean(
            [
                pinball(*forecast_curve(errors, deviations, *each, prior, 200))
                for each in curves
            ]
        )
        own = []
        for points, n, more, truth, unit in cases:
            new = np.array([n, *(n + np.array(more))], dtype=np.float64)
            draws = np.exp(points.posterior(new, prior).draws(200))
            own.append(pinball(np.quantile(draws, ENDS, axis=0), truth) / unit)
            gains = draws[:, :1] - draws[:, 1:]
            q = np.quantile(gains, ENDS, axis=0)
            own[-1] += pinball(q, truth[0] - truth[1:]) / unit
        return published / 0.056 + np.mean(own) / 0.7

    start = numbers_of(PRIOR)
    simplex = start + 0.4 * np.vstack([np.zeros(10), np.eye(10)])
    found = minimize(
        loss,
        start,
        method="Nelder-Mead",
        options={"maxfev": 300, "initial_simplex": simplex},
    )
    for name, p in (("now", start), ("fitted", found.x)):
        print(f"{name}: loss {loss(p):.4f}, {prior_of(p)}")


if __name__ == "__main__":
    {"luck": luck, "fit": fit}[sys.argv[1]]()
