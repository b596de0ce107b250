"""The interface of every output: a table that is written batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import IO, Any

from halfmoon.table._files.formats import Format
from halfmoon.table._files.table_interface import Batch, Table
from halfmoon.table._files.typed_values import Values, as_lists
from halfmoon.table._table_errors import CommandError

__all__ = ["TableOutput"]


class TableOutput(ABC):
    """A table that is written again, with replaced cells and new columns.

    Parameters
    ----------
    stream : binary stream
    like : Table
        The table that the batches come from.
    wanted : Format
        Format of the output.
    types : dict of str to pyarrow.DataType
        Types of new columns, and of columns whose type changes.
    name : str
        Name of the output in messages.
    """

    takes_arrays = False  # whether `_write` takes Arrow arrays as new values
    _appended: list[str] | None = None

    def __init__(
        self,
        stream: IO[bytes],
        like: Table,
        wanted: Format,
        types: Mapping[str, Any],
        name: str,
    ) -> None:
        self._stream = stream
        self._like = like
        self.format = wanted
        self._types = types
        self._name = name

    @property
    def escaped(self) -> int:
        """Number of cells that got an apostrophe, so that they are not formulas."""
        return 0

    def write(
        self,
        batch: Batch,
        replace: Values | None = None,
        append: Values | None = None,
    ) -> None:
        """Write the rows of a batch.

        Parameters
        ----------
        batch : Batch
            Of the table that the output is like.
        replace : dict of str to sequence or pyarrow.Array, optional
            A value for each row of the batch. None leaves a cell unchanged, "" empties
            it.
        append : dict of str to sequence, optional
            New columns, the same for each batch. None gives an empty cell.
        """
        replace, append = replace or {}, append or {}
        self._check(batch, replace, append)
        if not self.takes_arrays:
            replace, append = as_lists(replace), as_lists(append)
        self._write(batch, replace, append)

    def _check(self, batch: Batch, replace: Values, append: Values) -> None:
        names = self._like.columns
        for column in replace:
            if column not in names:
                raise CommandError(f"{self._like.name} has no column {column!r}.")
        for column in append:
            if column in names:
                raise CommandError(
                    f"{self._like.name} already has a column {column!r}. Rename it, or "
                    f"leave it out."
                )
        if self._appended is None:
            self._appended = list(append)
        elif self._appended != list(append):
            raise ValueError(
                f"Columns {list(append)} are appended to this batch, but "
                f"{self._appended} to the first one. Append the same to each batch."
            )
        for column, values in [*replace.items(), *append.items()]:
            if len(values) != len(batch):
                raise ValueError(
                    f"{len(values)} values for {column!r}, but the batch has "
                    f"{len(batch)} rows. Give one value for each row."
                )

    @abstractmethod
    def _write(self, batch: Batch, replace: Values, append: Values) -> None:
        """Write the rows of a batch, which were checked."""

    @abstractmethod
    def finish(self) -> None:
        """Write the rest of the output."""

    def abandon(self) -> None:  # noqa: B027
        """Free the resources of an output that will not exist."""
