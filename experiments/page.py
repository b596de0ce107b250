"""What a report is made of: words, tables, pictures and verdicts, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Claim", "Page", "Picture", "Table"]

VERDICTS = ("reproduced", "reproduced in part", "not reproduced", "not testable")


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and whether it holds in our hands.

    Attributes
    ----------
    says : str
        The claim, in our words.
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
            raise ValueError(f"verdict is {self.verdict!r}; one of {VERDICTS}.")


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
        path.parent.mkdir(parents=True, exist_ok=True)
        self.figure.savefig(path, dpi=100, bbox_inches="tight", metadata=_NO_STAMP)


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
            rows = [[c.says, f"**{c.verdict}**", c.because] for c in self.claims]
            out.append(
                Table(
                    "What the paper says:", ["claim", "verdict", "seen"], rows
                ).markdown()
            )
        return "\n\n".join(out)
