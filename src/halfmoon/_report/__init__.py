"""The report of `halfmoon fill`, as one page of HTML.

`findings` holds the results of a run as plain data; `report_page` turns them into the
page. Other files compute parts of the findings: scores with intervals, tables of
errors, rows to check, and the map of the rows.
"""
