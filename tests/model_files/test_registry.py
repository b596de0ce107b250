"""The names that a file may speak of are there, and nothing else is."""

import logging
import sys

import pytest

import halfmoon
from halfmoon import baselines
from halfmoon.model_files import ModelFileError, lookup, registry


@pytest.mark.parametrize("module", registry.OUTSIDE)
def test_names_of_others_exist(module):
    pytest.importorskip(module)
    for name in registry.OUTSIDE[module]:
        cls = lookup.class_named(f"{module}.{name}")
        assert lookup.name_of_class(cls) == f"{module}.{name}"


@pytest.mark.parametrize("module", registry.FUNCTIONS)
def test_functions_exist(module):
    pytest.importorskip(module)
    for name in registry.FUNCTIONS[module]:
        function = lookup.function_named(f"{module}.{name}")
        known = lookup.name_of_function(function)
        assert lookup.function_named(known) is function


def test_public_classes_are_registered():
    for package in (halfmoon, baselines):
        for name in package.__all__:
            cls = getattr(package, name)
            if isinstance(cls, type):
                assert lookup.class_named(lookup.name_of_class(cls)) is cls


def test_methods_exist():
    for name, method in registry.METHODS:
        assert callable(getattr(lookup.class_named(name), method))


def test_names_are_not_imported():
    before = set(sys.modules)
    for name in ("this.that", "antigravity.fly", "halfmoon.atomic_files.whole_file"):
        with pytest.raises(ModelFileError, match="which no model file may hold"):
            lookup.class_named(name)
    assert not {"this", "antigravity"} & (set(sys.modules) - before)


def own_classes():
    """Every class that stands in one of the registered modules."""
    return [
        cls
        for start in registry.HALFMOON
        for module in lookup._modules(start)
        for cls in vars(module).values()
        if isinstance(cls, type)
        and cls.__module__ == module.__name__
        and not issubclass(cls, (BaseException, logging.Handler))
    ]


def test_no_class_of_ours_reads_files():
    for cls in own_classes():
        assert not cls.__module__.startswith(
            ("halfmoon.datasets", "halfmoon.table.files")
        )


def test_stable_names_are_distinct_and_lead_back():
    classes = own_classes()
    assert len(classes) > 150
    for cls in classes:
        assert lookup.class_named(lookup.name_of_class(cls)) is cls


def test_names_do_not_tell_the_file_of_a_class():
    assert (
        lookup.name_of_class(halfmoon.kernels.Gaussian) == "halfmoon.kernels.Gaussian"
    )
    with pytest.raises(ModelFileError, match="which no model file may hold"):
        lookup.class_named("halfmoon.kernels.radial.Gaussian")
