"""Fill the blank labels of a table: what ``halfmoon fill`` does, for Python.

A run makes two passes over a file. The first (`_first_pass`) finds the labels and the
blanks and samples rows, from which `TableModel` learns. The second (`_second_pass`)
writes every row again with its blanks filled. Formats are in `_files`, folders of files
in `_folders`, data frames in `_fill_frame` (`halfmoon.fill`).

Names are imported when they are first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfmoon.table._files import open_table
    from halfmoon.table._fill_frame import FilledFrame
    from halfmoon.table._fill_table import (
        Filled,
        fill_table,
        fill_targets,
        predict_table,
    )
    from halfmoon.table._folders import fill_folder, predict_folder
    from halfmoon.table._run_settings import Settings
    from halfmoon.table._table_errors import TableError
    from halfmoon.table._table_model import TableModel

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
    "FilledFrame": "_fill_frame",
    "Settings": "_run_settings",
    "TableError": "_table_errors",
    "TableModel": "_table_model",
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
