"""Fixtures that every test may use."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def pyplot():
    """Pictures without a screen, closed after the test."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")
