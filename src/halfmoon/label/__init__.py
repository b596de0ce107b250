"""Label a table row by row, on a page in the browser: ``halfmoon label``.

================  ================================================================
`journal`         the file of answers: one line each, on the disk before it counts
`answers`         what the lines add up to: labels, undone ones, agreement
`matching`        rows of a table found again by their content and position
`label_files`     answers as labels of a table, for ``halfmoon fill --labels``
`kept_rows`       the rows of a table that are asked for and learned from
`learned`         a refit: which rows to ask for, and what the model says of them
`questions`       which row comes next, for each person
`live_accuracy`   how well the model does, from rows drawn at random
`learning_curve`  what more labels would gain
`progress`        all of that in words, for the page
`labeling`        a session: answers in, rows out
`background`      refits behind the page
`downloads`       the filled table and its report
`guard`           who may speak to the page
`server`          the page over HTTP
`page`            HTML, style and scripts
================  ================================================================

`guard` and `server` need ``halfmoon[label]``, the others ``halfmoon[table]``.
"""

from halfmoon.label.answers import Answer, Answers
from halfmoon.label.journal import Journal, read_journal

__all__ = ["Answer", "Answers", "Journal", "read_journal"]
