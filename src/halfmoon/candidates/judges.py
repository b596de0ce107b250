"""How candidates are judged: for numbers by squared error, for classes by log loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from halfmoon.candidates.blend import Tried, posterior_weights, stacked_weights
from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.losses import log_losses, scores_by_class, squared_losses
from halfmoon.candidates.target import Logarithm
from halfmoon.rows import Array

__all__ = ["ForClasses", "ForNumbers", "Judge"]

LOG_LABELS = 500  # from which on the logarithm of targets is not tried
ROOM = 0.25  # beyond the labels, beside their range, that an answer may go


class Judge(Protocol):
    """What is to be predicted well."""

    #: Standard errors by which unlabeled rows must help.
    safety: float

    #: Of a row, in the graphs that are tried.
    neighbors: tuple[int, ...]

    def on(self, data: Labeled) -> Judge:
        """The same judge for other labeled rows."""

    def scales(self, data: Labeled) -> list[Labeled]:
        """The labeled rows on each scale of the targets that is to be tried."""

    def losses(self, values: Array, data: Labeled) -> Array:
        """Losses at each labeled row, (e, l), of values on the user's scale."""

    def weights(self, entries: Sequence[Tried], data: Labeled) -> Array:
        """Weights of entries in an average, shape (e,)."""

    def limits(self, data: Labeled) -> tuple[Array, Array] | None:
        """Values that an answer must not leave."""


class ForNumbers:
    """Squared error; positive targets are tried on the scale of their logarithm too.

    Unlabeled rows seldom tell of numbers, so less is tried with them than for classes,
    and they must help by more.
    """

    safety: float = 2.0
    neighbors: tuple[int, ...] = (10,)

    def __init__(self, data: Labeled, *, limited: bool = True) -> None:
        self.y = data.y
        self.limited = limited

    def on(self, data: Labeled) -> ForNumbers:
        """The same judge for other labeled rows."""
        return ForNumbers(data, limited=self.limited)

    def scales(self, data: Labeled) -> list[Labeled]:
        """The targets as they are, and their logarithms."""
        logarithm = Logarithm.of(data.y)
        if logarithm is None or len(data.y) >= LOG_LABELS:
            return [data]
        return [data, replace(data, y=logarithm.forward(data.y), target=logarithm)]

    def losses(self, values: Array, data: Labeled) -> Array:
        """Squared errors."""
        return squared_losses(values, self.y)

    def weights(self, entries: Sequence[Tried], data: Labeled) -> Array:
        """Those of least squared error."""
        return stacked_weights(entries, self.y, data.w)

    def limits(self, data: Labeled) -> tuple[Array, Array] | None:
        """The range of the labels, and a quarter of it on either side."""
        if not self.limited:
            return None
        low, high = data.y.min(axis=0), data.y.max(axis=0)
        return low - ROOM * (high - low), high + ROOM * (high - low)


class ForClasses:
    """Log loss at the best temperature."""

    safety: float = 1.0
    neighbors: tuple[int, ...] = (5, 10)

    def on(self, data: Labeled) -> ForClasses:
        """Itself."""
        return self

    def scales(self, data: Labeled) -> list[Labeled]:
        """The targets as they are."""
        return [data]

    def losses(self, values: Array, data: Labeled) -> Array:
        """Log losses."""
        codes = scores_by_class(data.y).argmax(axis=-1)
        return log_losses(scores_by_class(values), codes, data.w)

    def weights(self, entries: Sequence[Tried], data: Labeled) -> Array:
        """Those of the entries' posterior."""
        return posterior_weights(entries, data.w)

    def limits(self, data: Labeled) -> None:
        """None: scores go where they will."""
        return
