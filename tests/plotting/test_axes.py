import builtins
import subprocess
import sys

import pytest

from halfmoon.plotting._axes import axes_of


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install matplotlib.*halfmoon\[plot\]"):
        axes_of()


@pytest.mark.slow
def test_matplotlib_is_not_imported_before_something_is_drawn():
    code = "import sys, halfmoon.plotting; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_given_axes_are_used_otherwise_new_ones_are_made(pyplot):
    figure, ax = pyplot.subplots()
    assert axes_of(ax) == (figure, ax)
    other, new = axes_of()
    assert other is new.figure is not figure
