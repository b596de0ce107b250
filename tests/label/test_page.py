"""The page in a real browser: Chromium, headless."""

import json
import re
import shutil
import subprocess
import tarfile
import time
from importlib.resources import files
from pathlib import Path

import pytest
from tools.browser import MISSING, browser_command, open_browser

from halfmoon._label.answers import Answers
from halfmoon._label.journal import read_journal
from small_tables import a_line, two_groups, write_csv

if browser_command() is None:
    pytest.skip(MISSING, allow_module_level=True)

PAUSE = 0.17  # seconds; a second press within 0.15 counts once
WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"
READY = "document.documentElement.dataset.ready === 'yes'"
SETTLED = "document.getElementById('saved').textContent !== 'Saving …'"
SAVED = "document.getElementById('saved').textContent === 'All answers are saved.'"
HIDE = (
    "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
    "document.dispatchEvent(new Event('visibilitychange'))"
)
AXE = """axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa",
  "best-practice"]}).then(found => found.violations.map(
  each => [each.id, each.impact, each.nodes.map(node => node.html).slice(0, 3)]))"""


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, serve, tmp_path):
    """page(rows, "--target", "y") is the page of a table."""
    opened = []

    def page(rows, *options, target="side", person="ann", ready=True, model=True):
        write_csv(tmp_path / "t.csv", rows)
        server = serve("t.csv", "--target", target, "--as", person, *options)
        opened.append(Seen(browser, server, tmp_path, target))
        if ready:
            opened[-1].wait_for(READY)
        if ready and model:
            opened[-1].wait_for("document.documentElement.dataset.refits > 0")
        return opened[-1]

    yield page
    for each in opened:
        each.tab.call("Page.close")


class Seen:
    """A page, and the file behind it."""

    def __init__(self, browser, server, folder, target, address=None):
        self.browser, self.server, self.folder = browser, server, folder
        self.target, self.path = target, folder / "t.labels.jsonl"
        self.tab = browser.new_page()
        self.tab.resize(1280, 900)
        self.tab.media()
        # In sight, as in a window of its own, also when another tab is opened.
        self.tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.tab.open(address or server.address)
        self.wait_for, self.evaluate = self.tab.wait_for, self.tab.evaluate

    def text(self, id_):
        return self.evaluate(f"document.getElementById('{id_}').innerText")

    def is_shown(self, id_):
        return self.evaluate(f"document.getElementById('{id_}').checkVisibility()")

    @property
    def row(self):
        """Number of the row that is asked for, from 0."""
        found = re.match(r"Row (\d+):", self.text("question"))
        return int(found[1]) - 2 if found else None

    def asks(self, row):
        """An expression that is true while the page asks for a row."""
        heading = "document.getElementById('question').textContent"
        return f"{heading}.startsWith('Row {row + 2}:')"

    @property
    def proposal(self):
        return self.text("proposed") if self.is_shown("proposal") else None

    def press(self, *keys, settle=True):
        """Press keys, each when the answer before it is saved."""
        for key in keys:
            time.sleep(PAUSE)
            self.tab.press(key)
            if settle:
                self.wait_for(SETTLED)

    def click(self, selector, **options):
        """Click or touch a button, and wait until its answer is saved."""
        time.sleep(PAUSE)
        self.tab.click(selector, **options)
        self.wait_for(SETTLED)

    def type(self, text):
        for letter in text:
            self.tab.press(letter)

    def lines(self):
        """Lines of the file, once the page says that all answers are saved."""
        self.wait_for(SAVED)
        return read_journal(self.path).lines

    def labels(self):
        """Answers by row number from 0, including skipped rows."""
        answers = Answers(self.target)
        answers.add_all(self.lines())
        return {x.place[2] - 2: x.value for x in answers.every.values()}

    def problems(self):
        logged = self.tab.events("Log.entryAdded")
        thrown = self.tab.events("Runtime.exceptionThrown")
        return [each for each in (*logged, *thrown) if "favicon" not in str(each)]


