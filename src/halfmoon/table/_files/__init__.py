"""Table files: open one, read it in batches, write it again with new columns.

Rows are never all in memory. A file can be read any number of times. An output appears
whole or not at all.
"""

from halfmoon.table._files.formats import Format
from halfmoon.table._files.opening import open_table
from halfmoon.table._files.table_interface import BATCH_ROWS, Batch, Table, TableOutput
from halfmoon.table._files.writing import new_table, refuse_place, replacing

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
