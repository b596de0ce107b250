"""Findings made by hand, one for every kind of sentence."""

from dataclasses import replace

import numpy as np

from halfmoon._report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    Histogram,
    LooClasses,
    LooNumbers,
    PartialLabels,
    confidence_edges,
    number_edges,
)
from halfmoon._report.unlabeled_gain import Helped, UnlabeledGain
from report.made_up import about

UNKNOWN = UnlabeledGain("classes", 160, 0, 0, 0, np.nan, np.nan, np.nan)


def classes(given, predicted, *, filled=160, confidence=0.93):
    """Findings with classes as letters, and their leave-one-out predictions."""
    l = len(given)
    counts = {name: given.count(name) for name in sorted(set(given))}
    return Findings(
        **about("wines.csv", "cultivar", "classes", ["a"], filled + l, l),
        helped=Helped(False, UNKNOWN),
        loo=LooClasses(
            tuple(given), tuple(predicted), np.full(l, 0.9), np.full(l, 0.9)
        ),
        filled=FilledClasses(
            counts,
            counts,
            Histogram.of(np.full(filled, confidence), confidence_edges()),
            confidence,
        ),
        map=None,
        next_rows=(),
        suspects=(),
    )


def numbers(given, predicted, *, filled=340):
    given, predicted = np.array(given, dtype=float), np.array(predicted, dtype=float)
    edges = number_edges(given) if len(given) else number_edges(np.zeros(1))
    return Findings(
        **about(
            "houses.csv", "price", "numbers", ["a"], filled + len(given), len(given)
        ),
        helped=Helped(False, replace(UNKNOWN, kind="numbers")),
        loo=LooNumbers(given, predicted, predicted - 10, predicted + 10, 0.9),
        filled=FilledNumbers(
            Histogram.of(given, edges), Histogram.of(given, edges), 20.0
        ),
        map=None,
        next_rows=(),
        suspects=(),
    )


def partly(findings, kind, exact, partial, inside, *, tested=None):
    """Add partial labels, all of which are filled in."""
    return replace(
        findings,
        rows=findings.rows + partial,
        labeled=exact + partial,
        predicted=findings.predicted + partial,
        partial=PartialLabels(
            kind,
            exact,
            partial,
            partial,
            partial if tested is None else tested,
            inside,
            0.4 if kind == "sets" else np.nan,
            0.25 if kind == "intervals" else 0.0,
        ),
    )


def by_clump(findings):
    """Labels in clumps of three, which were hidden together."""
    loo = replace(findings.loo, independent=1 / 3)
    return replace(findings, clumped=True, loo=loo)


def helped(used, with_rows, without, low, high, *, kind="classes", rows=160):
    """Gain of unlabeled rows, in the middle of its interval."""
    gain = UnlabeledGain(
        kind, rows, 18, with_rows, without, (low + high) / 2, low, high
    )
    return Helped(used, gain)


WORSE = ["B"] + ["A"] * 8 + ["B"] * 9
RUN = 60
LINE = np.linspace(100, 4_000, RUN)
WAVE = 300 * np.sin(np.arange(RUN))

