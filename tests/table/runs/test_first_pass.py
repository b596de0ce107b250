"""The first pass over a table."""

import numpy as np
import pytest

from halfmoon.table._files import open_table
from halfmoon.table._labels.blank_labels import Blanks
from halfmoon.table._labels.given_labels import GivenLabels
from halfmoon.table._runs import first_pass as scanning
from halfmoon.table._runs.first_pass import scan
from halfmoon.table._table_errors import LabelError, ReadError
from small_tables import two_groups, write_csv


def scanned(path, **options):
    with open_table(path) as table:
        options = {"max_bytes": 10**9, "seed": 0} | options
        return scan(table, GivenLabels("side", Blanks()), ["x", "note"], **options)


def test_all_rows_of_a_small_table_in_order(tmp_path):
    rows, truth = two_groups()
    write_csv(tmp_path / "t.csv", rows)
    found = scanned(tmp_path / "t.csv")
    assert (found.n_rows, found.n_labeled, found.n_blank) == (40, 10, 30)
    assert found.rows.column_names == ["x", "note"]
    assert found.rows.column("x").to_pylist() == [row[0] for row in rows[1:]]
    assert found.labels == [*truth[:10], *[None] * 30]
    np.testing.assert_array_equal(found.numbers, np.arange(40))
    assert found.blanks.counts == {"": 30}
    assert (found.learned_labels, found.learned_unlabeled) == (10, 30)


def test_samples_keep_labels_with_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "MAX_LABELED", 6)
    monkeypatch.setattr(scanning, "MAX_UNLABELED", 9)
    rows, truth = two_groups()
    write_csv(tmp_path / "t.csv", rows)
    found = scanned(tmp_path / "t.csv")
    assert (found.n_rows, found.n_labeled) == (40, 10)
    assert (found.learned_labels, found.learned_unlabeled) == (6, 9)
    assert (np.diff(found.numbers) > 0).all()
    for i, number in enumerate(found.numbers):
        assert found.rows.column("x")[i].as_py() == rows[number + 1][0]
        assert found.labels[i] == (truth[number] if number < 10 else None)


def test_progress_reaches_the_end(tmp_path):
    write_csv(tmp_path / "t.csv", two_groups()[0])
    told = []
    scanned(tmp_path / "t.csv", progress=lambda done, n: told.append(done / n))
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    ("kept", "error", "words"),
    [
        (slice(0, 10), LabelError, "Every row of 'side' has a label"),
        (slice(10, 40), LabelError, "No row of 'side' has a label"),
        (slice(0, 0), ReadError, "no rows"),
    ],
)
def test_nothing_to_do(tmp_path, kept, error, words):
    rows, _ = two_groups()
    write_csv(tmp_path / "t.csv", [rows[0], *rows[1:][kept]])
    with pytest.raises(error, match=words):
        scanned(tmp_path / "t.csv")
