"""Every caption, line of advice and description of a picture, word by word.

After a change of words: ``python -m report.test_captions`` in the folder of the tests
writes the list anew; read it as someone would who knows no statistics.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from halfmoon.candidates.plain_names import COLUMNS, METHODS
from halfmoon.report import (
    ColumnDistribution,
    ColumnUse,
    FilledNumbers,
    Histogram,
    LeftOutNumbers,
    Note,
    RowMap,
)
from halfmoon.report.advice import next_steps
from halfmoon.report.illustrations import (
    of_columns,
    of_distributions,
    of_filled,
    of_map,
    of_quality,
)
from halfmoon.report.quality import quality_in_parts
from report.made_up import hundred_classes, made_up

LIST = Path(__file__).with_name("captions.txt")
EDGES = np.arange(5.0)
HISTOGRAM = Histogram(EDGES, np.array([1, 2, 3, 4]))
COLUMNS_USED = (
    ColumnUse("width", "number", 0.0, "feature", importance=0.25),
    ColumnUse("color", "category", 0.0, "feature", importance=-0.0125),
)
DISTRIBUTIONS = (
    ColumnDistribution("width", HISTOGRAM, Histogram(EDGES, np.array([4, 3, 2, 1]))),
    ColumnDistribution("color", {"red": 0.75, "blue": 0.25}, {"red": 0.5, "blue": 0.5}),
)


def classes():
    """A table of classes, one of them common."""
    base = made_up(["ok", "fraud"], n=100, labeled=40)
    given = ("ok",) * 36 + ("fraud",) * 4
    predicted = ("ok",) * 35 + ("fraud",) * 4 + ("ok",)
    return replace(
        base,
        columns=COLUMNS_USED,
        distributions=DISTRIBUTIONS,
        left_out=replace(base.left_out, given=given, predicted=predicted),
        filled=replace(base.filled, given={"ok": 36, "fraud": 4}),
        notes=(Note("A.", "B.", "run", important=True), Note("C.", "D:", "run again")),
        next_rows=base.least_sure[:1],
    )


def numbers():
    """A table of numbers, each off by 1 or 2."""
    given = np.arange(12.0)
    predicted = given + np.where(np.arange(12) % 3, 1.0, -2.0)
    m = 20
    return replace(
        classes(),
        kind="numbers",
        left_out=LeftOutNumbers(
            given, predicted, predicted - 1.5, predicted + 1.5, 0.9
        ),
        filled=FilledNumbers(HISTOGRAM, HISTOGRAM, 3.0),
        map=RowMap(
            np.stack([np.arange(m), np.arange(m) % 3], axis=1).astype(float),
            np.arange(m, dtype=float),
            np.arange(m) < 5,
            np.where(np.arange(m) < 5, np.nan, 2.0),
        ),
        suspects=classes().suspects[:1],
        notes=(),
        command="halfmoon.fill(df, 'y')",
    )


def texts():
    """All situations, each with its captions and descriptions."""
    for name, findings in (
        ("classes", classes()),
        ("many classes", hundred_classes()),
        ("numbers", numbers()),
    ):
        yield f"# {name}"
        for of in (of_filled, of_quality, of_columns, of_map):
            for each in of(findings):
                yield each.caption
                yield f"[{each.picture.alt}]"
        yield from (f"[{picture.alt}]" for picture in of_distributions(findings))
        parts = quality_in_parts(findings)
        yield from filter(None, [parts.balanced])
        yield from (
            f"- {step.text} {step.command}".strip() for step in next_steps(findings)
        )
        yield ""
    yield "# models, and how they see the columns"
    yield from (plain for _, plain in (*METHODS, *COLUMNS))


def listed():
    return [text.replace("\u00a0", " ") for text in texts()]


def test_every_caption_is_as_listed():
    assert listed() == LIST.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join(listed()) + "\n", encoding="utf-8")
