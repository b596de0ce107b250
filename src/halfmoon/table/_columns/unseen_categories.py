"""Categories that a model did not see when it learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from halfmoon._report.findings import Note
from halfmoon._report.sentences import count
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._columns.column_vectors import CategoryEncoder
from halfmoon.table._labels.target_labels import MAX_NOTE_VALUES, quoted
from halfmoon.table._models.table_model import TableModel

__all__ = ["Unseen"]


@dataclass
class Unseen:
    """Counts cells with categories that a model has not seen."""

    model: TableModel
    # Cells with each new value, by column.
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen = {
            encoder.name: encoder
            for encoder in self.model.encoder_.encoders
            if isinstance(encoder, CategoryEncoder)
        }
        self._uses = [
            (use, seen[use.name]) for use in self.model.table_.used if use.name in seen
        ]

    def see(self, rows: Any) -> None:
        """Consider a batch of rows with all columns."""
        for use, encoder in self._uses:
            values, _ = use.read(as_column(rows.column(use.name)))
            if all(map(encoder.has_seen, values.cat.categories)):
                continue
            for value, n in values.value_counts().items():
                if n and not encoder.has_seen(value):
                    self.counts.setdefault(use.name, Counter())[str(value)] += int(n)

    def notes(self) -> Iterator[Note]:
        """Note the new values."""
        for name, found in self.counts.items():
            examples = ", ".join(
                quoted(value) for value, _ in found.most_common(MAX_NOTE_VALUES)
            )
            cells = found.total()
            yield Note(
                f"{count(cells, 'cell')} in {name!r} {'has' if cells == 1 else 'have'} "
                f"a value that the model has not seen, such as {examples}.",
                "Predictions of these rows are based on the other columns.",
            )
