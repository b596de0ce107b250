import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmoon import LaplacianEigenmaps
from halfmoon.kernels import Gaussian
from halfmoon.plotting import EigenfunctionDisplay


def test_one_column_is_drawn_as_curves_in_order(pyplot):
    X = np.random.default_rng(0).permutation((np.arange(60) + 0.5) / 60)[:, None]
    maps = LaplacianEigenmaps(3, Gaussian(0.2), mu=1e-9, random_state=0).fit(X)
    display = EigenfunctionDisplay.from_estimator(maps, X)
    x = np.sort(X[:, 0])
    for rate, line in enumerate(display.artists_, start=1):
        assert_array_equal(line.get_xdata(), x)
        wave = np.sqrt(2) * np.cos(rate * np.pi * x)
        wave *= np.sign(line.get_ydata() @ wave)
        assert_allclose(line.get_ydata(), wave, atol=0.05)
    assert "1 / s = 9.8" in display.ax_[0].get_title()  # pi^2, nearly
    assert len(display.figure_.axes) == 3


def test_two_columns_are_drawn_as_colored_rows():
    X = np.random.default_rng(0).standard_normal((50, 3))
    maps = LaplacianEigenmaps(5, random_state=0).fit(X)
    display = EigenfunctionDisplay.from_estimator(maps, X, columns=(2, 0))
    assert len(display.ax_) == len(display.figure_.axes) == 5  # of 8 places
    for artist, values in zip(display.artists_, maps.transform(X).T, strict=True):
        assert_array_equal(np.asarray(artist.get_offsets()), X[:, [2, 0]])
        assert_allclose(artist.get_array(), values)
        assert artist.get_clim() == (-np.abs(values).max(), np.abs(values).max())


def test_given_axes_are_used_and_must_be_enough(pyplot):
    X = np.random.default_rng(0).standard_normal((30, 2))
    maps = LaplacianEigenmaps(2, random_state=0).fit(X)
    _, axes = pyplot.subplots(1, 2)
    display = EigenfunctionDisplay.from_estimator(maps, X, ax=axes)
    assert list(display.ax_) == list(axes)
    with pytest.raises(ValueError, match="ax has 1 axes, but there are 2 functions"):
        display.plot(axes[:1])


def test_eigenmaps_must_be_fitted():
    with pytest.raises(NotFittedError):
        EigenfunctionDisplay.from_estimator(LaplacianEigenmaps(2), np.ones((3, 2)))


def test_a_pipeline_that_ends_with_eigenmaps():
    X = np.random.default_rng(0).standard_normal((50, 2))
    pipeline = make_pipeline(StandardScaler(), LaplacianEigenmaps(2, random_state=0))
    display = EigenfunctionDisplay.from_estimator(pipeline.fit(X), X)
    assert_array_equal(display.rows, X)
    assert_array_equal(display.eigenvalues, pipeline[-1].eigenvalues_)
    assert_allclose(display.values, pipeline.transform(X))
