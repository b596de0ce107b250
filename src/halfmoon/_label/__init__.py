"""Label a table row by row on a page in the browser: ``halfmoon label``.

=======================  =======================================================
`journal`                the file of answers, one line each
`answers`                which answers count; labels and agreement
`labels_from_journal`    find the rows of answers again, and use them as labels
`session_rows`           the rows of the table that a session keeps in memory
`refit`                  fit a model, choose rows to ask for, predict them
`live_accuracy`          the accuracy so far, from random rows
`labeling_progress`      what the page shows next to a row: what more labels would
                         gain, and when to stop
`question_queue`         which row comes next, for each person
`session`                a session: answers in, questions out
`background`             refits and the filled table, in a thread behind the page
`access_guard`           refuse requests that do not come from the page
`server`                 the page over HTTP
`page`                   HTML, style and scripts
=======================  =======================================================

`access_guard` and `server` need ``halfmoon[label]``, the others ``halfmoon[table]``.
"""
