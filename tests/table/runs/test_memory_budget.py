"""The memory limit of the process."""

import pytest

from halfmoon.table._runs.memory_budget import (
    BATCH_BYTES,
    MIN_FIT_BYTES,
    MemoryBudget,
    peak_bytes,
    resident_bytes,
)
from halfmoon.table._table_errors import CommandError, MemoryLimitError


def test_memory_in_use_counts_first():
    shared = MemoryBudget.within("2GB", taken=500_000_000)
    rest = 1_500_000_000 - BATCH_BYTES
    assert shared.learning == int(0.6 * rest)
    assert shared.rows == int(0.05 * rest)


def test_too_little_memory_suggests_enough():
    with pytest.raises(MemoryLimitError) as error:
        MemoryBudget.within("300MB", taken=250_000_000)
    text = str(error.value)
    assert "300 MB of memory is too little" in text
    enough = text.split("`memory='")[1].split("'")[0]
    shared = MemoryBudget.within(enough, taken=250_000_000)
    assert shared.learning >= 0.6 * MIN_FIT_BYTES


def test_too_little_memory_for_the_work_alone():
    with pytest.raises(MemoryLimitError) as error:
        MemoryBudget.within("100MB", taken=0)
    assert "libraries" not in str(error.value)
    assert str(error.value).endswith("Allow more: `memory='350MB'`.")


def test_not_an_amount_of_memory():
    with pytest.raises(CommandError, match="'lots' is not an amount"):
        MemoryBudget.within("lots")


def test_memory_of_this_process():
    assert 10_000_000 < resident_bytes() <= peak_bytes() + 10_000_000
