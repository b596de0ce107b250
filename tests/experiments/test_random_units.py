"""The kernel of random units, against all of them at once and against its limit."""

import numpy as np
import pytest
from experiments.conditional import random_units
from experiments.conditional.random_units import Units
from numpy.testing import assert_allclose


@pytest.mark.parametrize("step", [1, 7, 20, 50])
@pytest.mark.parametrize("activation", ["cos", "ReLU", "tanh"])
def test_blocks_of_units_add_up(monkeypatch, activation, step):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    units = Units.draw(activation, 20, 3, rng)
    sigma = {"cos": np.cos, "tanh": np.tanh, "ReLU": lambda u: u * (u > 0)}[activation]
    at_X, at_Z = (sigma(A @ units.W.T + units.b) for A in (X, Z))
    monkeypatch.setattr(random_units, "UNITS_AT_ONCE", step)
    assert_allclose(units.kernel(X, Z), at_X @ at_Z.T / 20, rtol=1e-12, atol=1e-14)
    assert_allclose(units.kernel(X), at_X @ at_X.T / 20, rtol=1e-12, atol=1e-14)


def test_cosines_have_half_the_gaussian_kernel():
    X = np.array([[0.0, 0.0], [1.0, 0.5]])
    units = Units.draw("cos", 200_000, 2, np.random.default_rng(1), deviation=0.5)
    q = 1.25
    expected = 0.5 * np.array([[1.0, np.exp(-q / 8)], [np.exp(-q / 8), 1.0]])
    assert_allclose(units.kernel(X), expected, atol=0.005)


def test_biases_are_uniform_from_minus_1_to_1():
    units = Units.draw("tanh", 100_000, 2, np.random.default_rng(2))
    assert_allclose(np.quantile(units.b, [0, 0.5, 1]), [-1, 0, 1], atol=0.02)
