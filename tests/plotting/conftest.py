import pytest


@pytest.fixture(autouse=True)
def _without_screen(pyplot):
    """Every test of pictures draws without a screen."""
