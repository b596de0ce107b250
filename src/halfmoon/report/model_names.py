"""Names of the averaged models in plain words, for readers who know no kernels.

The names of `comparison_` say exactly what was computed: "normal scores, walk k=5
restart=0.1 + 0.2 gaussian". Here each is put into a family, and the weights of a family
are added up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from halfmoon.report.findings import Candidate

__all__ = ["ModelFamily", "families", "plain_name"]

MOST = 8  # families in the report
# The first that is found in a name decides. "gaussian" stands last but one, since other
# models add a share of it.
METHODS = (
    ("walk", "Average of the neighbors over all rows (diffusion)"),
    ("averaged", "Smooth curve over neighborhoods of rows (Fredholm kernel)"),
    ("energy", "Smooth curve, steady where rows are dense (Laplacian penalty)"),
    ("laplace", "Curve that may bend sharply (Laplace kernel)"),
    ("gaussian", "Smooth curve (Gaussian kernel)"),
    ("linear", "Straight line (linear)"),
)
COLUMNS = (
    ("normal scores", "by rank"),
    ("standardized", "on one scale"),
    ("unit rows", "rows scaled to one length"),
    ("as they are", "as they are"),
)


@dataclass(frozen=True)
class ModelFamily:
    """Models of one kind.

    Attributes
    ----------
    name : str
        How it learns.
    columns : str
        How it sees the columns.
    unlabeled : bool
        It uses unlabeled rows.
    weight : float
        Its share of the answer.
    models : int
        How many models it stands for.
    """

    name: str
    columns: str
    unlabeled: bool
    weight: float
    models: int


def plain_name(name: str) -> tuple[str, str]:
    """How a model learns, and how it sees the columns.

    Examples
    --------
    >>> plain_name("normal scores, walk k=5 restart=0.1 + 0.2 gaussian")[1]
    'by rank'
    >>> plain_name("standardized by gradient, productlaplace 0.5 + linear, log of y")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Curve that may bend sharply (Laplace kernel) plus a straight line, for the
    logarithm of the target', 'on one scale, weighted by the labels')
    """
    method = next((plain for mark, plain in METHODS if mark in name), name)
    if "+ linear" in name or "columns unpenalized" in name:
        method += " plus a straight line"
    elif "+" in name and "walk" in name:
        method += " plus a smooth curve"
    if name.endswith("log of y"):
        method += ", for the logarithm of the target"
    parts = [plain for mark, plain in COLUMNS if name.startswith(mark)]
    found = re.search(r"(\d+) components", name)
    if found:
        parts.append(f"their {found[1]} main directions")
    if re.search(r" by (gradient|correlation)", name):
        parts.append("weighted by the labels")
    return method, ", ".join(parts)


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
        rows.append(
            ModelFamily(
                "Other models",
                "",
                any(row.unlabeled for row in rest),
                sum(row.weight for row in rest),
                sum(row.models for row in rest),
            )
        )
    return rows
