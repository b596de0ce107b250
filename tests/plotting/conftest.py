import pytest


@pytest.fixture(autouse=True)
def pyplot():
    """Pictures without a screen, closed after each test."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")
