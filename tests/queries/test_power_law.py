"""The power law with a prior, against a plain sum over its parameters."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import multivariate_normal

from halfmoon.queries._power_law import (
    DELAYS,
    DRIFTS,
    NODES,
    PRIOR,
    REACH,
    START,
    curve_posterior,
)

COUNTS = np.array([16.0, 23.0, 32.0, 45.0, 64.0])


def by_joint_densities(counts, logs, covariance, new, prior):
    """Mean of log errors, by the density of (old, new) with a wide prior of log e_0."""
    every = np.append(counts, new)
    x = np.log(every / START)
    at = np.linspace(-REACH, REACH, NODES)
    k, total, weighted = len(counts), 0.0, 0.0
    wide = 1e5
    for drift, of_drift in zip(DRIFTS, prior.drift_weights, strict=True):
        C = (drift * prior.drift) ** 2 * np.minimum(x[:, None], x) + wide
        C[:k, :k] += covariance
        for delay, of_delay in zip(DELAYS, prior.delay_weights, strict=True):
            for one in at:
                for other in at:
                    mixed = prior.correlation * one
                    mixed += np.sqrt(1 - prior.correlation**2) * other
                    b = np.exp(prior.log_rate + prior.log_rate_std * one)
                    g = expit(prior.logit_floor + prior.logit_floor_std * mixed)
                    falls = ((every + delay) / (64 + delay)) ** -b
                    mean = np.log(g + (1 - g) * falls)
                    density = multivariate_normal.pdf(logs, mean[:k], C[:k, :k])
                    weight = of_drift * of_delay * np.exp(-(one**2 + other**2) / 2)
                    weight *= density
                    there = mean[k:] + C[k:, :k] @ np.linalg.solve(
                        C[:k, :k], logs - mean[:k]
                    )
                    total, weighted = total + weight, weighted + weight * there
    return weighted / total


def test_means_by_the_formula():
    logs = np.log([0.5, 0.43, 0.39, 0.31, 0.3])
    covariance = 0.01 * np.eye(5) + 0.02
    new = np.array([128.0, 256.0])
    found = curve_posterior(COUNTS, logs, covariance, new)
    expected = by_joint_densities(COUNTS, logs, covariance, new, PRIOR)
    assert_allclose(found.weights @ found.means, expected, rtol=1e-4)


def test_variance_is_that_of_the_mixture():
    logs = np.log([0.5, 0.43, 0.39, 0.31, 0.3])
    new = np.array([64.0, 256.0])
    found = curve_posterior(COUNTS, logs, 0.01 * np.eye(5), new)
    mean = found.weights @ found.means
    inner = np.stack([found.covariances[i] for i in found.which])
    far = found.means - mean
    outer = far[:, :, None] * far[:, None, :]
    expected = np.tensordot(found.weights, inner + outer, 1)
    draws = found.draws(4000)
    assert_allclose(draws.mean(axis=0), mean, atol=0.01)
    assert_allclose(np.cov(draws.T), expected, rtol=0.1)
    assert_allclose(draws, found.draws(4000))  # the same each time


@pytest.mark.parametrize("unit", [1e-3, 1.0, 50.0])
def test_the_unit_of_the_error_does_not_matter(unit):
    errors = np.array([0.5, 0.43, 0.39, 0.31, 0.3])
    new = np.array([128.0])
    one = curve_posterior(COUNTS, np.log(errors), 0.01 * np.eye(5), new)
    other = curve_posterior(COUNTS, np.log(unit * errors), 0.01 * np.eye(5), new)
    assert_allclose(np.exp(other.draws(100)), unit * np.exp(one.draws(100)))


def test_a_power_law_without_noise_is_carried_on():
    straight = replace(PRIOR, drift=1e-3)
    b, g, _ = straight.grid()
    i = len(b) // 2 + 3

    def law(n):
        return 0.4 * (g[i] + (1 - g[i]) * (n / 64) ** -b[i])

    new = np.array([90.0, 256.0])
    logs = np.log(law(COUNTS))
    found = curve_posterior(COUNTS, logs, 1e-8 * np.eye(5), new, straight)
    middle = np.exp(np.median(found.draws(1000), axis=0))
    assert_allclose(middle, law(new), rtol=0.003)


def test_less_noise_and_nearer_counts_give_narrower_intervals():
    logs = np.log(0.4 * (COUNTS / 64) ** -0.5)
    new = np.array([70.0, 128.0, 512.0])

    def widths(noise):
        draws = curve_posterior(COUNTS, logs, noise * np.eye(5), new).draws(2000)
        return np.ptp(np.quantile(draws, [0.05, 0.95], axis=0), axis=0)

    assert (np.diff(widths(1e-3)) > 0).all()
    assert (widths(1e-1) > widths(1e-4)).all()
