"""Every sentence that a command or a report can show, word by word, in one list.

After a change of words: ``python -m sentences.test_sentences`` in the folder of the
tests writes ``sentences.txt`` anew; read it as someone would who knows no statistics.
A new note or error needs an example in one of the files ``of_*.py``.
"""

import tempfile
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG

from halfmoon._report.key_figures import key_figures
from halfmoon._report.sentences import headline
from halfmoon.table._parameter_text import as_options
from report.situations import QUALITIES
from sentences.of_commands import all_of_commands
from sentences.of_files import readings, typed_readings
from sentences.of_labels import all_of_labels
from sentences.of_outputs import books, copies_of_books, writings
from sentences.of_reports import all_of_reports
from sentences.of_runs import all_of_runs
from sentences.recording import recorded

LIST = Path(__file__).with_name("sentences.txt")
NO_BREAK = "\u00a0"


def no_picture(canvas, file, **_):
    """Pictures take seconds to draw, and their sentences stand beside them."""
    file.write("<svg></svg>")


def rendered():
    """The lines of the list, and the places in the source that none came from."""
    with recorded() as recorder, patch.object(FigureCanvasSVG, "print_svg", no_picture):
        lines = [*all_of_reports(), *all_of_runs()]
        for examples in (
            readings,
            typed_readings,
            books,
            copies_of_books,
            writings,
            all_of_commands,
            all_of_labels,
        ):
            with tempfile.TemporaryDirectory() as folder, chdir(folder):
                lines += examples() or ()
    lines += ["", *map(as_options, recorder.listed())]
    lines += ["", "# in Python"]
    lines += [line for line in recorder.listed() if as_options(line) != line]
    return [line.replace(NO_BREAK, " ").rstrip() for line in lines], recorder.missing()


@pytest.fixture(scope="module")
def listed():
    return rendered()


def test_every_sentence_is_as_listed(listed):
    assert listed[0] == LIST.read_text(encoding="utf-8").splitlines()


def test_every_note_and_error_is_in_the_list(listed):
    assert listed[1] == set()


def test_tiles_do_not_contradict_the_answer():
    for name, findings in QUALITIES.items():
        text = str(headline(findings))
        figure = next(
            t.figure for t in key_figures(findings) if t.name.startswith("Expected")
        )
        if figure == "unknown":
            assert "cannot be measured" in text, name
        else:
            assert figure in text, name


if __name__ == "__main__":
    lines, _ = rendered()
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
