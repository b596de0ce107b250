"""The filled rows as a page to sort and filter: one script, and no other."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest
from tools.browser import MISSING, browser_command, open_browser

from halfmoon._report.findings import ShownRow
from halfmoon._report.report_page import render_rows
from report.examples import diabetes, iris
from report.made_up import hostile

COLUMN = (
    "[...document.querySelectorAll('tbody tr:not([hidden])')].map(r => r.cells[%d])"
)


def with_row_numbers(values):
    """Findings with a row for each value, in their only column."""
    rows = [
        ShownRow(i + 2, (value,), "ab"[i % 2], "", 0.5 + i / 100)
        for i, value in enumerate(values)
    ]
    return render_rows(replace(iris(), shown_columns=("x",)), rows)


def test_the_policy_allows_only_its_script():
    text = render_rows(hostile(), hostile().next_rows)
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert len(scripts) == text.count("<script") == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    (policy,) = re.findall(r'Policy" content="(.*?)"', text)
    assert policy.startswith("default-src 'none';")
    assert re.findall("script-src .*?;", policy) == [f"script-src 'sha256-{digest}';"]
    assert "innerHTML" not in scripts[0]
    assert text == render_rows(hostile(), hostile().next_rows)


def test_rows_are_on_the_page():
    text = render_rows(diabetes(), diabetes().next_rows)
    for row in diabetes().next_rows:
        assert f'data-key="{row.number}"' in text
        assert row.prediction in text
    assert "12 different rows of 382 filled rows, the least certain first" in text


@pytest.fixture(scope="module")
def tab():
    if browser_command() is None:
        pytest.skip(MISSING)
    with open_browser() as browser:
        yield browser.new_page()


@pytest.fixture
def show(tab, tmp_path):
    def show(text):
        path = tmp_path / "rows.html"
        path.write_text(text, encoding="utf-8")
        tab.resize(1000, 800)
        tab.open(path)
        return tab

    return show


def column(tab, i):
    return tab.evaluate(f"{COLUMN % i}.map(c => c.innerText.trim())")


def press(tab, i):
    tab.evaluate(f"document.querySelectorAll('thead button')[{i}].click()")


def test_columns_are_sorted_by_number_or_by_word(show):
    tab = show(with_row_numbers(["10", "9", "", "1,200", "2,5", "-3"]))
    assert tab.events("Log.entryAdded") == []
    press(tab, 4)
    assert column(tab, 4) == ["-3", "2,5", "9", "10", "1,200", ""]
    press(tab, 4)
    assert column(tab, 4) == ["1,200", "10", "9", "2,5", "-3", ""]
    order = "document.querySelectorAll('th[aria-sort]')"
    assert tab.evaluate(f"{order}.length") == 1
    assert tab.evaluate(f"{order}[0].ariaSort") == "descending"
    press(tab, 1)
    assert column(tab, 1) == [*"aaabbb"]
    press(tab, 0)
    assert column(tab, 0) == [*"234567"]


def test_rows_are_filtered_by_what_they_contain(show):
    tab = show(with_row_numbers(["Red", "green", "dark red"]))
    tab.evaluate(
        "(() => {const i = document.querySelector('input'); i.value = ' RED'; "
        "i.dispatchEvent(new Event('input'))})()"
    )
    assert column(tab, 4) == ["Red", "dark red"]
    assert tab.evaluate("document.querySelector('output').textContent") == "2"


def test_hostile_cells_do_nothing(show):
    tab = show(render_rows(hostile(), hostile().next_rows))
    press(tab, 4)
    assert tab.events("Page.javascriptDialogOpening") == []
    assert tab.evaluate("document.scripts.length") == 1
    assert tab.evaluate("document.images.length") == 0
