"""Folders of tables: one model for all files, and one output file for each.

================  ==========================================================
`folder_listing`  the files of a folder, and the partitions they are in
`folder_table`    all files as one table, to learn from
`one_file`        write one file with its blanks filled
`file_outcomes`   what came of one file, stored on disk and summed up
`folder_lock`     keep other runs out of an output folder
`manifest`        the state of a run, so that a killed run can continue
`whole_folder`    the whole job
================  ==========================================================
"""

from halfmoon.table._folders.folder_listing import list_folder
from halfmoon.table._folders.folder_table import FolderTable
from halfmoon.table._folders.whole_folder import fill_folder, predict_folder

__all__ = ["FolderTable", "fill_folder", "list_folder", "predict_folder"]
