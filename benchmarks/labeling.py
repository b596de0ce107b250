"""The labeling page: how quickly it responds, and how many labels it saves.

    HALFMOON_DATA=folder python -m benchmarks.labeling labels    simulated; resumes
    HALFMOON_DATA=folder python -m benchmarks.labeling keys      a page in Chromium

**labels**: a simulated person who knows the truth answers the questions of the page on
five real tables, starting without labels; another one labels rows in random order.
After 50, 100 and 200 answers a model is fitted to the labels. Its error is the share of
wrong classes, or the mean absolute error over the standard deviation of the labels, on
rows that are not in the table. Rows that the page has not asked for are easier than
average, so an error on them would favor the page. The queue and the refits are those
of the page, and so is the accuracy that it shows, which is compared with the error.

**keys**: the page of a table of 100,000 rows and 30 columns in headless Chromium. Keys
are pressed while refits run; the time is from the key to the frame with the next row,
and includes that the answer is written to disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.lines import RESULTS, machine
from benchmarks.markdown import row
from benchmarks.tables import NUMBERS, TABLES, peak_kilobytes
from halfmoon._label.journal import Journal
from halfmoon._label.live_accuracy import live_accuracy
from halfmoon._label.session import Labeling
from halfmoon._label.session_rows import joined_labels
from halfmoon.table._files import open_table
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.learn_from_table import learn_from

NAMES = ("breast cancer", "digits", "usps", "covtype", "california")
POINTS = (50, 100, 200)
ROWS = 1_500  # of each table, drawn at random for each repetition: at most two thirds
TEST_ROWS = 1_000  # others, at most, that errors are measured on
BUDGET = 0.2  # seconds of each search: the simulation makes thousands
ORDERS = ("page", "random")
TARGET = "target"
PATH = RESULTS / "labeling.json"
KEYS_ROWS, KEYS_COLUMNS, PRESSES = 100_000, 30, 60

# From a key to the frame that shows the next row.
TIMED = """new Promise(done => {
  const heading = document.getElementById("question"), before = heading.textContent;
  const start = performance.now();
  const seen = new MutationObserver(() => {
    if (heading.textContent === before) return;
    seen.disconnect();
    const changed = performance.now() - start;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done([changed, performance.now() - start]);
      channel.port2.postMessage(0);
    });
  });
  seen.observe(heading, {childList: true, subtree: true, characterData: true});
  document.dispatchEvent(new KeyboardEvent("keydown", {key: KEY, bubbles: true}));
})"""


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labeling")
    parser.add_argument("part", choices=["labels", "keys", "write"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--tables", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    if arguments.part == "labels":
        # Searches end after processor time: a busy machine gives the same models.
        with patch.object(time, "monotonic", time.process_time):
            simulate_all(arguments.repeats, arguments.tables)
    elif arguments.part == "keys":
        keep(keys=timed_keys())
    print(write().read_text())


def simulate_all(repeats, names):
    """Make the runs that are not stored yet."""
    for repeat in range(repeats):
        for name in names:
            for order in ORDERS:
                key = {"table": name, "repeat": repeat, "order": order}
                if not any(key.items() <= each.items() for each in read()["runs"]):
                    result = key | simulated(name, repeat, order)
                    print(result, flush=True)
                    keep(runs=[*read()["runs"], result])


def simulated(name, repeat, order):
    """Return the errors of models after 50, 100 and 200 answers."""
    frame, y = TABLES[name]()
    rng = np.random.default_rng([repeat, 7])
    drawn, n = rng.permutation(len(y)), min(ROWS, 2 * len(y) // 3)
    some, rest = np.sort(drawn[:n]), np.sort(drawn[n : n + TEST_ROWS])
    is_number = name in NUMBERS
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path, others = Path(folder) / "t.csv", Path(folder) / "others.csv"
        for rows, place in ((some, path), (rest, others)):
            frame.iloc[rows].assign(**{TARGET: ""}).to_csv(place, index=False)
        with open_table(others) as table:
            test_rows = pa.Table.from_batches([each.rows for each in table.batches()])
        test = test_rows, y[rest]
        task: Any = "numbers" if is_number else "classes"
        settings = Settings(TARGET, budget=BUDGET, seed=repeat, task=task)
        with open_table(path) as table, Journal(f"{path}.jsonl") as journal:
            labeling = Labeling(table, settings, journal, (), Stages())
        with journal:
            found = answered(labeling, y[some], test, order, rng, is_number)
    return {**found, "processor": round(time.process_time() - start, 1)}


def answered(labeling, y, test, order, rng, is_number):
    by_chance = iter(rng.permutation(len(y)).tolist())
    (test_rows, truth), errors, shown, done = test, {}, {}, 0
    while done < POINTS[-1]:
        if order == "random":
            number = next(by_chance)
        else:
            if labeling.wants_refit:
                labeling.refit()
            number = labeling.next_questions("person", 1)[0]["row"]
        value = float(y[number]) if is_number else str(y[number])
        done += 1
        said = {"id": f"i{done}", "row": number, "value": value, "who": "person"}
        labeling.answer(said | {"seconds": 1.0})
        if done in POINTS:
            errors[str(done)] = error_of(labeling, test_rows, truth, is_number)
            interval = shown_error(labeling, truth, is_number)
            if interval is not None:
                shown[str(done)] = interval
    return {"errors": errors} | ({"shown": shown} if order == "page" else {})


def shown_error(labeling, truth, is_number):
    """Return the interval of the error that the page shows; None if it shows none."""
    answers, labels = labeling.answers.every.values(), labeling.questions.refit.labels
    found = live_accuracy(answers, labels, not is_number)
    if found is None:
        return None
    if is_number:
        scale = float(truth.std())
        return [found.low / scale, found.high / scale]
    return [1.0 - found.high, 1.0 - found.low]


def error_of(labeling, test_rows, truth, is_number):
    """Fit the labels so far; return the error on the test rows."""
    found = labeling.answers.labels()
    scan = labeling.sample.scan
    labels = joined_labels(labeling.sample, found)
    rows = scan.rows.select(labeling.sample.features)
    given = replace(scan, rows=rows, labels=labels, n_labeled=len(found))
    try:
        model, _ = learn_from(given, labeling.settings, labeling.allowance, Stages())
    except ValueError:  # one class so far: it is the guess
        (only,) = set(found.values())
        return float((truth.astype(str) != str(only)).mean())
    said = model.predict(test_rows.select(labeling.sample.features)).values
    if is_number:
        return float(np.abs(np.array(said) - truth).mean() / truth.std())
    return float((np.array(said, dtype=str) != truth.astype(str)).mean())


def big_table(path):
    """Make a table of numbers, categories and text with 2 % of the rows labeled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(KEYS_ROWS, KEYS_COLUMNS - 3)).round(3)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["color"] = rng.choice(["red", "green", "blue"], KEYS_ROWS)
    frame["city"] = [f"city {c}" for c in rng.integers(40, size=KEYS_ROWS)]
    words = np.array(["late", "parcel", "broken", "refund", "thanks", "where"])
    drawn = rng.integers(len(words), size=(KEYS_ROWS, 5))
    frame["note"] = [" ".join(each) for each in words[drawn]]
    score = X[:, 0] + X[:, 1] * X[:, 2] + (frame["color"] == "red")
    y = np.where(score > 1, "high", np.where(score < -0.5, "low", "middle"))
    frame[TARGET] = np.where(rng.random(KEYS_ROWS) < 0.02, y, "")
    frame.to_csv(path, index=False)


