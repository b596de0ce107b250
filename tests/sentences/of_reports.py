"""What a report and the summary of a run say, in every situation."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from halfmoon._notes import Note
from halfmoon._report.bar_charts import of_columns, of_distributions, of_filled
from halfmoon._report.findings import (
    ColumnDistribution,
    FilledNumbers,
    Histogram,
    LooNumbers,
    ReportColumn,
    RowMap,
    ShownRow,
)
from halfmoon._report.key_figures import key_figures
from halfmoon._report.next_steps import more_labels, next_steps, of_more_labels
from halfmoon._report.quality_by_part import quality_in_parts
from halfmoon._report.quality_charts import of_quality
from halfmoon._report.report_page import render, render_rows
from halfmoon._report.row_map import of_map
from halfmoon._report.rows_to_review import MAX_REVIEW_ROWS
from halfmoon._report.sentences import (
    headline,
    help_given,
    rare_classes,
    suspects,
    verdict,
)
from halfmoon._selection.comparison import COLUMNS, METHODS
from report.made_up import forecast, hundred_classes, made_up
from report.situations import HELP, QUALITIES

EDGES = np.arange(5.0)
HISTOGRAM = Histogram(EDGES, np.array([1, 2, 3, 4]))
COLUMNS_USED = (
    ReportColumn("width", "number", 0.0, "feature", importance=0.25),
    ReportColumn("color", "category", 0.0, "feature", importance=-0.0125),
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
        loo=replace(base.loo, given=given, predicted=predicted),
        filled=replace(base.filled, given={"ok": 36, "fraud": 4}),
        notes=(Note("A.", "B.", "run", important=True), Note("C.", "D:", "run again")),
        next_rows=base.next_rows[:1],
        forecast=forecast("classes"),
    )


def numbers():
    """A table of numbers, each off by 1 or 2."""
    given = np.arange(12.0)
    predicted = given + np.where(np.arange(12) % 3, 1.0, -2.0)
    m = 20
    return replace(
        classes(),
        kind="numbers",
        loo=LooNumbers(given, predicted, predicted - 1.5, predicted + 1.5, 0.9),
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
        forecast=forecast("numbers"),
    )


def qualities():
    """All situations, each with what the summary says and what the tiles show."""
    for name, findings in QUALITIES.items():
        yield f"# {name}"
        yield str(headline(findings))
        yield str(verdict(findings))
        yield from rare_classes(findings)
        yield from (
            f"[{t.name}: {t.figure}] {t.note}" for t in key_figures(findings)[:-1]
        )
        yield ""
    findings = QUALITIES["all recovered"]
    for name, helped in HELP.items():
        yield f"# unlabeled rows: {name}"
        yield help_given(helped)
        tile = key_figures(replace(findings, helped=helped))[-1]
        yield f"[{tile.name}: {tile.figure}] {tile.note}"
        yield ""
    yield "# labels that look wrong"
    for n, of_labels in ((1, 18), (3, 18), (31, 18), (1, 500), (3, 500)):
        rows = (ShownRow(2, (), "A", given="B"),) * min(n, MAX_REVIEW_ROWS)
        yield suspects(
            replace(findings, suspects=rows, n_suspects=n, labeled=of_labels)
        )
    yield ""


def captions():
    """Captions and descriptions of pictures, and advice."""
    for name, findings in (
        ("classes", classes()),
        ("many classes", hundred_classes()),
        ("numbers", numbers()),
    ):
        yield f"# {name}"
        for of in (of_filled, of_quality, of_columns, of_map):
            for each in of(findings):
                yield each.caption
                yield f"[{each.alt}]"
        yield from (f"[{picture.alt}]" for picture in of_distributions(findings))
        parts = quality_in_parts(findings)
        yield from filter(None, [parts.balanced])
        yield from (
            f"- {step.text} {step.command}".strip() for step in next_steps(findings)
        )
        yield ""
    yield "# what more labels would bring"
    for kind, findings in (("classes", classes()), ("numbers", numbers())):
        for told in (forecast(kind), forecast(kind, few=True), None):
            there = replace(findings, forecast=told, labeled=9, predicted=50)
            yield more_labels(there)
            for each in of_more_labels(there):
                yield each.caption
                yield f"[{each.alt}]"
    yield ""
    yield "# models, and how they see the columns"
    yield from (plain for _, plain in (*METHODS, *COLUMNS))
    yield ""


class Paragraphs(HTMLParser):
    """The texts of a page, without the cells of its tables."""

    INLINE = frozenset(
        {"a", "b", "bdi", "code", "em", "i", "q", "span", "strong", "sub", "sup"}
    )
    LEFT_OUT = frozenset({"td", "script", "style", "title"})

    def __init__(self):
        super().__init__()
        self.texts, self._open = [""], None

    def handle_starttag(self, tag, attributes):
        if self._open is None and tag in self.LEFT_OUT:
            self._open = tag
        elif tag not in self.INLINE:
            self.texts.append("")

    def handle_endtag(self, tag):
        if tag == self._open:
            self._open = None
        elif tag not in self.INLINE:
            self.texts.append("")

    def handle_data(self, data):
        if self._open is None:
            self.texts[-1] += data


def pages():
    """What stands on the pages beside all that."""
    alone = replace(made_up(["a", "b", "c"], labeled=3), next_rows=(), suspects=())
    seen = set()
    for name, page in (
        ("classes", render(classes())),
        ("many classes", render(hundred_classes())),
        ("numbers", render(numbers())),
        ("little to say", render(alone)),
        ("filled rows", render_rows(classes(), hundred_classes().next_rows)),
    ):
        yield f"# page: {name}"
        read = Paragraphs()
        read.feed(page)
        for text in (" ".join(each.split()) for each in read.texts):
            if any(map(str.isalpha, text)) and text not in seen:
                seen.add(text)
                yield text
        yield ""


def all_of_reports():
    """All of these; what the pages repeat comes once."""
    before = [*qualities(), *captions()]
    yield from before
    known = {line.replace("\u00a0", " ") for line in before}
    yield from (line for line in pages() if not line or line not in known)
