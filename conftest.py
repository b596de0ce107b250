"""What tests and doctests share: runs count memory as a new process would."""

import pytest

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
