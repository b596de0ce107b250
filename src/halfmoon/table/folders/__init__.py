"""Folders of tables: one model for all files, one output file for each of them.

==============  ============================================================
`listing`       the files of a folder, and the partitions that they are in
`folder_table`  all of them as one table, to learn from
`one_file`      a file written again, its blanks filled
`outcomes`      what came of a file, kept on disk and added up
`many_files`    a function of many files, some of them at once
`manifest`      how far a run has come, by which a killed one goes on
`whole_folder`  the whole job
==============  ============================================================
"""

from halfmoon.table.folders.folder_table import FolderTable
from halfmoon.table.folders.listing import list_folder
from halfmoon.table.folders.whole_folder import fill_folder, predict_folder

__all__ = ["FolderTable", "fill_folder", "list_folder", "predict_folder"]