QUALITIES = {
    "all recovered": classes("A" * 9 + "B" * 9, "A" * 9 + "B" * 9),
    "most recovered": classes("A" * 9 + "B" * 9, WORSE),
    "one recovered": classes("AAABB", "BBBAB", filled=1, confidence=0.5),
    "none recovered": classes("AABB", "BBAA", confidence=0.3),
    "each class has one label": classes("ABC", "BAA", confidence=0.44),
    "a class has one label": classes("AAABBBC", "AAABBBA"),
    "two classes have one label": classes("AAABBBCD", "AAABBBAA"),
    "no label": classes("", ""),
    "one blank": classes("A" * 9 + "B" * 9, WORSE, filled=1),
    "no blank": classes("A" * 9 + "B" * 9, WORSE, filled=0, confidence=np.nan),
    "filled rows differ": classes(
        "A" * 15 + "B" * 15, "A" * 15 + "B" * 15, confidence=0.46
    ),
    "filled rows too sure": classes(
        "AAABBB" * 5, "AAABBA" * 4 + "BBBAAA", confidence=0.97
    ),
    "one class rules": classes(
        "o" * 36 + "f" * 4, "o" * 35 + "f" + "fffo", confidence=0.98
    ),
    "one class rules, nothing found": classes(
        "o" * 36 + "ff", "o" * 38, confidence=0.98
    ),
    "one class rules, several are rare": classes(
        "o" * 60 + "aabbccddee", "o" * 60 + "aabocooood", confidence=0.9
    ),
    "numbers": numbers(LINE, LINE + WAVE),
    "numbers no better than the mean": numbers(LINE, LINE[::-1] + WAVE),
    "numbers met exactly": numbers(LINE, LINE),
    "numbers all alike": numbers([3.0, 3.0, 3.0], [2.5, 3.0, 3.5]),
    "filled rows differ in a column": replace(
        classes("A" * 9 + "B" * 9, WORSE), shifted=("year",)
    ),
    "labels in clumps": replace(classes("A" * 9 + "B" * 9, WORSE), clumped=True),
    "labels in clumps, hidden together": by_clump(classes("A" * 9 + "B" * 9, WORSE)),
    "labels in clumps, hidden together, filled rows differ": replace(
        by_clump(classes("A" * 9 + "B" * 9, WORSE)), shifted=("year", "month")
    ),
    "labels of a sorted table": replace(
        classes("A" * 9 + "B" * 9, WORSE), in_order=True
    ),
    "numbers in clumps, hidden together": by_clump(numbers(LINE, LINE + WAVE)),
    "numbers, filled rows differ in columns": replace(
        numbers(LINE, LINE + WAVE), shifted=("year", "month")
    ),
    "two numbers": numbers([3.0, 5.0], [5.0, 3.0]),
    "one number": numbers([3.0], [2.0], filled=1),
    "no number": numbers([], []),
    "sets": partly(classes("A" * 9 + "B" * 9, WORSE), "sets", 18, 20, 17),
    "sets alone": partly(classes("", ""), "sets", 0, 20, 17),
    "no single set": partly(classes("", ""), "sets", 0, 1, 0, tested=0),
    "one set": partly(classes("A" * 9 + "B" * 9, WORSE), "sets", 18, 1, 1),
    "no set": partly(classes("A" * 9 + "B" * 9, WORSE), "sets", 18, 0, 0),
    "intervals": partly(numbers(LINE, LINE + WAVE), "intervals", RUN, 40, 31),
    "intervals alone": partly(numbers([], []), "intervals", 0, 40, 31),
}

HELP = {
    "helped": helped(True, 17, 9, 0.2, 0.7),
    "probably helped": helped(True, 17, 15, -0.05, 0.27),
    "no difference, used": helped(True, 18, 18, 0.0, 0.0),
    "no help, used": helped(True, 15, 16, -0.2, 0.1),
    "harm, used": helped(True, 9, 17, -0.7, -0.2),
    "no difference": helped(False, 17, 17, 0.0, 0.0),
    "no clear difference": helped(False, 16, 15, -0.06, 0.16),
    "harm": helped(False, 9, 17, -0.7, -0.2),
    "one unlabeled row": helped(False, 16, 15, -0.06, 0.16, rows=1),
    "not known": Helped(False, UNKNOWN),
    "no time": Helped(False, replace(UNKNOWN, rows=160, labels=18), tried=False),
    "numbers helped": helped(True, 36.2, 61.0, -40.0, -9.6, kind="numbers"),
    "numbers probably helped": helped(True, 36.2, 41.0, -12.0, 2.4, kind="numbers"),
    "numbers no difference": helped(False, 1000.0, 1000.0, -1e-9, 1e-9, kind="numbers"),
    "numbers no clear difference": helped(False, 41, 36.2, -3, 12.6, kind="numbers"),
    "numbers harm": helped(False, 61.0, 36.2, 9.6, 40.0, kind="numbers"),
}
