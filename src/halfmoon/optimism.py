r"""How much worse new rows are met than leave-one-out says, where choices were made.

Candidates are compared, and columns weighed, on the same labels that the answer is then
judged by. Weights chosen without the label that they answer (`selection.cross_fit`)
take most of this away. What is left is made up for as a few parameters too many are:
with n labels, errors are taken to be larger by

.. math:: \sqrt{1 + c/n}, \quad c = 6

c was chosen on tables (`benchmarks/coverage.py` names them) and confirmed on others.
"""

from __future__ import annotations

import math

__all__ = ["choice_factor"]

CHOICE = 6.0


def choice_factor(n: int) -> float:
    """How many times larger errors of new rows are than those of n left-out labels.

    Examples
    --------
    >>> choice_factor(2), round(choice_factor(600), 3)
    (2.0, 1.005)
    """
    return math.sqrt(1 + CHOICE / max(1, n))
