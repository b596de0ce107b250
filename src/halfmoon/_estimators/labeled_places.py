"""Where the labeled rows are in the fitted table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from halfmoon._rows import Indices, Rows

__all__ = ["LabeledPlaces"]


class LabeledPlaces(ABC):
    """Base class of the estimators that know which rows of their table are labeled."""

    labeled_: Indices  # row numbers among the rows that the fit used
    _weighted_rows: Indices | None = None  # these; None if the fit used every row
    _n_rows: int | None = None  # in the fitted table, rows of weight 0 included

    @abstractmethod
    def _table(self, X: Any, *, reset: bool) -> Rows:
        """Check rows; `reset` if they are those to fit."""

    @property
    def _labeled_places(self) -> Indices:
        """Row numbers of the labeled rows in the fitted table."""
        if self._weighted_rows is None:
            return self.labeled_
        return self._weighted_rows[self.labeled_]
