r"""Correction of leave-one-out errors for the choices that a search made.

A search compares candidates, and weights columns, on the same labels that then measure
its error, so the error is too small. Cross-fitted weights (`_selection.search`)
remove most of this bias. The rest is corrected like a few extra parameters: with n
labels, errors are multiplied by

.. math:: \sqrt{1 + c/n}, \quad c = 6

c was chosen on some tables (`benchmarks/coverage.py` names them) and confirmed on
others.
"""

from __future__ import annotations

import math

__all__ = ["choice_factor"]

EXTRA_PARAMETERS = 6.0  # c


def choice_factor(n: int) -> float:
    """Return the ratio of errors on new rows to leave-one-out errors of n labels.

    Examples
    --------
    >>> choice_factor(2), round(choice_factor(600), 3)
    (2.0, 1.005)
    """
    return math.sqrt(1 + EXTRA_PARAMETERS / max(1, n))
