"""Findings without a run: made-up labels, and tables that try to do harm."""

from dataclasses import replace

import numpy as np

from halfmoon._notes import Note
from halfmoon._report.findings import (
    ColumnDistribution,
    FilledClasses,
    Findings,
    Histogram,
    LooClasses,
    Reason,
    ReportColumn,
    RowMap,
    ShownRow,
    confidence_edges,
)
from halfmoon._report.unlabeled_gain import Helped, UnlabeledGain
from halfmoon.queries import Forecast

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg onload=alert(3)>",
    '=HYPERLINK("http://example.invalid","click")',
    "a\x00b\x07c\x1b[31m\r\nd\te",
    "\u202egnp.exe\u2066 \u200b\ufeff\u200f",
    "</style><script>alert(4)</script>",
    "</title><script>alert(5)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "$\\frac{1}{0$ & <b>bold</b>",
    "\ud800 half a pair",
    "אבג — 中文 — 😀",
    "x" * 10_000,
    "e" + "\u0301" * 500,
)


def about(source, target, kind, names, n, labeled, **rest):
    """What every example has."""
    return {
        "source": source,
        "target": target,
        "kind": kind,
        "rows": n,
        "labeled": labeled,
        "predicted": n - labeled,
        "unlabeled_used": n - labeled,
        "columns": (
            *(ReportColumn(name, "number", 0.0, "feature") for name in names),
            ReportColumn(target, "category", 1 - labeled / n, "target"),
            ReportColumn(
                "id", "number", 0.0, "left out", "a different value in each row"
            ),
        ),
        "blanks": (("", n - labeled),),
        "shown_columns": tuple(names[:6]),
        "settings": (
            ("target", target),
            ("kind", f"{kind} (detected)"),
            ("budget", "60 seconds"),
            ("memory", "512 MB"),
            ("seed", "0"),
        ),
        "versions": (("halfmoon", "0.5.0"), ("Python", "3.13.1"), ("NumPy", "2.4.0")),
        "command": f"halfmoon fill {source} --target {target} --seed 0",
        "seconds": 12.3,
        "date": "2026-11-16 06:00 UTC",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        **rest,
    }


def made_up(classes, n=400, labeled=60, seed=0):
    """Findings without a run: labels and numbers at random."""
    rng = np.random.default_rng(seed)
    c = len(classes)
    codes = rng.integers(0, c, n)
    codes[: min(c, n)] = np.arange(min(c, n))
    given = np.arange(n) < labeled
    confidence = rng.uniform(1 / c, 1, n)
    predicted = np.where(rng.uniform(size=n) < 0.8, codes, rng.integers(0, c, n))
    names = np.array(classes, dtype=object)

    def tally(some):
        return {str(names[k]): int((some == k).sum()) for k in np.unique(some)}

    shown = tuple(
        ShownRow(
            i + 1,
            tuple(classes[(i + j) % c] for j in range(6)),
            classes[i % c],
            classes[(i + 1) % c],
            float(confidence[i]),
            given=classes[(i + 2) % c],
        )
        for i in range(min(14, n))
    )
    return Findings(
        **about(
            "table.csv", "kind", "classes", [f"c{i}" for i in range(6)], n, labeled
        ),
        helped=Helped(
            False,
            UnlabeledGain("classes", n - labeled, labeled, 7, 6, 1 / 30, -0.05, 0.1),
        ),
        loo=LooClasses(
            tuple(names[codes[given]]),
            tuple(names[predicted[given]]),
            confidence[given],
            np.where(codes == predicted, confidence, (1 - confidence) / c)[given],
        ),
        filled=FilledClasses(
            tally(codes[given]),
            tally(predicted[~given]),
            Histogram.of(confidence[~given], confidence_edges()),
            float(confidence[~given].mean()) if labeled < n else float("nan"),
        ),
        map=RowMap(
            rng.normal(size=(n, 2)),
            tuple(names[np.where(given, codes, predicted)]),
            given,
            np.where(given, np.nan, confidence),
        ),
        next_rows=shown,
        suspects=shown[:3],
    )


