import base64
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from halfmoon._report.findings import LooClasses
from halfmoon._report.report_page import render
from halfmoon._report.safe_text import safe_text
from halfmoon._report.unlabeled_gain import Helped
from report.examples import (
    EXAMPLES,
    diabetes,
    iris,
    page_of,
)
from report.made_up import HOSTILE, made_up, two_labels

VOID = {"meta", "link", "img", "br"}


class Outline(HTMLParser):
    """The tags and the text of a page; fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open
        self.text = re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@cache
def rendered(case):
    text = page_of(case)
    return text, Outline(text)


@pytest.fixture(params=[name for name in EXAMPLES if name != "digits"])
def page(request):
    return rendered(request.param)


def test_the_page_is_self_contained(page):
    text, outline = page
    text.encode("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert len(text) < 1_500_000
    names = {name for name, _ in outline.tags}
    assert not names & {"script", "iframe", "object", "embed", "form", "base", "svg"}
    for _, attrs in outline.tags:
        assert not [name for name in attrs if name.startswith("on")]
        for name in ("src", "href"):
            if name in attrs:
                assert attrs[name].startswith(("data:", "#"))
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policy = [a["content"] for a in outline.all("meta") if "http-equiv" in a]
    assert policy[0].startswith(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    )


def test_the_page_is_well_structured(page):
    _, outline = page
    assert outline.all("html") == [{"lang": "en"}]
    levels = [int(name[1]) for name, _ in outline.tags if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"][1:] for attrs in outline.all("a")]
    assert set(links) <= set(ids)
    optional = {"map", "mattered", "distributions"}
    assert len(links) == len(set(links)) == 10 - len(optional - set(ids))
    assert all(len(attrs["alt"]) > 20 for attrs in outline.all("img"))


def test_pictures_are_images_without_references(page):
    _, outline = page
    assert outline.all("img")
    for attrs in outline.all("img"):
        kind, data = attrs["src"].split(",")
        assert kind == "data:image/svg+xml;base64"
        svg = base64.b64decode(data).decode()
        root = ElementTree.fromstring(svg)
        assert root.tag.endswith("}svg")
        for each in root.iter():
            assert not each.tag.endswith(("}script", "}foreignObject"))
            for name, value in each.attrib.items():
                assert not name.startswith("on")
                if name.endswith("href"):
                    assert value.startswith("#")


def test_the_same_findings_give_the_same_page():
    assert render(iris()) == rendered("iris")[0]
    assert render(diabetes()) == rendered("diabetes")[0]


def test_numbers_of_the_findings_are_on_the_page():
    text = rendered("iris")[1].text.replace("\u00a0", " ")
    for part in (
        "species in flowers.csv",
        "The table has 150 rows. 15 rows have a label in species; 135 blanks were",
        "Blank means an empty cell (135).",
        "halfmoon fill flowers.csv --target species --seed 0",
        "None stands out.",
        "petal width (cm)",
        "a different value in each row",
        iris().sha256,
    ):
        assert part in text
    row = iris().next_rows[0]
    assert f"{row.number} {row.prediction} " in text
    outline = rendered("diabetes")[1]
    alts = " ".join(attrs["alt"] for attrs in outline.all("img"))
    left = diabetes().loo
    spread = left.given - left.given.mean()
    ratio = ((left.given - left.predicted) ** 2).sum() / (spread**2).sum()
    r2 = 1 - ratio * 59 / 60 * (1 + 6 / 60)  # of new rows, not of the labels
    assert f"R² {r2:.2f}, " in alts


@pytest.mark.parametrize("case", ["all-parts", "all-parts-numbers", "two-labels"])
def test_sentences_are_separated_by_spaces(case):
    text = rendered(case)[1].text
    assert not re.findall(r"[a-z]\.[A-Z]|  ,| \.", text)


def test_every_part_has_its_section():
    text = rendered("all-parts")[1].text
    for part in (
        "Look at this first 'Yes', 'yes ' and 'YES' look like one class. Merge them:",
        "--seed 0 --merge-labels",
        "What to do next Read the note above first",
        "Notes 'id' was left out: it numbers the rows.",
        "those with the predicted label speak for the prediction",
        "For: rows 12, 15, 18 (",
        "How it was read",
        "written with $ and commas",
        "Models that were averaged",
        "Mean confidence",
    ):
        assert part in text
    assert "Leave it out" not in text.split("Notes")[1]  # it stands above
    assert "a label there should tell most about rows that are uncertain" in text
    assert "among the least certain" not in text  # which they need not be
    numbers = rendered("all-parts-numbers")[1].text
    assert "pull it back" in numbers
    assert (
        "start with these: a label there should tell most about other rows" in numbers
    )
    plain = rendered("two-labels")[1].text
    assert "Look at this first" not in plain
    assert "Columns that mattered" not in plain


def test_hostile_text_is_shown_as_text():
    text, outline = rendered("hostile")
    words = outline.text
    for cell in HOSTILE:
        assert re.sub(r"\s+", " ", safe_text(cell)) in words
    assert "<script" not in text
    assert "onerror=alert(2)>" not in text
    assert "x" * 201 not in text
    assert "10,000 characters" in words
    assert "49" not in words.split("7 * 7")[1][:5]


def test_pictures_do_not_change_matplotlib_settings():
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"text.usetex": True, "lines.linewidth": 9.0}):
        own = render(two_labels())
        assert matplotlib.rcParams["text.usetex"] is True
    assert dict(matplotlib.rcParams) == before
    assert own == rendered("two-labels")[0]


def test_findings_with_little_to_show():
    findings = two_labels()
    nothing = np.array([np.nan, np.nan])
    unknown = LooClasses(("a", "b"), ("b", "b"), nothing, nothing)
    text = Outline(render(replace(findings, loo=unknown))).text
    assert "There are too few labels to tell whether using the " in text
    assert "Quality cannot be measured: each class has only one label." in text
    assert "The labels are too few to compare them, so the " in text
    assert "is used only if it predicts hidden labels better" not in text
    gain = replace(findings.helped.gain, labels=40, difference=np.nan)
    clumped = replace(findings, clumped=True, helped=Helped(False, gain))
    text = Outline(render(clumped)).text
    assert "Labels in clumps cannot compare them, so the first one is used." in text
    assert "too few to compare" not in text
    none = LooClasses((), (), np.empty(0), np.empty(0))
    text = Outline(render(replace(findings, loo=none, columns=()))).text
    assert "No label could be hidden and predicted from the others" in text
    assert "None stands out" not in text
    everything = made_up(["a", "b"], n=30, labeled=30)
    assert "0 blanks were filled in" in Outline(render(everything)).text
