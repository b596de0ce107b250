"""RESULTS.md: every experiment's page, and all verdicts on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.experiment import PAPERS, Experiment, Run, Size
from experiments.page import VERDICTS, Page, Table
from experiments.store import Store, key

__all__ = ["write_report"]

TITLES = {
    "fredholm": "Learning with Fredholm Kernels (Que, Belkin, Wang, 2014)",
    "laplacian": "Overcoming the curse of dimensionality with Laplacian "
    "regularization (Cabannes et al., 2021)",
    "conditional": "Conditional KRR (Takhanov, Assylbekov, 2026)",
}

HEAD = """# Results

Every table and figure of the three papers, made by `python -m experiments run all`
({size}). This page is written by `python -m experiments report` from the JSON
files in `{results}`; nothing on it is typed in. What was chosen where a paper is
silent stands in each section, which is the docstring of its script.

*Printed* is the number in the paper. *Tuned* is ours with the settings that do best on
the test rows, as the paper chose them. *Honest* is ours with settings chosen by
leave-one-out on the labeled rows alone. *Constant* always answers the larger class.
S0, S1 and S2 stand for the papers, in the order below. Claims marked (ours) are not the
paper's: they go beyond it, or test what it leaves out.

The cells together took {minutes:.0f} minutes, on a machine that did other work too.
"""


def write_report(
    experiments: Sequence[Experiment], size: Size, store: Store, path: Path
) -> None:
    """Write the page `path`, and its pictures into the folder `figures` beside it."""
    import matplotlib

    matplotlib.use("Agg")
    pictures = path.parent / "figures"
    sections: list[str] = []
    verdicts: list[list[str]] = []
    counts = {paper: Counter[str]() for paper in PAPERS}
    seconds = 0.0
    for paper in PAPERS:
        sections.append(f"## {TITLES[paper]}")
        for experiment in (e for e in experiments if e.paper == paper):
            runs = _runs(experiment, size, store)
            head = f"### {experiment.name}: {experiment.title}"
            if not runs:
                sections += [head, "*Not run yet.*"]
                continue
            if experiment.runs_of is None:
                seconds += sum(run.seconds for run in runs)
            page: Page = experiment.report(runs)
            sections += [head, _setting(experiment, runs)]
            sections.append(page.markdown(experiment.name, pictures))
            for claim in page.claims:
                verdicts.append([_link(experiment), claim.says, claim.word])
                counts[paper][claim.word] += 1
    made = "a small version" if size.quick else "at full size"
    top = HEAD.format(size=made, results=store.folder.name, minutes=seconds / 60)
    words = [
        word
        for word in dict.fromkeys([*VERDICTS, *VERDICTS.values()])
        if any(count[word] for count in counts.values())
    ]
    tally = Table(
        "## Verdicts",
        ["paper", *words],
        [[TITLES[p], *(str(c[word]) for word in words)] for p, c in counts.items()],
    )
    summary = Table("", ["experiment", "claim", "verdict"], verdicts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n\n".join([top, tally.markdown(), summary.markdown(), *sections]) + "\n"
    )


def _runs(experiment: Experiment, size: Size, store: Store) -> list[Run]:
    """The runs of this size, in the order of the cells."""
    kept = store.read(experiment.source)
    wanted = [key(cell) for cell in experiment.cells(size)]
    return [kept[at] for at in wanted if at in kept]


def _setting(experiment: Experiment, runs: Sequence) -> str:
    seconds = sum(run.seconds for run in runs)
    made = f"*{len(runs)} cells, {seconds:.0f} s."
    if experiment.runs_of is not None:
        made = f"*From the runs of {experiment.runs_of}."
    return f"{experiment.setting.strip()}\n\n{made}*"


def _link(experiment: Experiment) -> str:
    anchor = f"{experiment.name}: {experiment.title}".lower()
    kept = "".join(c for c in anchor if c.isalnum() or c in " -_")
    return f"[{experiment.name}](#{kept.replace(' ', '-')})"
