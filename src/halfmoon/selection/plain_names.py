"""Names of candidates in plain words, for readers who know no kernels."""

from __future__ import annotations

import re

__all__ = ["plain_name"]

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
    if ", log of y" in name:
        method += ", for the logarithm of the target"
    parts = [plain for mark, plain in COLUMNS if name.startswith(mark)]
    found = re.search(r"(\d+) components", name)
    if found:
        parts.append(f"their {found[1]} main directions")
    if re.search(r" by (gradient|correlation)", name):
        parts.append("weighted by the labels")
    return method, ", ".join(parts)
