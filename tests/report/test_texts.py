from dataclasses import replace

import numpy as np
import pytest

from halfmoon.report import Helped, answer, help_given, verdict
from halfmoon.report.shown_text import shown
from halfmoon.report.tiles import tiles
from halfmoon.report.wording import count, duration, number, percent
from report.examples import HOSTILE, diabetes, iris, made_up


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
        ("y" * 121, "y" * 120 + "… (121 characters)"),
        (3.5, "3.5"),
    ],
)
def test_every_character_can_be_seen(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize("text", HOSTILE)
def test_shown_text_is_short_and_can_be_written(text):
    once = shown(text)
    assert len(once) < 400
    once.encode("utf-8")
    assert not any(ord(c) < 32 or 0x202A <= ord(c) <= 0x202E for c in once)


def plain(text):
    return str(text).replace("\u00a0", " ")


def test_numbers_in_words():
    shares = [0.0, 1.0, 0.5, 0.996, 0.99999, 0.00001, np.nan]
    assert [plain(percent(share)) for share in shares] == [
        *("0 %", "100 %", "50 %", "99.6 %"),
        *("more than 99.99 %", "less than 0.01 %", "unknown"),
    ]
    values = [0.0, 12345.6, -0.00123, 1e12, np.nan, np.inf, -np.inf]
    words = ["0", "12,346", "−0.00123", "1e+12", "unknown", "∞", "−∞"]
    assert [number(value) for value in values] == words
    assert count(1, "row") == "1 row"
    assert count(2000, "class", "classes") == "2,000 classes"
    times = [0.25, 42.4, 200.0, 3600.0, 7322.0]
    assert [duration(t) for t in times] == [
        *("0.2 seconds", "42 seconds", "3 minutes 20 seconds"),
        *("1 hour", "2 hours 2 minutes"),
    ]


def helped(used, difference, low, high):
    return plain(help_given(Helped(used, "log loss", 0.5, 0.4, difference, low, high)))


def test_what_unlabeled_rows_did():
    assert helped(True, -0.1, -0.15, -0.05) == (
        "Unlabeled rows helped: they lower the log loss by 0.10 (95 % interval "
        "−0.15 to −0.05)."
    )
    assert helped(True, -0.1, -0.3, 0.1).startswith("Unlabeled rows seem to help")
    assert helped(True, 0.1, -0.3, 0.4).startswith("Unlabeled rows were used as asked")
    assert "no clear difference, so the answer does not" in helped(False, -1, -3, 1)
    assert helped(False, 0.2, 0.1, 0.3).startswith("Unlabeled rows did harm")
    assert "could not be told" in helped(False, np.nan, np.nan, np.nan)
    assert "made no difference" in helped(False, 0.0, 0.0, 0.0)


def all_right():
    """Every label of the flowers is predicted right while it is hidden."""
    left_out = replace(iris().left_out, predicted=iris().left_out.given)
    return replace(iris(), left_out=left_out)


def test_the_answer_in_a_sentence():
    findings = made_up(["no", "yes"], n=100, labeled=40)
    left_out = findings.left_out
    right = sum(a == b for a, b in zip(left_out.given, left_out.predicted, strict=True))
    text = plain(answer(findings))
    assert text.startswith("60 blank cells of kind filled from 40 given; about ")
    assert plain(percent(right / 40)) in text
    assert "should be off by about" in plain(answer(diabetes()))
    # That all left-out labels were right is no promise.
    assert plain(answer(all_right())).endswith("80 to 100 % of them should be right.")
    assert "commonest class, versicolor, would be right for 40 %" in plain(
        verdict(iris())
    )


def test_tiles_tell_the_key_figures():
    by_name = {tile.name: tile for tile in tiles(diabetes())}
    left = diabetes().left_out
    error = np.abs(left.given - left.predicted).mean()
    assert by_name["Typical error"].figure == number(error)
    assert by_name["Filled"].figure == "382"
    assert plain(by_name["Intervals hold"].figure) == "90 %"
    by_name = {tile.name: tile for tile in tiles(all_right())}
    assert plain(by_name["Expected accuracy"].figure) == "80–100 %"
    assert by_name["Unlabeled rows"].figure in ("helped", "used", "not used")
