"""Names and cells with HTML or formulas are always text."""

from html.parser import HTMLParser

from small_tables import read_csv, told_of, two_groups, write_csv

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "=HYPERLINK(1)",
    "$\\frac{",
    "\u202eabc\u0007",
    "a,b\nc",
]


class Page(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def test_nasty_names_and_cells(run, folder):
    rows, truth = two_groups(60, 20)
    names = {"left": NASTY[0], "right": "=cmd|' /C calc'!A0"}
    table = [["x", NASTY[1], NASTY[2], "=1+1", NASTY[4]]]
    for i, (x, _, z, side) in enumerate(rows[1:]):
        table.append([x, NASTY[i % 7], z, "+" + NASTY[3], names.get(side, "")])
    write_csv("t.csv", table)
    target = NASTY[4]
    record = told_of(run("fill", "t.csv", "-t", target, "--json", "--budget", "0.3"))
    assert record["classes"].keys() == set(names.values())
    # The table: every cell is unchanged, and no new formula.
    out = read_csv("t.filled.csv")
    assert out[0] == [*table[0], f"{target}_source", f"{target}_confidence"]
    for i, (before, after) in enumerate(zip(table[1:], out[1:], strict=True)):
        assert after[:4] == before[:4]
        if i < 20:
            assert after[4] == before[4]
        else:
            wanted = names[truth[i]]
            assert after[4] == ("'" + wanted if wanted.startswith("=") else wanted)
    # The page: nothing from the table became an element or attribute.
    html = (folder / "t.report.html").read_text()
    page = Page(html)
    assert not page.tags & {"script", "iframe", "object", "embed", "form"}
    assert not [name for name in page.attributes if name.startswith("on")]
    assert NASTY[0] in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "49{% raw" not in html
    assert "\u202e" not in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_a_target_that_is_itself_a_formula(run):
    rows, _ = two_groups()
    rows[0][3] = "=side()"
    write_csv("t.csv", rows)
    options = ("--json", "--budget", "0.2", "--no-report")
    told_of(run("fill", "t.csv", "-t", "=side()", *options))
    header = read_csv("t.filled.csv")[0]
    assert header[3:] == ["=side()", "'=side()_source", "'=side()_confidence"]