def hostile():
    """Findings in which every text from the table is hostile."""
    n = len(HOSTILE)
    base = made_up(HOSTILE, n=80, labeled=30)
    return replace(
        base,
        source=HOSTILE[0],
        target=HOSTILE[1],
        columns=tuple(
            ReportColumn(
                text, "text", 0.25, "left out", HOSTILE[i - 1], HOSTILE[i - 2], i
            )
            for i, text in enumerate(HOSTILE)
        ),
        blanks=tuple((text, 3) for text in HOSTILE[:6]),
        shown_columns=tuple(HOSTILE[(i + 5) % n] for i in range(6)),
        settings=tuple((text, HOSTILE[-i - 1]) for i, text in enumerate(HOSTILE)),
        versions=((HOSTILE[6], HOSTILE[7]),),
        command=f"halfmoon fill '{HOSTILE[0]}' --target '{HOSTILE[1]}'",
        date=HOSTILE[8],
        sha256=HOSTILE[2],
        notes=(
            Note(HOSTILE[0], HOSTILE[1], HOSTILE[2], important=True),
            Note(HOSTILE[6], HOSTILE[7], HOSTILE[0]),
            Note("A plain warning."),
        ),
        next_rows=tuple(
            replace(
                row,
                speaks_for=(Reason(3, HOSTILE[0], 0.5), Reason(4, HOSTILE[5], 0.5)),
                speaks_against=(Reason(5, HOSTILE[6], -0.5),),
            )
            for row in base.next_rows
        ),
        distributions=tuple(
            ColumnDistribution(text, {text: 0.5, HOSTILE[0]: 0.5}, {HOSTILE[4]: 1.0})
            for text in HOSTILE
        ),
    )


def two_labels():
    """The smallest possible findings."""
    nothing = Helped(
        False, UnlabeledGain("classes", 3, 0, 0, 0, np.nan, np.nan, np.nan)
    )
    return replace(
        made_up(["no", "yes"], n=5, labeled=2),
        helped=nothing,
        map=None,
        next_rows=(),
        suspects=(),
        blanks=(),
        notes=(Note("Two labels are very few."),),
    )


def sixty_classes():
    names = [f"district number {i} of the greater city area" for i in range(60)]
    return made_up(names, n=2000, labeled=300)


def hundred_classes():
    """Many classes with few mistakes, long decimals and free text."""
    names = [f"{i:03d}" for i in range(100)]
    base = made_up(names, n=3000, labeled=400)
    given = base.loo.given
    predicted = tuple(names[1] if i % 100 == 7 else g for i, g in enumerate(given))
    text = "The package came late and the box was open, so that I sent it back at once."

    def messy(row):
        cells = (f"{row.number / 7:.16f}", text, *row.cells[2:5], "x" * 80)
        return replace(row, cells=cells)

    return replace(
        base,
        loo=replace(base.loo, predicted=predicted),
        next_rows=tuple(map(messy, base.next_rows)),
        suspects=tuple(map(messy, base.suspects)),
    )


def long_names():
    names = [
        f"a rather long name without{'_' * 3}any_place_to_break_{i}" for i in (1, 2)
    ]
    base = made_up(names)
    long = "a_column_name_of_a_hundred_characters_" * 3
    return replace(
        base,
        target=long,
        source=f"{long}.csv",
        shown_columns=(long,) * 6,
        command=f"halfmoon fill {long}.csv --target {long}",
        columns=tuple(
            ReportColumn(f"{long}{i}", "number", 0, "feature") for i in range(9)
        ),
    )


def forecast(kind, few=False):
    """A made-up forecast; with `few`, more labels gain hardly anything."""
    unit = 1.0 if kind == "classes" else 40.0
    path = np.geomspace(10.0, 240.0, 24)
    size = 0.1 if few else 1.0
    gain = size * unit * np.array([0.02, 0.03, 0.04])
    return Forecast(
        metric="error rate" if kind == "classes" else "mean absolute error",
        n_labeled=40,
        error=0.2 * unit,
        error_low=0.1 * unit,
        error_high=0.3 * unit,
        n_labels=np.array([50, 100, 200]),
        expected=0.2 * unit - gain,
        low=0.1 * unit - gain,
        high=0.3 * unit - gain,
        gain=gain,
        gain_low=gain - size * 0.022 * unit,
        gain_high=gain + size * 0.022 * unit,
        level=0.9,
        counts=np.array([10.0, 20.0, 30.0, 39.0]),
        measured=unit * np.array([0.4, 0.3, 0.24, 0.2]),
        path_counts=path,
        path=unit * path**-0.4,
        path_low=0.8 * unit * path**-0.4,
        path_high=1.2 * unit * path**-0.4,
    )
