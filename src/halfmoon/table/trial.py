"""A trial of a model that comes from a file: can it predict at all?

A file may hold arrays and numbers that are each of the right kind and still do not fit
together. What prediction needs is checked by a prediction: of rows that have no cell,
which every model can answer.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

from halfmoon.table.errors import TableError

if TYPE_CHECKING:
    from halfmoon.table.model import TableModel

__all__ = ["try_out"]

ROWS = 2


def try_out(model: TableModel) -> None:
    """Raise whatever a model raises that cannot predict; nothing if it can.

    Raises
    ------
    Exception
        Of any kind, but not a `TableError`: that is an answer, made for the user.
    """
    counted = dict(model.unread_)
    columns = {use.name: pa.nulls(ROWS, pa.string()) for use in model.table_.used}
    if not columns:
        raise ValueError("it learned from no column")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = model.predict(pa.table(columns))
        if len(predicted.values) != ROWS:
            raise ValueError("it does not predict a value for each row")
    except TableError:
        return
    finally:
        model.unread_.clear()
        model.unread_.update(counted)
