"""Amounts of memory, to and from text."""

import math

import pytest

from halfmoon._memory import MEMORY_LIMIT, format_bytes, parse_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (7, 7),
        (1e6, 1_000_000),
        ("900", 900),
        ("900B", 900),
        ("1kB", 1_000),
        ("1 KiB", 1_024),
        ("512MB", 512_000_000),
        ("512mb", 512_000_000),
        ("  1.5 GiB ", 1.5 * 2**30),
        ("2G", 2_000_000_000),
        ("3 TiB", 3 * 2**40),
        (".5MB", 500_000),
    ],
)
def test_amounts_are_read(text, expected):
    assert parse_bytes(text) == expected
    assert isinstance(parse_bytes(text), int)


@pytest.mark.parametrize("text", ["", "much", "1.2.3MB", ".", "-5MB", "5 PB", "MB"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(ValueError, match=r"is not an amount of memory; write it as"):
        parse_bytes(text)


@pytest.mark.parametrize("amount", [0, -1, "0MB", math.nan, math.inf])
def test_amounts_are_positive_and_finite(amount):
    with pytest.raises(ValueError, match="a positive, finite one is needed"):
        parse_bytes(amount)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (0, "0 B"),
        (90, "90 B"),
        (999.4, "999 B"),
        (999.9, "1 kB"),
        (1_000, "1 kB"),
        (999_999, "1 MB"),
        (12_345_678, "12.3 MB"),
        (1.25e9, "1.25 GB"),
        (2e12, "2 TB"),
    ],
)
def test_amounts_are_written(amount, expected):
    assert format_bytes(amount) == expected


def test_the_limit_is_an_amount():
    assert format_bytes(parse_bytes(MEMORY_LIMIT)) == "512 MB"
