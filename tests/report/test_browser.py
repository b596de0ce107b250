"""The report in a real browser: Chromium, headless, without a network."""

import re

import numpy as np
import pytest
from matplotlib import image
from tools.browser import MISSING, browser_command, open_browser

from report.examples import page_of

if browser_command() is None:
    pytest.skip(MISSING, allow_module_level=True)

CASES = [
    "iris",
    "diabetes",
    "all-parts",
    "all-parts-numbers",
    "hostile",
    "sixty-classes",
    "hundred-classes",
    "long-names",
]
PICTURES = {"diabetes": 5, "all-parts": 12, "all-parts-numbers": 13, "hostile": 16}
IMAGES = "[...document.images].map(i => [i.complete, i.naturalWidth, i.naturalHeight])"
WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
COLOR = "getComputedStyle(document.body).color"
# Contrast of WCAG 2.1 between two colors as CSS gives them.
CONTRAST = """(() => {
  const light = color => {
    const c = color.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * c[0] + .7152 * c[1] + .0722 * c[2];
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
  };
  return Math.min(...[...document.querySelectorAll(
    'p, h1, h2, h3, td, th, dt, dd, li, a, figcaption, summary, .of, code'
  )].map(e => {
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  }));
})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def tab():
    with open_browser() as browser:
        yield browser.new_page()


@pytest.fixture
def show(tab, folder):
    def show(case, width=1280, height=900, **media):
        tab.resize(width, height)
        tab.media(**media)
        path = folder / f"{case}.html"
        if not path.exists():
            path.write_text(page_of(case), encoding="utf-8")
        tab.open(path)
        return tab

    return show


@pytest.mark.parametrize("case", CASES)
def test_it_loads_without_errors_or_requests(show, case):
    tab = show(case)
    assert tab.events("Log.entryAdded") == []
    assert tab.events("Runtime.consoleAPICalled") == []
    assert tab.events("Runtime.exceptionThrown") == []
    asked = [each["request"]["url"] for each in tab.events("Network.requestWillBeSent")]
    assert len([url for url in asked if not url.startswith("data:")]) == 1  # itself
    images = tab.evaluate(IMAGES)
    assert len(images) == PICTURES.get(case, 6)
    assert all(done and width > 100 and height > 90 for done, width, height in images)


@pytest.mark.parametrize("width", [320, 360, 640, 1280])
@pytest.mark.parametrize("case", CASES)
def test_it_fits_any_width(show, case, width):
    # 640 is also a window of 1280 at a zoom of 200 %.
    content, window = show(case, width).evaluate(WIDTHS)
    assert window == width
    assert content <= width


@pytest.mark.parametrize("case", [case for case in CASES if case != "hostile"])
def test_it_fits_a_printed_page(show, case):
    content, _ = show(case, 794, 1123, kind="print").evaluate(WIDTHS)
    assert content <= 794


def test_hostile_cells_do_nothing(show):
    tab = show("hostile")
    assert tab.events("Page.javascriptDialogOpening") == []
    script = "document.querySelectorAll('script, iframe, object, embed, form').length"
    assert tab.evaluate(script) == 0
    handlers = (
        "[...document.querySelectorAll('*')].filter(e => "
        "e.getAttributeNames().some(n => n.startsWith('on'))).length"
    )
    assert tab.evaluate(handlers) == 0
    assert "<script>alert(1)</script>" in tab.evaluate("document.body.innerText")
    # Were there a script, the policy would not let it run.
    tab.evaluate(
        "(() => {const s = document.createElement('script'); "
        "s.textContent = 'document.title = \"ran\"'; document.body.append(s)})()"
    )
    assert tab.evaluate("document.title") != "ran"
    assert "Content Security Policy" in str(tab.events("Log.entryAdded"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("case", ["iris", "diabetes", "all-parts"])
def test_text_has_enough_contrast(show, case, dark):
    tab = show(case, dark=dark)
    red = int(re.findall(r"\d+", tab.evaluate(BACKGROUND))[0])
    assert (red < 60) == dark
    assert tab.evaluate(CONTRAST) >= 4.5


def test_pictures_are_side_by_side_or_stacked(show):
    places = (
        "[...document.querySelectorAll('#map img')].map(i => i.getBoundingClientRect())"
        ".map(b => [b.x, b.y])"
    )
    (x0, y0), (x1, y1) = show("iris", 1280).evaluate(places)
    assert y0 == y1
    assert x1 > x0
    (x0, y0), (x1, y1) = show("iris", 390).evaluate(places)
    assert x0 == x1
    assert y1 > y0


def shades(tab, folder):
    """Brightness of the pixels of some pictures, from 0 to 1."""
    chosen = "[...document.querySelectorAll('#filled img, #quality img, #map img')]"
    images = tab.evaluate(f"{chosen}.map((each, i) => each.id = `picture-${{i}}`)")
    for name in images:
        path = folder / f"{name}.png"
        tab.screenshot(path, selector=f"#{name}")
        yield image.imread(path)[..., :3].mean(axis=2)


@pytest.mark.parametrize(
    "case",
    [
        "all-parts",
        "all-parts-numbers",
        pytest.param("hundred-classes", marks=pytest.mark.slow),
    ],
)
def test_pictures_are_dark_in_dark_mode(show, folder, case):
    pictures = [*shades(show(case, dark=True), folder)]
    assert len(pictures) >= 5
    for dark in pictures:
        assert dark[9, 9] < 0.15  # no plate behind it
        assert np.median(dark) < 0.3
        assert dark.max() > 0.7  # what is written on it can be read
    for light in shades(show(case, dark=False), folder):
        assert light[9, 9] == 1.0
    for printed in shades(show(case, 794, 1123, kind="print", dark=True), folder):
        assert printed[9, 9] == 1.0


def test_tall_cells_do_not_stretch_rows_on_a_phone(show):
    heights = show("hundred-classes", 390).evaluate(
        "[...document.querySelectorAll('#least-sure tbody tr')]"
        ".map(r => r.getBoundingClientRect().height)"
    )
    assert len(heights) == 14
    assert max(heights) < 45
    tab = show("hundred-classes", 1280)
    text = tab.evaluate("document.querySelector('#least-sure').innerText")
    assert "0.142857" in text
    assert "0.1428571" not in text
    full = "document.querySelector('#least-sure [title]').title"
    assert tab.evaluate(full) == "0.1428571428571428"
    folded = "document.querySelector('#least-sure details')"
    assert tab.evaluate(f"{folded}.open") is False
    tab.evaluate(f"{folded}.querySelector('summary').click()")
    assert tab.evaluate(f"{folded}.innerText").strip().endswith("sent it back at once.")


def test_the_boxes_come_first(show):
    places = "['.alerts', '.next', 'nav', '.notes', '#filled', '#quality', '#mattered']"
    tops = show("all-parts").evaluate(
        f"{places}.map(s => document.querySelector(s).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)


def test_wide_tables_scroll(show):
    tab = show("sixty-classes", 360)
    wide = tab.evaluate(
        "[...document.querySelectorAll('.scroll')].map(e => [e.scrollWidth, "
        "e.clientWidth, e.tabIndex])"
    )
    assert any(inner > outer for inner, outer, _ in wide)
    assert all(index == 0 for *_, index in wide)  # and can be reached by keyboard


def test_it_prints_light_on_whole_pages(show, folder):
    tab = show("iris", 794, 1123, kind="print", dark=True)
    assert tab.evaluate(COLOR) == "rgb(0, 0, 0)"
    assert tab.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
    assert tab.evaluate("getComputedStyle(document.querySelector('nav')).display") == (
        "none"
    )
    cut = (
        "[...document.querySelectorAll('figure')]"
        ".filter(f => getComputedStyle(f).breakInside != 'avoid').length"
    )
    assert tab.evaluate(cut) == 0
    tab.pdf(folder / "report.pdf")
    data = (folder / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", data)) <= 6


def test_a_screenshot_shows_the_page(show, folder):
    path = folder / "map.png"
    show("iris", 1280).screenshot(path, selector="#map")
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = (int.from_bytes(data[k : k + 4]) for k in (16, 20))
    assert width > 900
    assert height > 500
