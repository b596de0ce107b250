"""The memory limit of the process."""

import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table import TableModel
from halfmoon.table._runs.run_costs import (
    BATCH_BYTES,
    MIN_FIT_BYTES,
    MemoryBudget,
    TimeForecast,
    peak_bytes,
    resident_bytes,
)
from halfmoon.table._table_errors import CommandError, MemoryLimitError


def test_memory_in_use_counts_first():
    shared = MemoryBudget.within("2GB", taken=500_000_000)
    rest = 1_500_000_000 - BATCH_BYTES
    assert shared.learning == int(0.6 * rest)
    assert shared.rows == int(0.05 * rest)


def test_too_little_memory_suggests_enough():
    with pytest.raises(MemoryLimitError) as error:
        MemoryBudget.within("300MB", taken=250_000_000)
    text = str(error.value)
    assert "300 MB of memory is too little" in text
    enough = text.split("`memory='")[1].split("'")[0]
    shared = MemoryBudget.within(enough, taken=250_000_000)
    assert shared.learning >= 0.6 * MIN_FIT_BYTES


def test_too_little_memory_for_the_work_alone():
    with pytest.raises(MemoryLimitError) as error:
        MemoryBudget.within("100MB", taken=0)
    assert "libraries" not in str(error.value)
    assert str(error.value).endswith("Allow more: `memory='350MB'`.")


def test_not_an_amount_of_memory():
    with pytest.raises(CommandError, match="'lots' is not an amount"):
        MemoryBudget.within("lots")


def test_memory_of_this_process():
    assert 10_000_000 < resident_bytes() <= peak_bytes() + 10_000_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="others do not tell")
def test_the_peak_is_that_of_this_program_alone():
    """A process begins as a copy of the one that starts it, here of 400 MB more."""
    held = np.ones(50_000_000)
    code = (
        "from halfmoon.table._runs.run_costs import peak_bytes, resident_bytes\n"
        "now = resident_bytes()\n"  # first: reading files takes memory
        "print(peak_bytes() - now)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert 0 <= int(found.stdout) < held.nbytes / 2


class Slow:
    """A model that takes a millisecond for each row."""

    def predict(self, rows):
        time.sleep(1e-3 * rows.num_rows)


def scanned(n, kept=20, seconds=0.0):
    rows = pa.table({"x": range(kept)})
    return SimpleNamespace(n_rows=n, n_ignored=0, rows=rows, seconds=seconds)


def test_the_rate_of_the_probe_holds_for_all_rows():
    forecast = TimeForecast.of([Slow()], scanned(5_000, seconds=3.0))
    assert 2 * 3.0 + 5.0 <= forecast.seconds < 2 * 3.0 + 10.0


def test_the_targets_add_up():
    one = TimeForecast.of([Slow()], scanned(5_000)).seconds
    three = TimeForecast.of([Slow(), Slow(), Slow()], scanned(5_000)).seconds
    assert three == pytest.approx(3 * one, rel=0.5)


def test_few_rows_are_predicted_for_the_forecast():
    asked = []
    model = SimpleNamespace(predict=lambda rows: asked.append(rows.num_rows))
    TimeForecast.of([model], scanned(10**9, kept=10_000))
    assert set(asked) == {500, 8192}
    slow = SimpleNamespace(
        predict=lambda rows: (asked.append(-rows.num_rows), time.sleep(0.11))
    )
    TimeForecast.of([slow], scanned(10**9, kept=10_000))
    assert min(asked) == -500  # a slow model predicts no more


def test_files_at_once_and_files_that_are_done():
    one = TimeForecast.of([Slow()], scanned(5_000, seconds=3.0))
    some = TimeForecast.of([Slow()], scanned(5_000, seconds=3.0), 4, share=0.5)
    assert (one.rows, some.rows) == (5_000, 2_500)
    assert some.seconds == pytest.approx(one.seconds / 8, rel=0.3)


def test_a_table_that_was_learned_from_as_a_whole_has_no_forecast():
    assert TimeForecast.of([Slow()], scanned(20)).seconds == 0.0


def test_only_a_long_run_is_announced_and_noted():
    said = []
    TimeForecast(10_000_000, 222.0).tell(said.append)
    TimeForecast(1_000, 59.0).tell(said.append)
    assert said == ["About 4 minutes: 10,000,000 rows at 45,000 a second."]
    begun = time.monotonic() - 299.0
    (note,) = TimeForecast(10_000_000, 222.0, begun).notes()
    assert str(note).startswith(
        "Filling was expected to take 4 minutes and took 5 minutes."
    )
    assert not list(TimeForecast(1_000, 59.0).notes())


def test_the_work_is_named():
    work = {"operations": 7.5e11, "bytes_moved": 2.5e9}
    forecast = TimeForecast(10_000_000, 222.0, time.monotonic() - 222.0, **work)
    said = []
    forecast.tell(said.append)
    (note,) = forecast.notes()
    assert said[0].endswith(" a second. That is 7.5e+11 operations, 2.5 GB moved.")
    assert " took 4 minutes. That was 7.5e+11 operations, 2.5 GB moved." in str(note)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [30, 600])  # an average of all, and of local fits
def test_operations_are_counted_for_each_row_and_label(labels):
    x = np.linspace(-1, 1, 1_000)
    y = [float(v) if i < labels else None for i, v in enumerate(np.sin(3 * x))]
    rows = pa.table({"x": x, "z": np.cos(40 * x)})
    model = TableModel("y", "numbers", budget=1e-9).fit(rows, y)
    scan = scanned(10_000, kept=1_000)
    scan.rows = rows
    forecast = TimeForecast.of([model, model], scan, share=0.5, size=10**6)
    members = model.estimator_.solution_.members
    compared = 2 * 5_000 * labels * len(members)  # predictions, of two targets
    assert forecast.operations == compared * (2 * 2 + 20 + 5)
    assert forecast.bytes_moved == 10**6  # half of it is read and written