def test_by_keyboard_through_thirty_rows(page):
    rows, truth = two_groups(n=80, labels=8)
    seen = page(rows)
    keys = {"left": "1", "right": "2"}
    expected = {}
    while len(expected) < 30:
        row, step = seen.row, len(expected)
        value = str(truth[row])
        if step == 4:  # wrong, and taken back
            seen.press("2" if value == "left" else "1", "u")
            assert seen.row == row
            seen.press(keys[value])
        elif step == 7:  # three steps back, by the other key
            last = list(expected)[-3:]
            for before in reversed(last):
                seen.press("Backspace")
                assert seen.row == before
            for before in last:
                assert seen.row == before
                seen.press(keys[expected[before]])
            assert seen.row == row
            seen.press(keys[value])
        elif step in (9, 10):
            value = None
            seen.press(" ")
        elif step == 12:
            seen.press("/")
            seen.type(value[:3])
            seen.press("Enter")
        elif step == 14:
            value = "up & <away>"
            seen.press("/")
            seen.type(value)
            assert "New class" in seen.text("found")
            seen.press("Enter")
        elif step == 15:
            value = "up & <away>"
            seen.press("3")  # which has a key from now on
        elif seen.proposal == value and step % 2:
            seen.press("Enter")
        else:
            seen.press(keys[value])
        expected[row] = value
        seen.wait_for(f"!{seen.asks(row)}")
    assert seen.labels() == expected
    lines = seen.lines()
    assert sum("undo" in line for line in lines) == 4
    assert len({line["id"] for line in lines}) == len(lines)
    assert {line["who"] for line in lines} == {"ann"}
    assert all(0 <= line["seconds"] < 60 for line in lines if "undo" not in line)
    random = [line for line in lines if line.get("why") == "random"]
    assert len(random) >= 6
    assert not any(line["shown"] for line in random)
    assert seen.problems() == []
    # A page that is opened again goes on where this one was.
    again = Seen(seen.browser, seen.server, seen.folder, "side")
    again.wait_for(READY)
    assert again.row not in expected
    again.press("u")
    again.wait_for(again.asks(list(expected)[-1]))
    again.tab.call("Page.close")


def test_numbers_by_keyboard(page):
    rows, _ = a_line()
    seen = page(rows, target="y")
    seen.wait_for("document.activeElement.id === 'number'")
    assert not seen.is_shown("no-classes")
    before = 0
    while seen.proposal is None:
        seen.press(" ")
        before += 1
    first = seen.row
    proposed = seen.proposal
    seen.press("Enter")
    second = seen.row
    seen.type("-2,75")
    assert seen.evaluate("document.getElementById('number').value") == "-2,75"
    seen.tab.press("Backspace")  # of what is typed
    seen.press("Enter")
    third = seen.row
    seen.press("x", "Enter")
    assert seen.text("number-wrong") == "This is not a number."
    assert seen.row == third
    seen.tab.press("Backspace")
    seen.press("Backspace")  # there is nothing left to delete
    assert seen.row == second
    seen.press("4", "Enter")
    seen.press(" ")
    labels = seen.labels()
    assert labels[first] == pytest.approx(float(proposed), abs=0.01)
    assert (labels[second], labels[third]) == (4.0, None)
    assert len(labels) == 3 + before
    seen.press(*"uuuu", *"u" * before)
    seen.wait_for(
        "document.getElementById('announcement').textContent.includes('nothing')"
    )
    assert seen.labels() == {}
    assert seen.problems() == []


