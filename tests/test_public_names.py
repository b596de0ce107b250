"""The names that `halfmoon` itself has, imported when they are asked for."""

import subprocess
import sys

import pytest

import halfmoon


@pytest.mark.parametrize("name", halfmoon.__all__)
def test_every_public_name_is_there(name):
    value = getattr(halfmoon, name)
    assert getattr(value, "__name__", name) == name
    assert name in dir(halfmoon)


def test_packages_need_no_import_of_their_own():
    code = "import halfmoon; print(halfmoon.kernels.Gaussian.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "Gaussian"


def test_all_names_at_once():
    names = {}
    exec("from halfmoon import *", names)
    assert set(halfmoon.__all__) <= set(names)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Fullmoon'"):
        halfmoon.Fullmoon  # noqa: B018


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = "import halfmoon, sys; print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
