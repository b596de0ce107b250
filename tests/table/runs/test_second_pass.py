"""The second pass: batches are predicted at once, and written in their order."""

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.blocks import alone
from halfmoon.table import TableModel, open_table
from halfmoon.table._files import new_table
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._runs import second_pass
from halfmoon.table._runs.scored_rows import ScoredRows, Unseen
from halfmoon.table._runs.second_pass import Job, write_filled

ROWS, BATCH = 3_000, 100


@pytest.fixture(scope="module")
def model():
    x = np.linspace(-1, 1, 60)
    rows = pa.table({"x": x, "color": ["red", "blue"] * 30})
    return TableModel("y", "numbers", budget=1e-9).fit(rows, np.sin(3 * x).tolist())


@pytest.fixture
def source(tmp_path):
    """A table with unreadable cells in `x`, unseen ones in `color`, and labels."""
    rng, lines = np.random.default_rng(0), ["x,color,y\n"]
    for i, x in enumerate(rng.uniform(-1, 1, ROWS)):
        cell = "n/k" if i % 97 == 0 else f"{x:.3f}"
        color = ("red", "blue", "green")[i % 3]
        lines.append(f"{cell},{color},{'0.5' if i % 50 == 0 else ''}\n")
    (tmp_path / "in.csv").write_text("".join(lines))
    return tmp_path / "in.csv"


def written(model, source, out):
    """Return the output, and everything that was counted."""
    given, scored = GivenLabels("y", Blanks(())), ScoredRows(model)
    job = Job(model, given, scored=scored, unseen=Unseen(model))
    with (
        open_table(source, batch_rows=BATCH) as table,
        new_table(out, table, overwrite=True) as output,
    ):
        write_filled(table, output, [job])
    tally = job.tally
    counts = (tally.n, tally.total, tally.unsure.numbers.tolist(), given.blanks.counts)
    compared = (
        scored.new,
        scored.learned,
        job.unseen.counts,
        dict(model.columns_.unread),
    )
    return out.read_bytes(), counts, compared


def test_threads_change_neither_the_output_nor_the_counts(
    model, source, tmp_path, monkeypatch
):
    found = []
    for workers in (1, 2, 4):
        monkeypatch.setattr(second_pass, "free_workers", lambda n=workers: n)
        found.append(written(model, source, tmp_path / "out.csv"))
    assert found[0] == found[1] == found[2]
    assert found[0][2][3] == {"x": 31}  # of rows to fill, and of labels compared
    assert found[0][0].count(b"predicted") == ROWS - ROWS // 50


def test_batches_are_predicted_at_once(model, source, tmp_path, monkeypatch):
    monkeypatch.setattr(second_pass, "free_workers", lambda: 2)
    both, predict = threading.Barrier(2), Job.predict

    def waiting(self, asked):
        both.wait(timeout=20)  # for the other thread
        return predict(self, asked)

    monkeypatch.setattr(Job, "predict", waiting)
    written(model, source, tmp_path / "out.csv")


@pytest.mark.parametrize("why", ["many columns", "in a worker"])
def test_one_batch_at_a_time(model, source, tmp_path, monkeypatch, why):
    threads = set()
    predict = Job.predict

    def noting(self, asked):
        threads.add(threading.current_thread())
        return predict(self, asked)

    monkeypatch.setattr(Job, "predict", noting)
    if why == "many columns":
        monkeypatch.setattr(second_pass, "MAX_CELLS_AHEAD", 1_000)
        written(model, source, tmp_path / "out.csv")
    else:
        with alone():
            written(model, source, tmp_path / "out.csv")
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("where", ["predicting", "writing"])
def test_an_error_stops_all_threads(model, source, tmp_path, monkeypatch, where):
    monkeypatch.setattr(second_pass, "free_workers", lambda: 2)
    before, calls = threading.active_count(), []

    def failing(*_, **__):
        calls.append(where)
        raise OSError("no space left")

    if where == "predicting":
        monkeypatch.setattr(Job, "predict", failing)
    else:
        monkeypatch.setattr(second_pass, "_with_predictions", failing)
    with pytest.raises(OSError, match="no space left"):
        written(model, source, tmp_path / "out.csv")
    assert len(calls) <= 4
    end = time.monotonic() + 10  # a batch that is being predicted comes to its end
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
    assert not (tmp_path / "out.csv").exists()
