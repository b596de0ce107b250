"""Kernels by name."""

from __future__ import annotations

import numpy as np
import pytest

from halfmoon.kernels import (
    NNGP,
    NTK,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polyharmonic,
    Polynomial,
    RationalQuadratic,
    ThinPlate,
)
from halfmoon.kernels._kernel_names import KERNELS, as_kernel
from halfmoon.kernels._length_scales import WithLengthScale
from halfmoon.kernels._user_kernels import FromFunction, Precomputed

NAMES = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "nngp": NNGP,
    "ntk": NTK,
    "thin_plate": ThinPlate,
    "polyharmonic": Polyharmonic,
    "precomputed": Precomputed,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_kernel_with_its_defaults(name):
    kernel = as_kernel(name)
    assert type(kernel) is NAMES[name]
    assert repr(kernel) == repr(NAMES[name]())


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_is_a_kernel(name):
    assert isinstance(as_kernel(name), Kernel)


@pytest.mark.parametrize("name", KERNELS)
def test_the_rule_for_a_length_scale(name):
    kernel = as_kernel(name, length_scale="neighbors")
    if isinstance(kernel, WithLengthScale):
        assert kernel.length_scale == "neighbors"
        assert as_kernel(name).length_scale == "median"
    # A kernel object keeps its length scale.
    assert as_kernel(Gaussian(), length_scale="neighbors").length_scale == "median"


def test_objects_and_functions_are_themselves():
    kernel = Gaussian(1.0) + Linear()
    assert as_kernel(kernel) is kernel
    function = as_kernel(np.dot)
    assert isinstance(function, FromFunction)
    assert function.function is np.dot


@pytest.mark.parametrize(
    "kernel", ["Gaussian", "", 1.0, None, Gaussian, ["rbf"]], ids=repr
)
def test_what_is_not_a_kernel(kernel):
    with pytest.raises(ValueError, match=r"a function of two tables, or one of 'gau"):
        as_kernel(kernel)
