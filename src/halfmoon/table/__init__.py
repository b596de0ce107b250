"""Fill the blank labels of a table: what ``halfmoon fill`` does, for Python.

A run makes two passes over a file (`_runs/`). The first finds the labels and the blanks
and samples rows, from which `TableModel` learns. The second writes every row again with
its blanks filled.

Imports point upwards in this table:

==========================================  =========================================
`_table_errors`, `_parameter_text`          errors and messages
`_run_settings`                             the settings of a run
`_files`                                    formats: open a table, read batches of
                                            rows, write them again
`_cells`                                    what a cell says: numbers, dates,
                                            durations in any style
`_columns`                                  the columns that are learned from: their
                                            kinds, which to use, their numbers
`_labels`                                   the target: blanks, classes or numbers,
                                            what looks odd
`_models`                                   the model of a table, and its predictions
`_runs`                                     the two passes, what came of them, lists
                                            of rows to label
`_fill_table`, `_folders`, `_fill_frame`    whole runs: over a file, a folder of files,
                                            a data frame (`halfmoon.fill`)
==========================================  =========================================

Names are imported when they are first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfmoon.table._files import open_table
    from halfmoon.table._fill_frame import FilledFrame
    from halfmoon.table._fill_table import fill_table, fill_targets, predict_table
    from halfmoon.table._folders import fill_folder, predict_folder
    from halfmoon.table._models.table_model import TableModel
    from halfmoon.table._run_settings import Settings
    from halfmoon.table._runs.second_pass import Filled
    from halfmoon.table._table_errors import TableError

__all__ = [
    "Filled",
    "FilledFrame",
    "Settings",
    "TableError",
    "TableModel",
    "fill_folder",
    "fill_table",
    "fill_targets",
    "open_table",
    "predict_folder",
    "predict_table",
]

_HOMES = {
    "Filled": "_runs.second_pass",
    "FilledFrame": "_fill_frame",
    "Settings": "_run_settings",
    "TableError": "_table_errors",
    "TableModel": "_models.table_model",
    "fill_folder": "_folders",
    "open_table": "_files",
    "predict_folder": "_folders",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'halfmoon.table' has no attribute {name!r}")
    home = import_module(f"halfmoon.table.{_HOMES.get(name, '_fill_table')}")
    value = globals()[name] = getattr(home, name)
    return value
