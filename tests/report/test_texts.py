from dataclasses import replace

import numpy as np
import pytest

from halfmoon._number_format import (
    Unit,
    count,
    duration,
    format_aligned,
    number,
    percent,
    two_decimals,
)
from halfmoon._report.key_figures import key_figures
from halfmoon._report.safe_text import safe_text
from halfmoon._report.sentences import headline, help_given, verdict
from halfmoon.table._cells.number_style import NumberStyle
from report.examples import diabetes, iris
from report.made_up import HOSTILE
from report.situations import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a\x00b\x1b", "a⟨U+0000⟩b⟨U+001B⟩"),
        ("a\r\nb\tc\n", "a↵b⇥c↵"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("set\u200bosa\ufeff", "set⟨U+200B⟩osa⟨U+FEFF⟩"),
        ("\ud800x", "\ufffdx"),
        ("می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬"),  # joiners stay
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
        ("y" * 139, "y" * 120 + "… (139 characters)"),
        ("y" * 138, "y" * 138),  # cut off, it would be as long
        (3.5, "3.5"),
    ],
)
def test_every_character_is_visible(text, expected):
    assert safe_text(text) == expected


@pytest.mark.parametrize("text", HOSTILE)
def test_safe_text_is_short_and_can_be_encoded(text):
    once = safe_text(text)
    assert len(once) < 400
    once.encode("utf-8")
    assert not any(ord(c) < 32 or 0x202A <= ord(c) <= 0x202E for c in once)


def test_one_test_of_few_labels_does_not_show_that_the_mean_is_as_good():
    given = np.arange(12.0)
    found = numbers(given, given[::-1] * 0.3 + 4)
    r2 = found.loo.r_squared(found.predicted)
    assert r2.low < r2.value < 0
    ends = f"({two_decimals(r2.low)} to {two_decimals(r2.high)})"
    assert str(verdict(found)).endswith(
        f"R² is {two_decimals(r2.value)} {ends}: in this test, no better than guessing "
        f"the mean, which scores 0."
    )


def test_errors_have_the_unit_of_the_labels():
    found = replace(diabetes(), unit=Unit("€ ", ""))
    error = found.loo.error(found.predicted)
    about, naive = format_aligned(error.value, error.low, error.high)[0], error.naive
    assert f"error: about € {about} on average (" in str(headline(found))
    assert f"be off by € {number(naive)} on average." in str(verdict(found))
    figures = {each.name: each for each in key_figures(found)}
    assert figures["Expected error"].figure == f"€ {about}"
    gain = replace(found.helped.gain, with_rows=2.5, without=4.0)
    helped = replace(found.helped, gain=gain, tried=True)  # also on a busy machine
    missed = "missed by 2.5 kg on average instead of 4.0"
    assert missed in help_given(helped, Unit("", " kg"))
    found = replace(found, unit=NumberStyle(suffix=" %").unit)
    assert f"about {about} percentage points on" in str(headline(found))
    figures = {each.name: each for each in key_figures(found)}
    assert figures["Expected error"].figure == about
    assert figures["Expected error"].note.startswith("percentage points; ")


def plain(text):
    return str(text).replace("\u00a0", " ")


def test_formats_of_numbers():
    shares = [0.0, 1.0, 0.5, 0.996, 0.99999, 0.00001, np.nan]
    assert [plain(percent(share)) for share in shares] == [
        *("0 %", "100 %", "50 %", "99.6 %"),
        *("more than 99.99 %", "less than 0.01 %", "unknown"),
    ]
    values = [0.0, 12345.6, -0.00123, 1e12, 1e15, np.nan, np.inf, -np.inf]
    words = ["0", "12,346", "−0.00123", "1 trillion", "1e+15", "unknown", "∞", "−∞"]
    assert [number(value) for value in values] == words
    assert count(1, "row") == "1 row"
    assert count(2000, "class", "classes") == "2,000 classes"
    times = [0.25, 42.4, 200.0, 3600.0, 7322.0]
    assert [duration(t) for t in times] == [
        *("0.2 seconds", "42 seconds", "3 minutes 20 seconds"),
        *("1 hour", "2 hours 2 minutes"),
    ]


def test_key_figures():
    by_name = {tile.name: tile for tile in key_figures(diabetes())}
    left = diabetes().loo
    # Errors of new rows are a little larger than those of 60 hidden labels.
    error = np.abs(left.given - left.predicted).mean() * np.sqrt(1 + 6 / 60)
    assert by_name["Expected error"].figure == f"{error:.0f}"
    assert by_name["Filled"].figure == "382"
    # Of 60 errors, intervals end at the 55th: Beta(55 / 2, 6 / 2) is 77 to 98 %.
    assert plain(by_name["Within interval"].figure) == "77–98 %"
    by_name = {tile.name: tile for tile in key_figures(iris())}
    assert plain(by_name["Expected accuracy"].figure) == "93 %"
    assert by_name["Unlabeled rows"].figure in ("helped", "used", "not used")
