"""The first pass over a table."""

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._files import open_table
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._runs import first_pass as scanning
from halfmoon.table._runs.first_pass import Reservoir, joined_rows, scan
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
    assert found.given.blanks.counts == {"": 30}
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
        (slice(0, 0), ReadError, "no rows"),
    ],
)
def test_nothing_to_do(tmp_path, kept, error, words):
    rows, _ = two_groups()
    write_csv(tmp_path / "t.csv", [rows[0], *rows[1:][kept]])
    with pytest.raises(error, match=words):
        scanned(tmp_path / "t.csv")


def offered(n, cut, max_rows, max_bytes=10**9, seed=0):
    kept = Reservoir(max_rows, max_bytes, np.random.default_rng(seed))
    for start in range(0, n, cut):
        numbers = np.arange(start, min(n, start + cut))
        rows = pa.record_batch({"x": pa.array(numbers * 10)})
        kept.offer(rows, np.arange(len(numbers)), start)
    return kept


@pytest.mark.parametrize("cut", [1, 7, 100, 1000])  # single, ragged, exact, over
def test_the_sample_does_not_depend_on_batches(cut):
    # Twin: all numbers at once, the rows with the smallest kept in their order.
    keys = np.random.default_rng(0).random(100)
    expected = np.sort(np.argsort(keys)[:12])
    rows, numbers = offered(100, cut, 12).rows()
    np.testing.assert_array_equal(numbers, expected)
    assert rows.column("x").to_pylist() == (10 * expected).tolist()


def test_all_rows_where_they_fit():
    rows, numbers = offered(30, 8, 30).rows()
    np.testing.assert_array_equal(numbers, np.arange(30))
    assert rows.num_rows == 30


def test_every_row_has_the_same_probability():
    counts = np.zeros(40)
    for seed in range(400):
        counts[offered(40, 9, 10, seed=seed).rows()[1]] += 1
    # Binomial(400, 1/4): mean 100, deviation 8.7.
    assert np.abs(counts - 100).max() < 4.5 * 8.7
    assert abs(counts[:20].sum() - counts[20:].sum()) < 4.5 * np.sqrt(8.7**2 * 40)


def test_bytes_limit_the_rows():
    kept = offered(1000, 50, 1000, max_bytes=8 * 100)
    rows, _ = kept.rows()
    assert 50 <= rows.num_rows <= 100
    assert kept.offered == 1000


def test_one_row_of_any_size_is_kept():
    assert offered(10, 3, 5, max_bytes=1).rows()[0].num_rows == 1


def test_parts_with_other_dictionaries_are_joined():
    one, two = (
        pa.table({"c": pa.array(values).dictionary_encode()})
        for values in (["a", "b"], ["c", "a"])
    )
    both = joined_rows([one, two])
    assert both.column("c").to_pylist() == ["a", "b", "c", "a"]
    assert both.take(pa.array([3, 2])).column("c").to_pylist() == ["a", "c"]
