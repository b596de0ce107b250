"""What is to be changed in a copy of a sheet: cells replaced and columns added."""

from __future__ import annotations

from dataclasses import dataclass, field

from halfmoon.table.files.workbook_cells import Value

__all__ = ["SheetEdits"]

Placed = list[tuple[int, Value]]  # column, from 0, and what goes there


@dataclass
class SheetEdits:
    """New cells of a sheet; rows and columns count from 0.

    Attributes
    ----------
    header : int
        Row of the header.
    rows : list of int
        Rows of the table, in ascending order.
    width : int
        The first column that is free in every row.
    replaced : dict of int to list
        By column: a value for each row of the table; None leaves the cell,
        and an empty text empties it.
    appended : dict of str to list
        By name: a value for each row of the table; None for an empty cell.
    """

    header: int
    rows: list[int]
    width: int
    replaced: dict[int, list[Value]] = field(default_factory=dict)
    appended: dict[str, list[Value]] = field(default_factory=dict)
    done: int = 0  # rows that the copy has come to

    @property
    def last_row(self) -> int:
        """The last row that is changed."""
        return self.rows[-1] if self.rows else self.header

    def of(self, row: int) -> tuple[Placed, Placed] | None:
        """Cells to replace and to append in a row; None if nothing changes there.

        Rows must be asked for in ascending order, each once.
        """
        if row == self.header:
            return [], list(enumerate(self.appended, start=self.width))
        if self.done == len(self.rows) or self.rows[self.done] != row:
            return None
        i = self.done
        self.done += 1
        replaced = [
            (column, None if values[i] == "" else values[i])
            for column, values in sorted(self.replaced.items())
            if values[i] is not None
        ]
        appended = [
            (column, values[i])
            for column, values in enumerate(self.appended.values(), start=self.width)
        ]
        return replaced, appended
