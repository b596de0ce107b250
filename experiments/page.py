"""What a report is made of: words, tables, pictures and verdicts, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["OURS", "VERDICTS", "Claim", "Page", "Picture", "Table"]

VERDICTS = {  # of a claim of the paper, and of one of ours
    "reproduced": "holds",
    "reproduced in part": "holds in part",
    "not reproduced": "does not hold",
    "not testable": "not testable",
}
OURS = "(ours) "


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and whether it holds in our hands.

    Attributes
    ----------
    says : str
        The claim, in our words. One that is ours and not the paper's begins with
        `OURS`.
    verdict : str
        One of `VERDICTS`.
    because : str
        The figures that decide it, from the runs.
    """

    says: str
    verdict: str
    because: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict is {self.verdict!r}; one of {list(VERDICTS)}.")

    @property
    def ours(self) -> bool:
        """Whether the claim goes beyond the paper."""
        return self.says.startswith(OURS)

    @property
    def word(self) -> str:
        """The verdict in a word or two: what is not the paper's is not reproduced."""
        return VERDICTS[self.verdict] if self.ours else self.verdict


@dataclass(frozen=True)
class Table:
    """A caption, a header and rows of cells; `columns` are right of the first."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            [f"{self.caption}\n", *("| " + " | ".join(row) + " |" for row in lines)]
        )


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure, and what it shows."""

    caption: str
    figure: Any

    def save(self, path: Path) -> None:
        """Write a PNG file, and let go of the figure."""
        import matplotlib.pyplot as plt

        path.parent.mkdir(parents=True, exist_ok=True)
        self.figure.savefig(path, dpi=100, bbox_inches="tight", metadata=_NO_STAMP)
        plt.close(self.figure)


_NO_STAMP = {"Software": None}


@dataclass
class Page:
    """What an experiment tells: its parts in order, then its claims."""

    parts: list[str | Table | Picture] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def markdown(self, name: str, pictures: Path) -> str:
        """The page, its pictures saved in the folder `pictures` as `name`-1.png, ..."""
        out, drawn = [], 0
        for part in self.parts:
            if isinstance(part, Table):
                out.append(part.markdown())
            elif isinstance(part, Picture):
                drawn += 1
                path = pictures / f"{name}-{drawn}.png"
                part.save(path)
                out.append(
                    f"![{part.caption}]({pictures.name}/{path.name})\n\n{part.caption}"
                )
            else:
                out.append(part)
        if self.claims:
            rows = [[c.says, f"**{c.word}**", c.because] for c in self.claims]
            out.append(Table("Claims:", ["claim", "verdict", "seen"], rows).markdown())
        return "\n\n".join(out)
