"""Screenshots of reports and pages for the documentation, taken by its build.

Without a browser, existing pictures stay unchanged. By hand:

    python docs/screenshots.py docs/images flowers=flowers.report.html
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.browser import MISSING, browser_command, open_browser

__all__ = ["take", "take_labeling"]

DESKTOP, PHONE = (1100, 1150), (390, 844)
ANSWERS = 45  # before pictures of the labeling page
SECTIONS = ("quality", "mattered", "map", "least-sure")


def take(reports: Mapping[str, Path], folder: Path) -> list[Path]:
    """PNG files of each report: its top, on a phone, and some of its sections.

    Parameters
    ----------
    reports : mapping of str to Path
        HTML files, by the name that their pictures get.
    folder : Path
        For ``NAME-desktop.png``, ``NAME-phone.png``, ``NAME-map.png`` and so on.

    Returns
    -------
    list of Path
        What was written; empty without a browser.
    """
    if browser_command() is None:
        sys.stderr.write(f"{MISSING} The screenshots in {folder} are kept.\n")
        return []
    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with open_browser() as browser:
        page = browser.new_page()
        page.media()
        for name, path in reports.items():
            page.resize(*PHONE, scale=2)
            page.open(Path(path))
            taken.append(folder / f"{name}-phone.png")
            page.screenshot(taken[-1])
            page.resize(*DESKTOP)
            page.open(Path(path))
            taken.append(folder / f"{name}-desktop.png")
            page.screenshot(taken[-1])
            for section in SECTIONS:
                if page.evaluate(f"document.getElementById('{section}') !== null"):
                    taken.append(folder / f"{name}-{section}.png")
                    page.screenshot(taken[-1], selector=f"#{section}")
    return taken


def take_labeling(address: str, folder: Path, keys: Sequence[str]) -> list[Path]:
    """PNG files of the labeling page after some answers: wide, dark, and on a phone.

    Parameters
    ----------
    address : str
        That ``halfmoon label`` has printed.
    folder : Path
        For ``label-desktop.png``, ``label-dark.png`` and ``label-phone.png``.
    keys : sequence of str
        The key of the right answer for each row of the table.
    """
    if browser_command() is None:
        sys.stderr.write(f"{MISSING} The screenshots in {folder} are kept.\n")
        return []
    folder.mkdir(parents=True, exist_ok=True)
    taken = [folder / f"label-{name}.png" for name in ("desktop", "dark", "phone")]
    row = "document.getElementById('question').textContent.match(/[0-9]+/)[0]"
    has_accuracy = "document.getElementById('quality').textContent.includes('%')"
    has_proposal = "!document.getElementById('proposal').hidden"
    with open_browser() as browser:
        page = browser.new_page()
        page.media()
        page.resize(1180, 860)
        page.open(address)
        page.wait_for("document.documentElement.dataset.refits > 0", 120)

        def answer() -> None:
            page.press(keys[int(page.evaluate(row)) - 2])  # below the row of names
            time.sleep(0.2)

        for _ in range(ANSWERS):
            answer()
        while not page.evaluate(f"{has_accuracy} && {has_proposal}"):
            time.sleep(2)  # for a refit: only rows that it predicts count
            answer()
        page.screenshot(taken[0])
        page.media(dark=True)
        page.screenshot(taken[1])
        page.media()
        page.resize(*PHONE, scale=2)
        page.screenshot(taken[2])
    return taken


def main(arguments: list[str]) -> int:
    """Take the screenshots that the command line asks for."""
    if len(arguments) < 2 or not all("=" in each for each in arguments[1:]):
        sys.stderr.write("usage: screenshots.py FOLDER NAME=REPORT.html ...\n")
        return 2
    pairs = (each.split("=", 1) for each in arguments[1:])
    for path in take({name: Path(file) for name, file in pairs}, Path(arguments[0])):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