@pytest.mark.parametrize(
    ("typed", "decimal", "number"),
    [
        ("1234.5", ".", 1234.5),
        ("1,234.5", ".", 1234.5),
        ("1,234,567", ".", 1234567),
        ("1 234,5", ",", 1234.5),
        ("1.234,5", ",", 1234.5),
        ("1'234", ".", 1234),
        ("2,75", ".", 2.75),
        ("2.75", ",", 2.75),
        ("0,125", ".", 0.125),
        ("1,234", ",", 1.234),
        ("1,234", ".", "asks"),
        ("-12.345", ",", "asks"),
        ("\u22121e3", ".", -1000),
        ("1,23,4", ".", None),
        ("1 23", ".", None),
        ("1e999", ".", None),
        ("", ".", None),
    ],
)
def test_numbers_as_people_type_them(parser, typed, decimal, number):
    said = parser.evaluate(f"numberOf({json.dumps(typed)}, {json.dumps(decimal)})")
    assert said == ({} if number == "asks" else number)


@pytest.fixture(scope="module")
def parser(browser):
    """A tab with the function that reads numbers."""
    script = files("halfmoon._label") / "page" / "keys.js"
    tab = browser.new_page()
    tab.evaluate(re.sub(r"^export ", "", script.read_text(), flags=re.M) + ";0")
    tab.evaluate(  # NaN has no JSON
        "{const read = numberOf; numberOf = (...x) => Number.isNaN(read(...x)) ? {} :"
        " read(...x)};0"
    )
    yield tab
    tab.call("Page.close")


def test_a_typed_number_is_not_skipped_by_a_space(page):
    seen = page(a_line()[0], target="y", model=False)
    row = seen.row
    seen.type("1 234")
    assert seen.row == row
    seen.press("Enter")
    assert seen.labels() == {row: 1234.0}
    row = seen.row
    seen.type("1,234")
    seen.press("Enter")
    assert seen.text("number-wrong") == (
        "Is 1,234 more than a thousand? Type 1234, or 1.234."
    )
    assert seen.row == row


def test_digits_typed_while_a_number_is_saved_stay(page):
    seen = page(a_line()[0], target="y", model=False)
    row = seen.row
    seen.evaluate(
        "{const real = fetch; window.fetch = async (path, ...more) => {"
        " if (path === '/answer') await new Promise(done => setTimeout(done, 400));"
        " return real(path, ...more); }};0"
    )
    seen.type("12")
    seen.press("Enter", settle=False)
    seen.type("34")
    seen.wait_for(SETTLED)
    assert seen.labels() == {row: 12.0}
    second = seen.row
    seen.press("Enter")
    assert seen.labels() == {row: 12.0, second: 34.0}


def test_the_file_tells_whether_a_proposal_was_shown(page):
    seen = page(two_groups(n=60, labels=8)[0])
    shown = {}
    for has_proposal in (True, False):
        while (seen.proposal is not None) != has_proposal:
            seen.press(" ")
        row = seen.row
        seen.press("1", "u")  # after which the page shows the row as before
        assert seen.row == row
        assert (seen.proposal is not None) == has_proposal
        shown[row] = has_proposal
        seen.press("1")
    last = {line["row"] - 2: line for line in seen.lines() if "undo" not in line}
    assert {row: last[row]["shown"] for row in shown} == shown
    assert {last[row]["why"] for row in shown} == {"chosen"}  # none is new any more


def test_the_first_class_is_typed(page):
    rows = [["x", "y"], *([i, ""] for i in range(12))]
    seen = page(rows, target="y", model=False)
    assert seen.text("no-classes").startswith("There is no class yet.")
    row = seen.row
    seen.press("1")
    assert seen.row == row
    seen.press("/")
    seen.type("one")
    seen.press("Enter")
    assert not seen.is_shown("no-classes")
    second = seen.row
    seen.press("1")
    assert seen.labels() == {row: "one", second: "one"}


def test_keys_can_be_turned_off(page):
    seen = page(two_groups(n=40, labels=8)[0], model=False)
    seen.press("?")
    seen.tab.click("#keys-on")
    seen.press("Escape")
    row = seen.row
    seen.press("1", " ", "u", "Enter", "/", "?")
    assert seen.row == row
    assert not seen.is_shown("search")
    assert not seen.is_shown("help")
    seen.tab.click("#classes button")
    assert seen.labels() == {row: "left"}
    seen.tab.open(seen.server.address)  # it is remembered
    seen.wait_for(READY)
    assert not seen.evaluate("document.getElementById('keys-on').checked")
    seen.evaluate("localStorage.clear()")


