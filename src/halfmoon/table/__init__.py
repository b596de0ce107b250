"""Fill the blank labels of a table: what ``halfmoon fill`` does, for Python.

==============  ============================================================
`files`         tables in files: read in batches, written again, whole or not
`fill`          the whole job, in two passes
`learning`      its first half: a model of the rows that were kept
`folders`       the same for folders of tables, file by file
`frames`        the same for data frames: `halfmoon.fill`
`scan`          the first pass: labels, blanks, rows to learn from
`sampling`      a sample of a stream of rows
`selection`     columns by the names that the user gave
`columns`       what each column holds
`reading`       cells as numbers, dates, truth values, text
`forms`         how dates and times may be written
`vectors`       columns as numbers: `numbers`, dates, `texts`
`target`        blanks, classes and numbers
`model`         the columns' numbers and Halfmoon on these
`cells`         predictions as cells
`earlier_runs`  columns that an earlier run added
`given_labels`  which rows have a label
`weak_labels`   labels known in part: candidates, and ends of numbers
`weak_given`    which rows have such a label
`weak_model`    a model that learns from them
`second_pass`   every row written again, its blanks filled
`scored_rows`   predictions beside labels that are known
`unseen`        values that a model has not seen
`label_lists`   rows to label as a file, and its way back
`tally`         what predictions add up to
`unsure_rows`   the least sure of them
`row_keys`      equal rows
`next_rows`     rows to label next
`story`         what is told of a run: findings for the report
`record`        the short of it, for JSON and model files
`notes`         what the user should know
`in_python`     the same for those who called from Python
`allowance`     memory of the whole process
`trial`         whether a model from a file can predict
`settings`      what was asked for
`errors`        what can be wrong, and exit codes
==============  ============================================================
"""

from halfmoon.table.errors import TableError
from halfmoon.table.files import new_table, open_table
from halfmoon.table.fill import Filled, fill_table, fill_targets, predict_table
from halfmoon.table.folders import fill_folder, predict_folder
from halfmoon.table.frames import FilledFrame
from halfmoon.table.model import TableModel
from halfmoon.table.predictions import LeftOut, Prediction
from halfmoon.table.record import record_of
from halfmoon.table.settings import Settings
from halfmoon.table.story import findings_of

__all__ = [
    "Filled",
    "FilledFrame",
    "LeftOut",
    "Prediction",
    "Settings",
    "TableError",
    "TableModel",
    "fill_folder",
    "fill_table",
    "fill_targets",
    "findings_of",
    "new_table",
    "open_table",
    "predict_folder",
    "predict_table",
    "record_of",
]
