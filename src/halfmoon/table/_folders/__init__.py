"""Folders of tables: one model for all files, and one output file for each.

================  ==========================================================
`folder_table`    the files of a folder, and all of them as one table
`one_file`        write one file with its blanks filled; what came of it
`manifest`        the state of a run, so that a killed run can continue
`whole_folder`    the whole job
================  ==========================================================
"""

from halfmoon.table._folders.folder_table import FolderTable, list_folder
from halfmoon.table._folders.whole_folder import fill_folder, predict_folder

__all__ = ["FolderTable", "fill_folder", "list_folder", "predict_folder"]