def test_labeled_rows_are_compared_with_the_row(page):
    seen = page(two_groups(n=60, labels=8)[0])
    while seen.proposal is None:
        seen.press(" ")
    table = seen.evaluate(
        "[...document.querySelectorAll('#near tr')].map("
        "row => [...row.children].map(cell => cell.innerText.trim()))"
    )
    cells = dict(
        seen.evaluate(
            "[...document.querySelectorAll('#cells > div')].map("
            "pair => [...pair.children].map(each => each.innerText.trim()))"
        )
    )
    (_, *names), (this, *own), *near = table
    assert this == "This row"
    assert own == [cells[name] for name in names]
    assert {label.split()[0] for label, *_ in near} <= {"left", "right"}
    assert all(len(line) == len(table[0]) for line in near)
    # The button is there without a proposal too, so that no other button moves.
    place = "document.getElementById('skip').getBoundingClientRect().x"
    before = seen.evaluate(place)
    while seen.proposal is not None:
        seen.press(" ")
    assert seen.evaluate(place) == before
    assert seen.evaluate("document.getElementById('take').disabled")
    assert not seen.is_shown("near")


@pytest.mark.slow  # a pause after each key
def test_every_key_does_what_its_button_says(page):
    rows, _ = two_groups(n=80, labels=4)
    names = [f"k{i}" for i in range(40)]
    seen = page(rows, "--classes", ",".join(names))
    shown = seen.evaluate(
        "[...document.querySelectorAll('#classes button')].map(b => [b.value,"
        " b.querySelector('kbd')?.textContent, b.getAttribute('aria-keyshortcuts')])"
    )
    assert [name for name, _, _ in shown] == [*names, "left", "right"]
    with_key = [each for each in shown if each[1] is not None]
    keys = [key for _, key, _ in with_key]
    assert keys == [*"123456789", *"ABCDEFGHIJKLMNOPQRSTVWXYZ"]  # U is to undo
    assert [key for _, _, key in with_key] == [key.lower() for key in keys]
    expected = {}
    for name, key, _ in with_key:
        expected[seen.row] = name
        seen.press(key.lower())
    assert seen.labels() == expected
    before = seen.row
    for key in ("ArrowDown", "Tab", "Escape", "0", ".", "+", ";"):
        seen.press(key)
    seen.tab.call(
        "Input.dispatchKeyEvent", type="keyDown", key="1", text="1", modifiers=2
    )
    assert seen.row == before
    seen.press("?")
    assert seen.is_shown("help")
    seen.press("1", "u")
    assert seen.is_shown("help")
    seen.press("Escape")
    assert not seen.is_shown("help")
    seen.press("/")
    seen.type("k3")
    assert seen.text("found").splitlines()[0] == "k3"
    seen.press("ArrowDown", "Escape")
    assert not seen.is_shown("search")
    assert seen.row == before
    seen.press("/")
    seen.type("k39")
    seen.press("Enter")
    assert seen.labels() == {**expected, before: "k39"}
    assert seen.problems() == []


@pytest.mark.parametrize(
    ("key", "code", "shift", "meaning"),
    [
        ("&", "Digit1", False, "a"),  # France: digits need Shift
        ("1", "Digit1", True, "a"),
        ("\u00e9", "Digit2", False, "b"),
        ("\u0444", "KeyA", False, "j"),  # Russia
        ("\u0433", "KeyU", False, "undo"),
        ("/", "Digit7", True, "search"),  # Germany
        ("!", "Digit1", True, None),
        (";", "Semicolon", False, None),
    ],
)
def test_keys_of_other_keyboards(parser, key, code, shift, meaning):
    event = json.dumps({"key": key, "code": code, "shiftKey": shift})
    said = parser.evaluate(f"meaningOf({event}, [...'abcdefghijkl'], false, false)")
    assert (said and (said.get("value") or said["does"])) == meaning