def timed_keys():
    """Measure milliseconds from key to row while refits run, and memory."""
    from tools.browser import open_browser

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        big_table(path)
        command = [sys.executable, "-m", "halfmoon", "label", str(path), "--json"]
        command += ["--target", TARGET, "--as", "bench", "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            said: Any = process.stdout
            address = json.loads(said.readline())["address"]
            with open_browser() as browser:
                page = browser.new_page()
                page.resize(1280, 900)
                page.open(address)
                page.wait_for("document.documentElement.dataset.ready === 'yes'", 120)
                times, refits = pressed(page)
            megabytes = round(1024 * peak_kilobytes(process.pid) / 1e6)
        finally:
            process.terminate()
            process.wait()
    return {
        "rows": KEYS_ROWS,
        "columns": KEYS_COLUMNS,
        "presses": len(times),
        "refits": refits,
        "changed": [round(each[0], 2) for each in times],
        "shown": [round(each[1], 2) for each in times],
        "megabytes": megabytes,
        "load": round(os.getloadavg()[0], 1),
    }


def pressed(page):
    """Press keys one after the other; count those during a refit only."""
    learning = "document.getElementById('pace').textContent.includes('is learning')"
    times: list[Any] = []
    refits, before, presses = 0, False, 0
    while len(times) < PRESSES and presses < 20 * PRESSES:
        presses += 1
        now = page.evaluate(learning)
        refits += now and not before
        before = now
        found = page.evaluate(TIMED.replace("KEY", json.dumps("123"[presses % 3])))
        if now:
            times.append(found)
        time.sleep(0.4)
    return times, refits


def read() -> Any:
    empty: Any = {"runs": [], "keys": None}
    return empty | json.loads(PATH.read_text()) if PATH.exists() else empty


def keep(**changed):
    """Write the file, which is never incomplete."""
    content = read() | {"machine": machine()} | changed
    runs = ",\n".join(json.dumps(each) for each in content.pop("runs"))
    rest = json.dumps(content)[1:-1]
    new = PATH.with_suffix(".json.new")
    new.write_text(f'{{{rest},\n"runs": [\n{runs}\n]}}\n')
    os.replace(new, PATH)


def write():
    path = RESULTS / "labeling.md"
    path.write_text("\n".join(markdown(read())) + "\n")
    return path


def markdown(content):
    yield "# The labeling page\n"
    yield "Made by `python -m benchmarks.labeling`.\n"
    yield "<!-- tables -->\n"
    found: Any = defaultdict(dict)
    for each in content["runs"]:
        for point, error in each["errors"].items():
            found[each["table"], int(point)].setdefault(each["repeat"], {})[
                each["order"]
            ] = error
    pairs = {
        key: np.array([[r[o] for o in ORDERS] for r in runs.values() if len(r) == 2])
        for key, runs in found.items()
    }
    pairs = {key: both for key, both in pairs.items() if len(both)}
    if pairs:
        yield (
            f"Error on rows outside of the table after this many answers, starting "
            f"without labels: in the order of the page, and in random order. Means "
            f"over repetitions, and the difference with its standard error. At most "
            f"{ROWS:,} rows per table, {BUDGET} s of search per fit. For *california* "
            f"the error is the mean absolute error over the standard deviation.\n"
        )
        head = ("table", "answers", "page", "random", "difference", "repetitions")
        yield row(head)
        yield "| --- |" + " ---: |" * (len(head) - 1)
        for name in NAMES:
            for point in POINTS:
                if (name, point) not in pairs:
                    continue
                both = pairs[name, point]
                less = both[:, 0] - both[:, 1]
                spread = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0
                error = f" ± {spread:.3f}" if spread else ""
                shown = (f"{both[:, i].mean():.3f}" for i in (0, 1))
                gap = f"{less.mean():+.3f}{error}"
                yield row([name, point, *shown, gap, len(both)])
        yield ""
    inside = [
        low <= each["errors"][point] <= high
        for each in content["runs"]
        for point, (low, high) in each.get("shown", {}).items()
    ]
    if inside:
        tables = {f"*{each['table']}*" for each in content["runs"] if "shown" in each}
        yield (
            f"The 95 % interval that the page showed held this error in {sum(inside)} "
            f"of {len(inside)} cases ({', '.join(sorted(tables))}).\n"
        )
    keys = content["keys"]
    if keys:
        drawn, changed = np.array(keys["shown"]), np.array(keys["changed"])
        yield (
            f"Time from a key to the next row, which is shown when the answer is on "
            f"disk, in headless Chromium, on {keys['rows']:,} rows by "
            f"{keys['columns']} columns, {keys['presses']} keys while a refit ran "
            f"({keys['refits']} refits): until the row has "
            f"changed, median {np.median(changed):.1f} ms (90 %: "
            f"{np.quantile(changed, 0.9):.1f} ms); until the frame with it is drawn, "
            f"median {np.median(drawn):.1f} ms (90 %: {np.quantile(drawn, 0.9):.1f} "
            f"ms). The server held {keys['megabytes']:,} MB at most (`--memory 1GB`). "
            f"The machine had 2 cores and a load of {keys['load']}."
        )


if __name__ == "__main__":
    main()
