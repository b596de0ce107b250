"""Names and cells with HTML or formulas are always text."""

import io
import json
import os
import sys
from html.parser import HTMLParser

import pytest

from halfmoon._cli.terminal import print_json, print_text
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


@pytest.mark.slow
def test_nasty_names_and_cells(run, folder):
    rows, truth = two_groups(60, 20)
    names = {"left": NASTY[0], "right": "=cmd|' /C calc'!A0"}
    table = [["x", NASTY[1], NASTY[2], "=1+1", NASTY[4]]]
    for i, (x, _, z, side) in enumerate(rows[1:]):
        table.append([x, NASTY[i % 7], z, "+" + NASTY[3], names.get(side, "")])
    write_csv("t.csv", table)
    target = NASTY[4]
    record = told_of(
        run("fill", "t.csv", "-t", target, "--json", "--budget", "0.000001")
    )
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
    options = ("--json", "--budget", "0.000001", "--no-report")
    told_of(run("fill", "t.csv", "-t", "=side()", *options))
    header = read_csv("t.filled.csv")[0]
    assert header[3:] == ["=side()", "'=side()_source", "'=side()_confidence"]


COMMANDS = "\x1b]0;owned\x07\u202e\x9b"  # what a terminal obeys


def test_a_terminal_gets_no_commands_from_an_error(run):
    write_csv("t.csv", [["a", COMMANDS], ["1", "x"], ["2", ""], ["3", "y"]])
    result = run("fill", "t.csv", "--json")
    assert result.exit_code == 2
    assert "\\x1b]0;owned" in result.stderr
    assert not set("\x1b\x07\u202e\x9b") & set(result.output)


@pytest.mark.slow
def test_a_terminal_gets_no_commands_from_a_table(run):
    rows, _ = two_groups(40, 20)
    rows = [[COMMANDS + str(cell) if cell else "" for cell in row] for row in rows]
    write_csv("t.csv", rows)
    target = COMMANDS + "side"
    quick = ("-t", target, "--budget", "0.000001")
    for command in (
        ("next", "t.csv", *quick),
        ("explain", "t.csv", "--row", "30", *quick),
        ("fill", "t.csv", *quick, "--no-report", "--model", "m.halfmoon"),
        ("inspect", "m.halfmoon"),
        ("predict", "m.halfmoon", "t.csv", "-o", "p.csv"),
        ("fill", "t.csv"),
    ):
        result = run(*command)
        assert result.exit_code == (2 if command == ("fill", "t.csv") else 0)
        assert not set("\x1b\x07\u202e\x9b") & set(result.output)


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are any bytes")
def test_names_that_are_not_utf8_are_printed(run, folder):
    rows, _ = two_groups(40, 20)
    write_csv(os.fsdecode(b"\xff.csv"), rows)
    quick = ("-t", "side", "--budget", "0.000001", "--no-report")
    result = run("fill", os.fsdecode(b"\xff.csv"), *quick, "--json")
    assert json.loads(result.stdout)["table"] == "\udcff.filled.csv"


def test_a_path_that_is_not_utf8_is_printed(capsys):
    print_text(os.fsdecode(b"Table: \xff.csv"))
    assert capsys.readouterr().out == "Table: \\udcff.csv\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_encoding_of_the_terminal(monkeypatch, encoding):
    made = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(made, encoding))
    print_text("80\u00a0% \u2265 \U0001f600")
    print_json({"a": "\u2265\x7f\U0001f600"})
    sys.stdout.flush()
    first, second = made.getvalue().decode(encoding).splitlines()
    assert first.endswith(" \\u2265 \\ud83d\\ude00")
    assert json.loads(second) == {"a": "\u2265\x7f\U0001f600"}


def test_an_empty_name_is_not_the_current_folder(run, folder):
    write_csv("t.csv", two_groups(40, 20)[0])
    result = run("fill", "", "-t", "side")
    assert result.exit_code == 3
    assert result.stderr.strip() == (
        "halfmoon: The name of the table is empty. Give the name of a file."
    )
    assert os.listdir(folder) == ["t.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_circle_of_links_is_no_output(run, folder):
    write_csv("t.csv", two_groups(40, 20)[0])
    os.symlink("loop", "loop")
    result = run("fill", "t.csv", "-t", "side", "-o", "loop")
    assert result.exit_code == 5
    assert "Too many levels of symbolic links" in result.stderr
    result = run("fill", "x" * 5000, "-t", "side")
    assert result.exit_code == 3
