"""Fixtures that every test may use."""

import sys

import numpy as np
import pytest

from helpers import NEW_PROCESS


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def memory_of_a_new_process(monkeypatch):
    """What other tests have left in memory does not count for the runs of this one."""
    allowance = sys.modules.get("halfmoon.table.allowance")
    if allowance is not None:
        monkeypatch.setattr(allowance, "resident_bytes", lambda: NEW_PROCESS)
