"""A limit on the whole process, shared out."""

import pytest

from halfmoon.table.allowance import (
    BESIDE,
    LEAST,
    Allowance,
    peak_bytes,
    resident_bytes,
)
from halfmoon.table.errors import CommandError, MemoryLimitError


def test_what_is_taken_and_what_is_beside_come_first():
    shared = Allowance.within("2GB", taken=500_000_000)
    rest = 1_500_000_000 - BESIDE
    assert shared.learning == int(0.6 * rest)
    assert shared.rows == int(0.05 * rest)


def test_too_little_names_what_is_enough():
    with pytest.raises(MemoryLimitError) as error:
        Allowance.within("300MB", taken=250_000_000)
    text = str(error.value)
    assert "300MB of memory is too little" in text
    enough = text.split("Allow ")[1].split()[0]
    assert Allowance.within(enough, taken=250_000_000).learning >= 0.6 * LEAST


def test_no_amount():
    with pytest.raises(CommandError, match="'lots' is not an amount"):
        Allowance.within("lots")


def test_this_process_holds_something():
    assert 10_000_000 < resident_bytes() <= peak_bytes() + 10_000_000
