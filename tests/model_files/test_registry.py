"""The names that a file may speak of are there, and nothing else is."""

import sys
from importlib import import_module

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


def test_no_class_of_ours_reads_files():
    for start in registry.HALFMOON:
        for cls in lookup._classes(start).values():
            source = import_module(cls.__module__).__name__
            assert not source.startswith(("halfmoon.datasets", "halfmoon.table.files"))
