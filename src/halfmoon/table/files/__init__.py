"""Table files: open one, walk through it in batches, write it again with new columns.

Rows are never all in memory. A file is walked through as often as needed, and what is
written appears at its place whole or not at all.
"""

from halfmoon.table.files.atomic import refuse_place, replacing
from halfmoon.table.files.batch import BATCH_ROWS, Batch, Table
from halfmoon.table.files.format import Format
from halfmoon.table.files.opening import open_table
from halfmoon.table.files.writing import TableOutput, new_table

__all__ = [
    "BATCH_ROWS",
    "Batch",
    "Format",
    "Table",
    "TableOutput",
    "new_table",
    "open_table",
    "refuse_place",
    "replacing",
]
