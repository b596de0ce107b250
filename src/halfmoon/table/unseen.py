"""Values of categories that a model has not seen where it learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.model import TableModel
from halfmoon.table.reading import as_column

__all__ = ["Unseen"]

SHOWN = 3  # values in a note
LENGTH = 40  # characters of a value in a note


@dataclass
class Unseen:
    """Counts cells with values that a model has not seen.

    Parameters
    ----------
    model : TableModel

    Attributes
    ----------
    counts : dict of str to Counter
        Of each column of categories, how often each such value was met.
    """

    model: TableModel
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        encoders = {
            part.name: part.encoder
            for part in self.model.vectors_.parts
            if hasattr(part, "encoder") and hasattr(part.encoder, "categories_")
        }
        self._uses = [
            (use, set(encoders[use.name].categories_[0]))
            for use in self.model.table_.used
            if use.kind == "category" and use.name in encoders
        ]

    def see(self, rows: Any) -> None:
        """Take a batch of rows, with all their columns, into account."""
        for use, known in self._uses:
            values, _ = use.read(as_column(rows.column(use.name)))
            if known.issuperset(values.cat.categories):
                continue
            for value, n in values.value_counts().items():
                if n and value not in known:
                    self.counts.setdefault(use.name, Counter())[str(value)] += int(n)

    def notes(self) -> Iterator[Note]:
        """That such cells told the model nothing."""
        for name, found in self.counts.items():
            shown = [value for value, _ in found.most_common(SHOWN)]
            examples = ", ".join(
                repr(v if len(v) <= LENGTH else v[: LENGTH - 3] + "...") for v in shown
            )
            cells = found.total()
            yield Note(
                f"{count(cells, 'cell')} in {name!r} {'has' if cells == 1 else 'have'} "
                f"a value that the model has not seen, such as {examples}.",
                "Predictions of these rows are based on the other columns.",
            )
