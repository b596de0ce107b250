"""Losses: their values, and that each is the largest of its conjugate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.losses import LOSSES, Hinge, Huber, Logistic, Quantile, Softmax, Squared
from halfmoon.problem import Problem

Y = np.array([-1.0, 1.0, 1.0, -1.0])
G = np.array([-2.0, 0.5, -0.5, 3.0])
W = np.array([0.5, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (Squared(), [1.0, 0.25, 2.25, 16.0]),
        (Huber(0.5, 2.0), [1.0, 0.25, 2.0, 7.0]),
        (Quantile(0.8), [0.8, 0.4, 1.2, 0.8]),
        (Hinge(), [0.0, 0.5, 1.5, 4.0]),
        (Logistic(), np.log1p(np.exp([-2.0, -0.5, 0.5, 3.0]))),
    ],
)
def test_values(loss, expected):
    assert_allclose(loss.values(Y, G), expected)


@pytest.mark.parametrize("loss", [Huber(0.5, 2.0), Quantile(0.8), Hinge()])
def test_the_conjugate(loss):
    box = loss.box(Y, W)
    t = np.linspace(0, 1, 100_001)[:, None]
    v = box.low + t * (box.high - box.low)
    best = (v * (box.target - G) - box.e * v**2 / 2).max(axis=0)
    assert_allclose(best, W * loss.values(Y, G), atol=1e-8)


def test_derivatives():
    step = 1e-6
    loss = Logistic()
    slope = (loss.values(Y, G + step) - loss.values(Y, G - step)) / (2 * step)
    assert_allclose(loss.slope(Y, G), slope, atol=1e-8)
    bend = (loss.slope(Y, G + step) - loss.slope(Y, G - step)) / (2 * step)
    assert_allclose(loss.curvature(Y, G), bend, atol=1e-8)


def test_softmax():
    y, g = np.eye(3)[[0, 2]], np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1000.0]])
    assert_allclose(
        Softmax().values(y, g)[:, 0], [np.log(np.e + 2) - 1, 0.0], atol=1e-12
    )
    assert_allclose(Softmax().probabilities(g).sum(axis=1), 1)


def test_a_scale_for_each_output():
    loss = Huber(1.0, (1.0, 10.0))
    y, g = np.full((1, 2), 5.0), np.zeros((1, 2))
    assert_allclose(loss.values(y, g), [[9.0, 25.0]])
    assert loss.of_output(1) == Huber(1.0, 10.0)
    assert Quantile(0.3).of_output(1) == Quantile(0.3)


def test_names_and_refusals():
    assert LOSSES["quantile"] == Quantile(0.5)
    X, y = np.eye(2), [0.0, 1.0]
    assert Problem(loss="huber").pose(X, y).loss == Huber()
    assert Problem(loss=Huber(2.0)).pose(X, y).loss == Huber(2.0)
    with pytest.raises(ValueError, match="loss is 'absolute'; one of 'squared'"):
        Problem(loss="absolute").pose(X, y)
    with pytest.raises(ValueError, match=r"level is 1.0; a number between 0 and 1"):
        Quantile(1.0)
    with pytest.raises(ValueError, match=r"level is \[0.1, 0.9\]; a number between"):
        Quantile([0.1, 0.9])
    with pytest.raises(ValueError, match="delta is 0; a positive number"):
        Huber(0)
    with pytest.raises(ValueError, match="scale is -1"):
        Huber(scale=-1)
    with pytest.raises(ValueError, match="not known before a fit"):
        Huber().values(Y, G)
    for loss in (Hinge(), Logistic()):
        with pytest.raises(ValueError, match="targets that are -1 or 1"):
            loss.check(2 * Y)
    with pytest.raises(ValueError, match="one 1 in each row"):
        Softmax().check(np.ones((2, 3)))
