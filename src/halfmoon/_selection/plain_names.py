"""Candidate names in plain words, for readers who do not know kernels."""

from __future__ import annotations

import re

__all__ = ["plain_name"]

STEADY = "steady where rows are dense"
# The first mark found in a name decides. Compositions come first, "gaussian" late,
# because other models add a share of it.
METHODS = (
    ("composed walk", f"Average of the neighbors, {STEADY} (diffusion and penalty)"),
    (
        "composed averaged",
        f"Smooth curve over neighborhoods, {STEADY} (Fredholm kernel)",
    ),
    ("walk", "Average of the neighbors over all rows (diffusion)"),
    ("averaged", "Smooth curve over neighborhoods of rows (Fredholm kernel)"),
    ("energy", f"Smooth curve, {STEADY} (Laplacian penalty)"),
    ("additive", "Sum of one curve for each column (additive kernel)"),
    ("laplace", "Curve that may bend sharply (Laplace kernel)"),
    ("gaussian", "Smooth curve (Gaussian kernel)"),
    ("linear", "Straight line (linear)"),
    ("constant", "The same prediction for all rows (constant)"),
)
COLUMNS = (
    ("normal scores", "by rank"),
    ("standardized", "on one scale"),
    ("unit rows", "rows scaled to one length"),
    ("as they are", "as they are"),
)


def plain_name(name: str) -> tuple[str, str]:
    """Return how a model learns and how it sees the columns.

    Examples
    --------
    >>> plain_name("normal scores, walk k=5 restart=0.1 + 0.2 gaussian")[1]
    'by rank'
    >>> plain_name("standardized by gradient, productlaplace 0.5 + linear, log of y")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Curve that may bend sharply (Laplace kernel) plus a straight line, for the
    logarithm of the target', 'on one scale, weighted by the labels')
    >>> plain_name("standardized, walk k=5 restart=0.01, no constant")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Average of the neighbors over all rows (diffusion), without a constant',
    'on one scale')
    >>> plain_name("50 components, composed walk + energy, columns unpenalized")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Average of the neighbors, steady where rows are dense (diffusion and penalty)
    plus a straight line', 'their 50 main directions')
    >>> plain_name("constant")
    ('The same prediction for all rows (constant)', '')
    """
    method = next((plain for mark, plain in METHODS if mark in name), name)
    if "+ linear" in name or "columns unpenalized" in name:
        method += " plus a straight line"
    elif ("walk" in name or "additive" in name) and "gaussian" in name:
        method += " plus a smooth curve"
    elif "additive" in name and "laplace" in name:
        method += " plus a curve that may bend sharply"
    if ", no constant" in name:
        method += ", without a constant"
    if ", log of y" in name:
        method += ", for the logarithm of the target"
    parts = [plain for mark, plain in COLUMNS if name.startswith(mark)]
    found = re.search(r"(\d+) components", name)
    if found:
        parts.append(f"their {found[1]} main directions")
    if re.search(r" by (gradient|correlation)", name):
        parts.append("weighted by the labels")
    return method, ", ".join(parts)
