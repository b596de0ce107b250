"""The names that a file may hold exist, and no others are known."""

import logging
import sys

import pytest

import halfmoon
from halfmoon import baselines
from halfmoon._model_files import ModelFileError, registry


@pytest.mark.parametrize("module", registry.SKLEARN_CLASSES)
def test_classes_of_scikit_learn_exist(module):
    pytest.importorskip(module)
    for name in registry.SKLEARN_CLASSES[module]:
        cls = registry.class_named(f"{module}.{name}")
        assert registry.name_of_class(cls) == f"{module}.{name}"


@pytest.mark.parametrize(
    "name",
    ["numpy.abs", "numpy.log1p"]
    + [f"halfmoon.problem.{name}" for name in registry.SOLVERS],
)
def test_functions_exist(name):
    function = registry.function_named(name)
    known = registry.name_of_function(function)
    assert registry.function_named(known) is function


def test_public_classes_are_registered():
    for package in (halfmoon, baselines):
        for name in package.__all__:
            cls = getattr(package, name)
            if isinstance(cls, type):
                assert registry.class_named(registry.name_of_class(cls)) is cls


def test_names_are_not_imported():
    before = set(sys.modules)
    for name in ("this.that", "antigravity.fly", "halfmoon._atomic_files.whole_file"):
        with pytest.raises(ModelFileError, match="which no model file may hold"):
            registry.class_named(name)
    for name in ("this.that", "numpy.f2py", "numpy.ctypeslib", "numpy.load", None):
        with pytest.raises(ModelFileError, match="which no model file may hold"):
            registry.function_named(name)
    new = set(sys.modules) - before
    assert not {"this", "antigravity", "numpy.f2py", "numpy.ctypeslib"} & new


def own_classes():
    """Every class that stands in one of the registered modules."""
    return [
        cls
        for start in registry.HALFMOON_MODULES
        for module in registry._modules(start)
        for cls in vars(module).values()
        if isinstance(cls, type)
        and cls.__module__ == module.__name__
        and not issubclass(cls, (BaseException, logging.Handler))
    ]


def test_no_class_of_ours_reads_files():
    for cls in own_classes():
        assert not cls.__module__.startswith(
            ("halfmoon.datasets", "halfmoon.table._files")
        )


def test_stable_names_are_distinct_and_found_again():
    classes = own_classes()
    assert len(classes) > 150
    for cls in classes:
        assert registry.class_named(registry.name_of_class(cls)) is cls


def test_names_do_not_depend_on_the_file_of_a_class():
    assert (
        registry.name_of_class(halfmoon.kernels.Gaussian) == "halfmoon.kernels.Gaussian"
    )
    with pytest.raises(ModelFileError, match="which no model file may hold"):
        registry.class_named("halfmoon.kernels._radial.Gaussian")
