"""The averaged models in families with plain names, for readers who know no kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from halfmoon._report.findings import ComparedModel
from halfmoon._selection.plain_names import plain_name

__all__ = ["ModelFamily", "families", "plain_name"]

MAX_FAMILIES = 8


class ModelFamily(NamedTuple):
    """Models of one kind."""

    name: str  # how they learn
    columns: str  # how they use the columns
    unlabeled: bool | None  # whether they use unlabeled rows; None if only some do
    weight: float  # share of the predictions
    models: int


def families(
    candidates: Iterable[ComparedModel], max_families: int = MAX_FAMILIES
) -> list[ModelFamily]:
    """Group candidates, the heaviest first; the last ones become "Other models"."""
    groups: dict[tuple[str, str, bool], list[float]] = {}
    for each in candidates:
        key = (*plain_name(each.name), each.uses_unlabeled)
        groups.setdefault(key, []).append(each.weight)
    rows = [ModelFamily(*key, sum(w), len(w)) for key, w in groups.items()]
    rows.sort(key=lambda row: (-row.weight, row.name, row.columns))
    if len(rows) <= max_families:
        return rows
    rest = rows[max_families - 1 :]
    uses = {row.unlabeled for row in rest}
    unlabeled = uses.pop() if len(uses) == 1 else None
    weight, models = sum(row.weight for row in rest), sum(row.models for row in rest)
    other = ModelFamily("Other models", "", unlabeled, weight, models)
    return [*rows[: max_families - 1], other]