def test_double_presses_count_once(page):
    rows, _ = two_groups(n=60, labels=8)
    seen = page(rows)
    first = seen.row
    # All within 150 ms, the last one by another key.
    seen.evaluate(
        "for (const key of '111112') document.dispatchEvent(new KeyboardEvent("
        "'keydown', {key, bubbles: true}))"
    )
    seen.wait_for(SETTLED)
    second = seen.row
    assert second != first
    time.sleep(0.2)
    for _ in range(2):  # a key that is held down
        seen.evaluate(
            "document.dispatchEvent(new KeyboardEvent('keydown',"
            " {key: '2', bubbles: true, repeat: true}))"
        )
    assert seen.row == second
    seen.evaluate(
        "for (let i = 0; i < 3; i++) document.querySelector('#classes button').click()"
    )
    assert seen.labels() == {first: "left", second: "left"}


def test_touch_on_a_phone(page):
    rows, _ = two_groups(n=60, labels=8)
    rows[0][0] = "a very long name of a column, " * 6
    seen = page(rows)
    seen.tab.resize(360, 640)
    width, inner = seen.evaluate(WIDTHS)
    assert width <= inner == 360
    first = seen.row
    seen.click("#classes button", touch=True)
    seen.wait_for(f"!{seen.asks(first)}")
    second = seen.row
    seen.click("#skip", touch=True)
    seen.wait_for(f"!{seen.asks(second)}")
    seen.click("#undo", touch=True)
    seen.wait_for(seen.asks(second))
    assert seen.labels() == {first: "left"}
    heights = seen.evaluate(
        "[...document.querySelectorAll('.answers button')].filter(b => "
        "b.checkVisibility()).map(b => b.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44
    # The answers are in sight, whatever the length of the row.
    assert (
        seen.evaluate(
            "document.getElementById('answers').getBoundingClientRect().bottom"
        )
        <= 640
    )
    # Enlarged four times, they would hide the row.
    seen.tab.resize(320, 256)
    bar = "getComputedStyle(document.getElementById('answers')).position"
    assert seen.evaluate(bar) == "static"
    width, inner = seen.evaluate(WIDTHS)
    assert width <= inner == 320


def test_enter_accepts_the_proposal_after_a_click(page):
    rows, _ = two_groups(n=60, labels=8)
    seen = page(rows)
    first = seen.row
    seen.click("#classes button:nth-child(2)")
    while seen.proposal is None:
        seen.press(" ")
    second, proposed = seen.row, seen.proposal
    seen.press("Enter")
    assert (seen.labels()[first], seen.labels()[second]) == ("right", proposed)
    seen.click("#last button")  # the latest answer, to look at again
    assert seen.row == second
    seen.press("1")
    assert seen.labels()[second] == "left"
    # A button that has the focus by the keyboard is pressed by Enter.
    third = seen.row
    seen.evaluate("document.querySelector('#classes button:nth-child(2)').focus()")
    seen.press("Enter")
    assert seen.labels()[third] == "right"


HOSTILE = [
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    '"><svg onload=window.hit=1>',
    "javascript:window.hit=1",
    "=1+1",
    "=cmd|' /C calc'!A0",
    "\u202egnirts\u202c",
    "{{7*7}}${7*7}",
    "a\u0007b\u200bc",
    "x" * 1_000_000,
]


def test_hostile_cells_do_nothing(page):
    names = [f"{text[:60]}{i}" for i, text in enumerate(HOSTILE[:6])]
    rows = [[*names, "y"]]
    for i in range(24):
        cells = [HOSTILE[(i + j) % len(HOSTILE)] for j in range(6)]
        rows.append([*cells, HOSTILE[i % 3] if i < 12 else ""])
    before = "\n".join(map(str, rows))
    seen = page(rows, target="y", person="<i>ann</i>", model=False)
    for _ in range(4):
        seen.press("1")
    seen.press("/")
    seen.type("<b>new</b>")
    seen.press("Enter")
    assert seen.evaluate("window.hit") is None
    assert (
        seen.evaluate("document.querySelectorAll('#cells script, img, svg').length")
        == 0
    )
    assert seen.evaluate("document.querySelectorAll('main b, main i').length") == 0
    assert "\u202e" not in seen.evaluate("document.body.textContent")
    assert list(seen.labels().values())[-1] == "<b>new</b>"
    assert {line["who"] for line in seen.lines()} == {"<i>ann</i>"}
    width, inner = seen.evaluate(WIDTHS)
    assert width <= inner
    assert seen.problems() == []
    assert before == "\n".join(map(str, rows))


def test_two_hundred_columns(page):
    rows = [[*(f"c{j}" for j in range(200)), "y"]]
    rows += [[*range(i, 200 + i), "ab"[i % 2] if i < 6 else ""] for i in range(12)]
    seen = page(rows, target="y", model=False)
    assert seen.evaluate("document.querySelectorAll('#cells dt').length") == 25
    assert seen.text("more-name") == "175 more columns"
    seen.tab.click("#more summary")
    seen.press("1")  # the others stay open
    assert seen.evaluate("document.getElementById('more').open")
    assert seen.evaluate("document.querySelectorAll('dt').length") == 200


def test_a_long_text_stays_open(page):
    long = "a word and the next " * 200
    lines = "\n".join(map(str, range(50)))
    rows = [["t", "lines", "short", "y"]]
    rows += [[f"{i} {long}", lines, "x " * 200, "ab"[i % 2]] for i in range(4)]
    rows += [[f"{i} {long}", lines, "x " * 200, ""] for i in range(8)]
    seen = page(rows, target="y", model=False)
    folded = (
        "Object.fromEntries([...document.querySelectorAll('#cells > div')].map(pair =>"
        " [pair.querySelector('dt').innerText,"
        " pair.querySelector('.text')?.classList.contains('folded') ?? null]))"
    )
    assert seen.evaluate(folded) == {"t": True, "lines": True, "short": None}
    seen.tab.click("#cells > div:first-child button")
    assert seen.evaluate(folded)["t"] is False
    seen.press("1")
    assert seen.evaluate(folded) == {"t": False, "lines": True, "short": None}
    assert "Show less" in seen.text("cells")


def test_pages_in_the_background_leave_connections_to_others(page, browser):
    """A browser has six for a server; a stream of events takes one."""
    seen = page(two_groups(n=40, labels=8)[0])
    tabs = [seen]
    for _ in range(6):
        tabs[-1].evaluate(HIDE)
        tabs.append(Seen(browser, seen.server, seen.folder, "side"))
        tabs[-1].wait_for(READY)
    tabs[-1].press("1")
    assert len(tabs[-1].lines()) == 1
    tabs[-1].evaluate(HIDE)
    assert "9 labels" not in seen.text("counts")
    seen.evaluate(HIDE.replace("true", "false"))  # it is looked at again
    seen.wait_for("document.getElementById('counts').textContent.includes('9 labels')")
    for tab in tabs[1:]:
        tab.tab.call("Page.close")


def test_two_people_the_same_row(page, browser):
    rows, _ = two_groups(n=40, labels=8)
    ann = page(rows)
    mine = ann.row
    ann.press("1")
    ann.lines()
    address = ann.server.address.replace("as=ann", "as=bob")
    bob = Seen(browser, ann.server, ann.folder, "side", address)
    bob.wait_for(READY)
    bob.press("2", "2")  # the third of his rows is one of hers
    assert bob.row == mine
    assert bob.proposal is None
    bob.press("2")
    ann.press("1")
    ann.lines()
    lines = [x for x in bob.lines() if x.get("row") == mine + 2]
    found = {(x["who"], x["value"]) for x in lines}
    assert found == {("ann", "left"), ("bob", "right")}
    for each in (ann, bob):
        each.wait_for(
            "document.getElementById('agreement').textContent.includes('several')"
        )
    assert "0 % agree" in bob.text("agreement").replace("\u00a0", " ")
    bob.tab.call("Page.close")


def test_a_name_is_asked_for_once(page, browser):
    rows, _ = two_groups(n=40, labels=8)
    seen = page(rows, person="", ready=False)
    seen.wait_for("document.getElementById('name').open")
    seen.type("eve")
    seen.press("Enter")
    seen.wait_for(READY)
    seen.press("1")
    assert seen.lines()[0]["who"] == "eve"
    again = Seen(browser, seen.server, seen.folder, "side")
    again.wait_for(READY)
    assert not again.is_shown("name")
    seen.evaluate("localStorage.clear()")
    again.tab.call("Page.close")


def test_a_row_stays_until_its_answer_is_saved(page):
    """Answers are on disk before the next row is shown."""
    seen = page(two_groups(n=40, labels=8)[0])
    seen.press("1")
    before, row = seen.labels(), seen.row
    seen.server.end()
    seen.press("2", settle=False)
    seen.wait_for("!document.getElementById('trouble').hidden")
    assert "Not saved yet" in seen.text("trouble")
    assert seen.text("saved") == "Saving …"
    marked = "[...document.querySelectorAll('.given')].map(each => each.innerText)"
    assert [text.split()[-1] for text in seen.evaluate(marked)] == ["right"]
    seen.press(*"1u /", settle=False)  # no more is taken until this one is saved
    assert seen.row == row
    assert not seen.is_shown("search")
    assert seen.text("last").count("Row") == 1
    answers = Answers("side")
    answers.add_all(read_journal(seen.path).lines)
    assert {x.place[2] - 2: x.value for x in answers.every.values()} == before


@pytest.mark.slow
def test_answers_survive_a_restart(page, serve, browser):
    rows, _ = two_groups(n=40, labels=8)
    seen = page(rows)
    seen.press("1")
    before = seen.labels()
    seen.server.end()
    row = seen.row
    seen.press("1", settle=False)
    port = seen.server.port
    options = ("--target", "side", "--as", "ann", "--port", port)
    again = serve("t.csv", *options)  # with another token
    seen.wait_for("document.getElementById('trouble').textContent.includes('restart')")
    assert seen.row == row
    assert seen.text("saved") == "Saving …"
    # The new address in another tab gives the browser the new cookie.
    other = Seen(browser, again, seen.folder, "side")
    other.wait_for(READY)
    assert seen.labels() == {**before, row: "left"}
    assert not seen.is_shown("trouble")
    third = seen.row
    seen.press("2")
    assert seen.labels() == {**before, row: "left", third: "right"}
    other.tab.call("Page.close")


@pytest.mark.slow  # a pause after each key
def test_earlier_answers_are_listed_after_many_undos(page):
    seen = page(two_groups(n=40, labels=8)[0], model=False)
    client = seen.server.client()
    for row in range(20, 33):
        assert client.post("/answer", id=f"i{row}", row=row, value="left")[0] == 200
    client.close()
    seen.tab.open(seen.server.address)
    seen.wait_for(READY)
    assert seen.text("last").splitlines()[0] == "Row 34: left"
    for row in range(32, 21, -1):
        seen.press("u")
        assert seen.row == row
    assert seen.text("last").splitlines() == ["Row 23: left", "Row 22: left"]
    assert list(seen.labels()) == [20, 21]


def test_an_answer_that_is_refused_stays(page):
    rows, _ = two_groups(n=40, labels=8)
    seen = page(rows)
    row = seen.row
    seen.evaluate(
        "{const real = fetch; window.fetch = (path, ...more) => path === '/answer'"
        " ? Promise.resolve(new Response('', {status: 500})) : real(path, ...more)};0"
    )
    seen.press("1")
    seen.wait_for("!document.getElementById('trouble').hidden")
    assert "could not be saved" in seen.text("trouble")
    assert seen.row == row
    assert not seen.evaluate(SAVED)
    assert seen.text("last") == ""


def test_rows_are_there_when_the_page_is_ready(page):
    rows, _ = two_groups(n=40, labels=8)
    seen = page(rows)
    # The server has a model now, so the page fetches rows for two reasons at once.
    late = "new Promise(done => setTimeout(done, 500))"
    seen.tab.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="const real = fetch; window.fetch = async (path, ...more) => {"
        f" if (path.startsWith('/questions')) await {late};"
        " return real(path, ...more); }",
    )
    seen.tab.open(seen.server.address)
    seen.wait_for(READY)
    assert seen.row is not None


