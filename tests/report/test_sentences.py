"""Every sentence on the quality of a run, in every situation, word by word.

After a change of words: ``python -m report.test_sentences`` in the folder of the tests
writes the list anew; read it as someone would who knows no statistics.
"""

from dataclasses import replace
from pathlib import Path

from halfmoon.report import ShownRow, answer, help_given, verdict
from halfmoon.report.picks import SHOWN
from halfmoon.report.tiles import tiles
from halfmoon.report.wording import rare_classes, suspects
from report.situations import HELP, QUALITIES

LIST = Path(__file__).with_name("sentences.txt")


def sentences():
    """All situations, each with what the summary says and what the tiles show."""
    for name, findings in QUALITIES.items():
        yield f"# {name}"
        yield str(answer(findings))
        yield str(verdict(findings))
        yield from rare_classes(findings)
        yield from (f"[{t.name}: {t.figure}] {t.note}" for t in tiles(findings)[:-1])
        yield ""
    findings = QUALITIES["all recovered"]
    for name, helped in HELP.items():
        yield f"# unlabeled rows: {name}"
        yield help_given(helped)
        tile = tiles(replace(findings, helped=helped))[-1]
        yield f"[{tile.name}: {tile.figure}] {tile.note}"
        yield ""
    yield "# labels that look wrong"
    for n, of_labels in ((1, 18), (3, 18), (31, 18), (1, 500), (3, 500)):
        rows = (ShownRow(2, (), "A", given="B"),) * min(n, SHOWN)
        yield suspects(
            replace(findings, suspects=rows, n_suspects=n, labeled=of_labels)
        )


def listed():
    return [line.replace("\u00a0", " ") for line in sentences()]


def test_every_sentence_is_as_listed():
    assert listed() == LIST.read_text(encoding="utf-8").splitlines()


def test_tiles_do_not_contradict_the_answer():
    for name, findings in QUALITIES.items():
        text = str(answer(findings))
        figure = next(
            t.figure for t in tiles(findings) if t.name.startswith("Expected")
        )
        if figure == "unknown":
            assert "cannot be measured" in text, name
        else:
            assert figure in text, name


if __name__ == "__main__":
    LIST.write_text("\n".join(listed()) + "\n", encoding="utf-8")
