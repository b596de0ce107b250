"""Label a table row by row, on a page in the browser: ``halfmoon label``.

=============  ===============================================================
`journal`      the file of answers: one line each, on the disk before it counts
`answers`      what the lines add up to: labels, undone ones, agreement
`matching`     rows of a table found again by their content and position
`label_files`  answers as labels of a table, for ``halfmoon fill --labels``
=============  ===============================================================

Nothing here needs more than ``halfmoon[table]`` but `server`, which needs
``halfmoon[label]``.
"""

from halfmoon.label.answers import Answer, Answers
from halfmoon.label.journal import Journal, read_journal

__all__ = ["Answer", "Answers", "Journal", "read_journal"]
