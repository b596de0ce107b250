"""What more labels would gain: the forecast of the learning curve, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfmoon.table.model import TableModel

__all__ = ["MORE", "Forecast", "forecast"]

MORE = 50  # labels that the forecast is for
LITTLE = 0.01  # share of the rows, or of the error: what is less is not worth them


@dataclass(frozen=True)
class Forecast:
    """What `MORE` labels would gain.

    Attributes
    ----------
    gain : float
        Of classes: the share of rows that would become right. Of numbers: the share by
        which the error would become smaller.
    sentence : str
    """

    gain: float
    sentence: str

    @property
    def is_little(self) -> bool:
        """Whether it is not worth the labels."""
        return self.gain < LITTLE


def forecast(model: TableModel, X: Any, labels: Sequence[Any]) -> Forecast | None:
    """The gain of more labels; None where it cannot be told.

    Parameters
    ----------
    model : TableModel
        Fitted.
    X : array of shape (n, d)
        Its rows.
    labels : sequence
        None where there is none.
    """
    return None
