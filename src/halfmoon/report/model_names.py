"""Names of the averaged models in plain words, for readers who know no kernels.

The names of `comparison_` say exactly what was computed: "normal scores, walk k=5
restart=0.1 + 0.2 gaussian". Here each is put into a family
(`halfmoon.selection.plain_names`), and the weights of a family are added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from halfmoon.report.findings import Candidate
from halfmoon.selection.plain_names import plain_name

__all__ = ["ModelFamily", "families", "plain_name"]

MOST = 8  # families in the report


@dataclass(frozen=True)
class ModelFamily:
    """Models of one kind.

    Attributes
    ----------
    name : str
        How it learns.
    columns : str
        How it sees the columns.
    unlabeled : bool or None
        It uses unlabeled rows; None where only some of its models do.
    weight : float
        Its share of the answer.
    models : int
        How many models it stands for.
    """

    name: str
    columns: str
    unlabeled: bool | None
    weight: float
    models: int


def families(candidates: Iterable[Candidate], most: int = MOST) -> list[ModelFamily]:
    """Candidates by family, the heaviest first; beyond `most` as "other models"."""
    found: dict[tuple[str, str, bool], tuple[float, int]] = {}
    for each in candidates:
        key = (*plain_name(each.name), each.unlabeled)
        weight, models = found.get(key, (0.0, 0))
        found[key] = weight + each.weight, models + 1
    rows = [ModelFamily(*key, *value) for key, value in found.items()]
    rows.sort(key=lambda row: (-row.weight, row.name, row.columns))
    if len(rows) > most:
        rest = rows[most - 1 :]
        rows = rows[: most - 1]
        uses = {row.unlabeled for row in rest}
        rows.append(
            ModelFamily(
                "Other models",
                "",
                uses.pop() if len(uses) == 1 else None,
                sum(row.weight for row in rest),
                sum(row.models for row in rest),
            )
        )
    return rows
