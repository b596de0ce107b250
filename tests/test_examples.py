"""What the documentation shows must run: gallery scripts, and code in the guide."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    ROOT / "docs" / "engine.md",
    ROOT / "README.md",
]
LONG_PAGES = (  # over a second
    *("cookbook", "fill", "halfmoon", "honesty", "large", "losses", "queries", "weak"),
)
MOST_LINES = 100  # of a script: one idea


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_draws(script, pyplot, capsys):
    assert len(script.read_text().splitlines()) < MOST_LINES
    runpy.run_path(str(script), run_name="__main__")
    drawn = [pyplot.figure(number).axes for number in pyplot.get_fignums()]
    printed = capsys.readouterr().out
    assert any(axis.has_data() for axes in drawn for axis in axes) or printed


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path.stem in LONG_PAGES))
        for path in PAGES
    ],
    ids=lambda path: path.stem,
)
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch):
    for table in (ROOT / "examples" / "tables").glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    shared: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), shared)


def commands(page):
    """The commands that a page shows, in order, without `halfmoon label`."""
    blocks = re.findall(r"```shell\n(.*?)```", page.read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [
        line
        for line in lines
        if re.search(r"(^|\| )halfmoon ", line) and "halfmoon label" not in line
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem in ("README", "cookbook", "fill")]
)
def test_the_commands_on_a_page_run(page, tmp_path):
    for table in (ROOT / "examples" / "tables").glob("*.csv"):
        shutil.copy(table, tmp_path)
    shown = commands(page)
    assert len(shown) > 5
    start = f'halfmoon() {{ "{sys.executable}" -m halfmoon "$@"; }}; '
    for line in shown:
        quick = re.sub(r"halfmoon (fill|explain) ", r"halfmoon \1 --budget 2 ", line)
        done = subprocess.run(
            ["bash", "-c", start + quick],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.slow
def test_the_readme_shows_what_the_first_command_prints(tmp_path):
    shutil.copy(ROOT / "examples" / "tables" / "wines.csv", tmp_path)
    readme = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"```text\n(.*?)\n", readme)
    command = "halfmoon fill wines.csv --target cultivar"
    assert command in readme
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0].replace("\u00a0", " ") == shown
