"""What tests and doctests share, so that the machine does not decide what they find."""

import contextlib
from importlib import import_module

import pytest

STEP = 2.0**-7  # seconds that each model of a search takes in tests; exact in sums
SEARCHES = (
    "halfmoon._estimators.halfmoon",
    "halfmoon._selection.local_average",
    "halfmoon._selection.refit",
    "halfmoon._selection.search",
    "halfmoon.table._columns.column_choice",
    "halfmoon.weak._weak_estimator",
)
NEW_PROCESS = 300_000_000  # bytes: Python and the libraries of a run, before any row


@pytest.fixture(scope="session", autouse=True)
def memory_of_a_new_process():
    """What other tests have left in memory does not count for the runs of a test."""
    with pytest.MonkeyPatch.context() as patch:
        try:
            from halfmoon.table._runs import run_costs
        except ImportError:  # without the extra `table`
            pass
        else:
            patch.setattr(run_costs, "resident_bytes", lambda: NEW_PROCESS)
        yield


class CountedTime:
    """A clock that goes on when it is looked at: a budget is a number of models."""

    now = 0.0

    def monotonic(self):
        self.now += STEP
        return self.now


@pytest.fixture(scope="session", autouse=True)
def budgets_count_models():
    """A search tries as many models on a slow machine as on a fast one."""
    with pytest.MonkeyPatch.context() as patch:
        clock = CountedTime()
        for name in SEARCHES:
            with contextlib.suppress(ImportError):  # without the extra `table`
                patch.setattr(import_module(name), "time", clock)
        yield