@pytest.mark.slow
def test_a_page_without_rows_does_not_ask_in_a_loop(page):
    rows, _ = two_groups(n=12, labels=10)
    seen = page(rows)
    seen.evaluate(
        "{window.asked = 0; const real = fetch; window.fetch = (path, ...more) => "
        "path.startsWith('/questions') ? (asked++, Promise.reject(new Error('gone')))"
        " : real(path, ...more)};0"
    )
    seen.press(" ", " ", " ")
    seen.wait_for("asked > 0")
    time.sleep(1.5)
    assert seen.evaluate("asked") < 10


def test_the_token_is_removed_from_the_address(page):
    seen = page(two_groups(n=40, labels=8)[0])
    assert seen.evaluate("location.href").endswith("/?as=ann")
    assert seen.evaluate("document.cookie") == ""  # which no script reads


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, downloaded from npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is needed for axe-core")
    folder = tmp_path_factory.mktemp("axe")
    asked = ["npm", "pack", "axe-core", "--silent"]
    try:
        subprocess.run(asked, cwd=folder, check=True, capture_output=True, timeout=60)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("axe-core cannot be had from npm")
    (packed,) = Path(folder).glob("axe-core-*.tgz")
    with tarfile.open(packed) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.slow), True])
def test_no_serious_finding_of_axe(page, axe, dark):
    rows, _ = two_groups(n=40, labels=8)
    seen = page(rows)
    seen.tab.media(dark=dark)
    seen.press("1", "2")
    seen.evaluate(axe + ";0")
    for width in (1280, 390):
        seen.tab.resize(width, 800)
        for key in (None, "/", "?"):
            if key:
                seen.press(key)
            found = seen.evaluate(AXE)
            assert [each for each in found if each[1] in ("serious", "critical")] == []
            if key:
                seen.press("Escape")


