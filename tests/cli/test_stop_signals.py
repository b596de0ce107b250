"""Stop signals at any moment: one line, an exit code, no half-written file."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from small_tables import two_groups, write_csv

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals")

COMMAND = ["fill", "t.csv", "-t", "side", "--budget", "2", "--model", "m.halfmoon"]
WHOLE = {"t.csv", "t.filled.csv", "t.report.html", "m.halfmoon"}
STOPPED = "halfmoon: Stopped by a signal; no half-written file is left behind."
SAID = {
    signal.SIGINT: "halfmoon: Interrupted; no half-written file is left behind.",
    signal.SIGTERM: STOPPED,
    signal.SIGHUP: STOPPED,
}


def started(*more):
    return subprocess.Popen(
        [sys.executable, "-m", "halfmoon", *COMMAND, "--overwrite", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_stopped(process, number, folder):
    out, said = process.communicate(timeout=120)
    record = f"{said!r} {out!r}"
    assert "bug" not in said, record
    assert "Traceback" not in said, record
    assert "Exception ignored" not in said, record
    there = set(os.listdir(folder))
    assert there <= WHOLE, record
    if process.returncode == 0:  # it finished first
        return
    if process.returncode != -number:  # as before halfmoon was loaded
        assert process.returncode == 128 + number, record
        assert said.splitlines()[-1] == SAID[number], record


@pytest.fixture
def table(folder):
    rows, _ = two_groups(200, 40)
    write_csv("t.csv", rows)
    return folder


def stop_at_random(table, times, seed, longest):
    draw = random.Random(seed)
    for _ in range(times):
        number = draw.choice(list(SAID))
        process = started()
        time.sleep(draw.uniform(0.2, longest))
        process.send_signal(number)
        check_stopped(process, number, table)


@pytest.mark.slow
def test_stops_at_random_moments(table):
    stop_at_random(table, 3, seed=0, longest=4.0)


@pytest.mark.slow
def test_stops_at_many_random_moments(table):
    stop_at_random(table, 150, seed=1, longest=8.0)


@pytest.mark.slow
def test_stops_while_the_report_is_drawn(table):
    number = signal.SIGTERM
    process = started("--json")
    deadline = time.monotonic() + 120
    while not (table / "m.halfmoon").exists() and time.monotonic() < deadline:
        time.sleep(0.01)  # the model is written before the report is drawn
    time.sleep(0.05)
    process.send_signal(number)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number, said
    assert said.splitlines() == [SAID[number]]
    assert json.loads(out) == {
        "status": "error",
        "code": 128 + number,
        "error": SAID[number].removeprefix("halfmoon: "),
    }
    assert set(os.listdir(table)) == WHOLE - {"t.report.html"}
