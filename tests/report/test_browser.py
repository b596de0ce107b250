"""The report in a real browser: Chromium, headless, without a network."""

import re

import pytest
from tools.browser import MISSING, browser_command, open_browser

from report.examples import page_of

if browser_command() is None:
    pytest.skip(MISSING, allow_module_level=True)

CASES = ["iris", "diabetes", "hostile", "sixty-classes", "long-names"]
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
    'p, h1, h2, h3, td, th, dt, dd, li, a, figcaption, .chosen, .of, code'
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
def test_it_loads_without_errors_and_asks_for_nothing(show, case):
    tab = show(case)
    assert tab.events("Log.entryAdded") == []
    assert tab.events("Runtime.consoleAPICalled") == []
    assert tab.events("Runtime.exceptionThrown") == []
    asked = [each["request"]["url"] for each in tab.events("Network.requestWillBeSent")]
    assert len([url for url in asked if not url.startswith("data:")]) == 1  # itself
    images = tab.evaluate(IMAGES)
    assert len(images) == 7 - (case == "diabetes")
    assert all(done and width > 100 and height > 90 for done, width, height in images)


@pytest.mark.parametrize("width", [320, 360, 640, 1280])
@pytest.mark.parametrize("case", CASES)
def test_it_fits_any_width(show, case, width):
    # 640 is also a window of 1280 at a zoom of 200 %.
    content, window = show(case, width).evaluate(WIDTHS)
    assert window == width
    assert content <= width


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
@pytest.mark.parametrize("case", ["iris", "diabetes"])
def test_text_stands_out_from_its_background(show, case, dark):
    tab = show(case, dark=dark)
    red = int(re.findall(r"\d+", tab.evaluate(BACKGROUND))[0])
    assert (red < 60) == dark
    assert tab.evaluate(CONTRAST) >= 4.5


def test_pictures_stand_side_by_side_or_one_below_the_other(show):
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


def test_tables_scroll_within_themselves(show):
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