def test_every_control_has_a_name_for_screen_readers(page):
    seen = page(two_groups(n=40, labels=8)[0])
    seen.press("1")
    nodes = seen.tab.call("Accessibility.getFullAXTree")["nodes"]
    told = ("button", "link", "textbox", "progressbar", "combobox", "dialog", "region")
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in told
    ]
    assert len(named) > 10
    assert [each for each in named if not each[1]] == []
    assert ("button", "1 left") in named
    # What comes next is said without looking for it.
    assert seen.text("announcement").startswith(f"Row {seen.row + 2}.")


def test_the_filled_table_is_made_on_the_page(page):
    seen = page(two_groups(n=40, labels=8)[0])
    seen.press("1")
    seen.lines()
    seen.tab.click("#fill")
    seen.wait_for("!document.getElementById('made').hidden", 120)
    assert seen.text("filling").startswith("Filled ")
    made = seen.evaluate("fetch('/files/table').then(answer => answer.text())")
    assert made.splitlines()[0] == "x,note,z,side,side_source,side_confidence"
    assert json.dumps(made).count("predicted") > 20


def test_ctrl_c_stops_cleanly(page):
    import signal

    seen = page(two_groups(n=40, labels=8)[0])
    seen.press("1")
    seen.lines()
    assert seen.server.end(signal.SIGINT) == 0
    assert "Stopped. 1 answer in t.labels.jsonl." in seen.server.said()
    assert list(seen.folder.glob("halfmoon-*")) == []  # temporary folders
    assert "Traceback" not in seen.server.said()
    seen.wait_for("document.getElementById('trouble').textContent.includes('stopped')")
