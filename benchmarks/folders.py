"""Folders and files of many rows: time, memory and error, and a random forest.

    python -m benchmarks.folders                          # all of it
    python -m benchmarks.folders --place P --part folder --limit 300

Rows of 20 columns, 1,000 of them labeled. ``halfmoon fill`` fills them within
``--memory 1GB``, as a folder of Parquet files and as one CSV file. For a shorter CSV
file, the alternative is also measured: pandas reads it, scikit-learn's random forest
learns from the same labels and predicts all rows, and pandas writes it. Each runs in
its own process with default settings; time, processor time and peak memory are
measured.

Parts can be run one by one: what is found is kept in the folder ``--place``. With
``--limit``, the run on the folder is killed after so many seconds; the next call
resumes it, and the times of both are added.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from halfmoon.table import TableModel, open_table
from halfmoon.table._files import new_table
from halfmoon.table._labels.given_labels import Blanks, GivenLabels
from halfmoon.table._models.predictions import Prediction
from halfmoon.table._runs.first_pass import scan
from halfmoon.table._runs.second_pass import Job, write_filled

RESULTS = Path(__file__).parent / "results"
LABELS, FILES = 1_000, 16
PARTS = ("csv", "forest", "passes", "folder", "long_csv")
EXPECTED = "Filling was expected"  # the note that compares the forecast

FOREST = """
import sys
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

table = pd.read_csv(sys.argv[1])
X, known = table.drop(columns="y"), table["y"].notna()
texts = list(X.select_dtypes(exclude="number").columns)
columns = make_column_transformer((OneHotEncoder(), texts), remainder="passthrough")
model = make_pipeline(columns, RandomForestRegressor(random_state=0, n_jobs=-1))
model.fit(X[known], table.loc[known, "y"])
table.loc[~known, "y"] = model.predict(X[~known])
table.to_csv(sys.argv[2], index=False)
"""


def rows_of(start: int, n: int, in_all: int) -> tuple[pd.DataFrame, Any]:
    """Return some of the rows and the true labels, independent of how files are cut."""
    rng = np.random.default_rng([0, start])
    X = rng.normal(size=(n, 14))
    city = rng.integers(0, 5, n)
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + (city == 2)
    y += 0.1 * rng.normal(size=n)
    columns: dict[str, Any] = {f"x{i}": np.round(X[:, i], 4) for i in range(14)}
    columns["count"] = rng.poisson(5, n)
    columns["price"] = np.round(np.exp(rng.normal(3, 1, n)), 2)
    columns["city"] = np.array(["Paris", "Lyon", "Rome", "Oslo", "Bern"])[city]
    columns["answer"] = np.where(rng.random(n) < 0.5, "yes", "no")
    columns["color"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    labeled = rng.permutation(n)[: round(LABELS * n / in_all)]
    given = np.full(n, np.nan)
    given[labeled] = np.round(y[labeled], 4)
    return pd.DataFrame(columns | {"y": given}), y


def measured(command: list[str], limit: float | None = None) -> dict[str, Any]:
    """Run a command; return its time, processor time and peak memory.

    `limit` is the number of seconds after which it is killed.
    """
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    timer = Timer(limit or 1e6, process.kill)
    timer.start()
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    timer.cancel()
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if status and not (limit and killed):
        raise RuntimeError(f"{command} ended with {status}")
    found = {
        "seconds": seconds,
        "processor_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
        "kills": int(killed),
    }
    told = json.loads(printed) if printed.startswith(b"{") else {}
    # A new process begins as a copy of this one, whose memory counts for its peak.
    if "peak_memory" in told:
        found["peak_bytes"] = told["peak_memory"]
    notes = told.get("notes", [])
    return found | {"forecast": [n for n in notes if n.startswith(EXPECTED)]}


def fill(source: Path, out: Path, limit: float | None = None) -> dict[str, Any]:
    """Fill a file or a folder with the command; continue where it was stopped."""
    command = [sys.executable, "-m", "halfmoon", "fill", str(source), "-t", "y"]
    options = ["-o", str(out), "--memory", "1GB", "--no-report", "--json"]
    resume = ["--resume"] if source.is_dir() and (out / "_halfmoon").exists() else []
    return measured([*command, *options, *resume], limit)


def error_of(filled: pd.DataFrame, given: pd.Series, truth: Any) -> float:
    """Root mean squared error of the unlabeled rows."""
    blank = given.isna().to_numpy()
    error = filled["y"].to_numpy()[blank] - truth[blank]
    return float(np.sqrt(np.mean(error**2)))


def of_folder(place: Path, rows: int, limit: float | None) -> dict[str, Any]:
    """Measure a folder of Parquet files, or those filled when it was killed."""
    place.mkdir(exist_ok=True)
    size, source, times = rows // FILES, place / "in", place / "times.json"
    if not source.exists():
        (place / "new").mkdir(exist_ok=True)
        for i in range(FILES):
            table, _ = rows_of(i * size, size, rows)
            table.to_parquet(place / "new" / f"part-{i:03}.parquet", index=False)
        (place / "new").rename(source)
    found = fill(source, place / "out", limit)
    if times.exists():
        before = json.loads(times.read_text())
        for name in ("seconds", "processor_seconds", "kills"):
            found[name] += before[name]
        found["peak_bytes"] = max(found["peak_bytes"], before["peak_bytes"])
    times.write_text(json.dumps(found))
    return filled_so_far(place, rows) | found


def filled_so_far(place: Path, rows: int) -> dict[str, Any]:
    """Return how many files are filled, and the error of the first."""
    size, first = rows // FILES, place / "out" / "part-000.parquet"
    files = sum((place / "out" / f"part-{i:03}.parquet").exists() for i in range(FILES))
    found: dict[str, Any] = {"rows": files * size, "files": files}
    if files:
        table, truth = rows_of(0, size, rows)
        found["error"] = error_of(pd.read_parquet(first), table["y"], truth)
    return found


def of_long_csv(place: Path, rows: int) -> dict[str, Any]:
    """Measure the rows of the folder as one CSV file."""
    size, source, out = rows // FILES, place / f"{rows}.csv", place / "long.csv"
    if not source.exists():
        plain = pa.csv.WriteOptions(include_header=False, quoting_style="none")
        with (place / "new.csv").open("wb") as file:
            for i in range(FILES):
                table, _ = rows_of(i * size, size, rows)
                if i == 0:
                    file.write((",".join(table.columns) + "\n").encode())
                pa.csv.write_csv(pa.Table.from_pandas(table), file, plain)
        (place / "new.csv").rename(source)
    out.unlink(missing_ok=True)
    found = {"rows": rows, "bytes": source.stat().st_size, **fill(source, out)}
    table, truth = rows_of(0, size, rows)
    first = pd.read_csv(out, nrows=size)
    return found | {"error": error_of(first, table["y"], truth)}


def of_csv(place: Path, rows: int, part: str) -> dict[str, Any]:
    """Measure one CSV file, filled by halfmoon, by a forest, or not at all."""
    source, out = place / f"{rows}.csv", place / f"{part}.csv"
    table, truth = rows_of(0, rows, rows)
    given = table["y"]
    if not source.exists():
        table.to_csv(source, index=False)
    del table
    found: dict[str, Any] = {"rows": rows, "bytes": source.stat().st_size}
    if part == "passes":
        return found | passes(source, out)
    out.unlink(missing_ok=True)
    script = [sys.executable, "-c", FOREST, str(source), str(out)]
    run = fill(source, out) if part == "csv" else measured(script)
    return found | run | {"error": error_of(pd.read_csv(out), given, truth)}


@dataclass
class Constant:
    """A model that predicts the same for every row, so that files alone are timed."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def predict(self, rows: Any, known: Any = None) -> Prediction:
        """Return the same interval for each row."""
        low, middle, high = np.full((3, rows.num_rows), [[0.25], [0.5], [0.75]])
        return Prediction(middle.tolist(), low=low, high=high)


def passes(source: Path, out: Path) -> dict[str, Any]:
    """Measure each pass over a CSV file by itself, in processor time."""
    given = GivenLabels("y", Blanks(()))
    some = pa.table(rows_of(0, 2_000, 10_000)[0])
    model = TableModel("y", "numbers", budget=1.0)
    model.fit(some.drop(["y"]), some["y"].to_pylist())

    def read() -> None:
        with open_table(source) as table:
            features = [name for name in table.columns if name != "y"]
            scan(table, given, features, max_bytes=30_000_000, seed=0)

    def write() -> None:
        with (
            open_table(source) as table,
            new_table(out, table, overwrite=True) as written,
        ):
            write_filled(table, written, [Job(cast(Any, Constant(model)), given)])

    found = {}
    for name, function in (("first_pass", read), ("second_pass", write)):
        times = []
        for _ in range(3):
            start = time.process_time()
            function()
            times.append(time.process_time() - start)
        found[name] = min(times)
    return found


def page(found: dict[str, Any]) -> str:
    """The results as a page."""
    folder, long, csv, forest = (
        found[name] for name in ("folder", "long_csv", "csv", "forest")
    )
    lines = [
        "# Folders and files of many rows",
        "",
        "Made by `python -m benchmarks.folders`: rows of 20 columns, 1,000 labels, "
        "`--memory 1GB`, defaults otherwise. " + found["note"],
        "",
        (
            "| what | rows | time (s) | processor time (s) | rows a second | peak MB | "
            "error |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, run in (
        (f"`fill` of {folder['files']} Parquet files", folder),
        ("`fill` of one CSV file", long),
        ("`fill` of one CSV file", csv),
        ("pandas and a random forest", forest),
    ):
        rows = run["rows"]
        lines.append(
            f"| {name} | {rows:,} | {run['seconds']:.0f} | "
            f"{run['processor_seconds']:.0f} | {rows / run['seconds']:,.0f} | "
            f"{run['peak_bytes'] / 1e6:,.0f} | {run['error']:.3f} |"
        )
    runs = ("the folder", folder), ("the long CSV file", long)
    files = found["passes"]
    size = files["bytes"] / 1e6
    ratios = [
        csv[name] / forest[name] for name in ("seconds", "processor_seconds", "error")
    ]
    lines += [
        "",
        (
            f"`fill` compared with the forest: {ratios[0]:.2f} times its time, "
            f"{ratios[1]:.2f} "
            f"times its processor time, {ratios[2]:.2f} times its error (root of "
            "the mean squared error; the noise is 0.1)."
        ),
        "",
        *(f"Of {name}: {note}\n" for name, run in runs for note in run["forecast"]),
        (
            f"Passes over the CSV file, in MB a second of processor time: the first "
            f"{size / files['first_pass']:.0f}, the second with a constant model "
            f"{size / files['second_pass']:.0f}."
        ),
        "",
    ]
    if folder["kills"]:
        whole = f"{folder['files']} of its {FILES} files were whole at the end."
        lines += [f"The folder's run was killed {folder['kills']} times; {whole}", ""]
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and write the results once all is there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--csv-rows", type=int, default=1_000_000)
    parser.add_argument("--note", default="")
    parser.add_argument("--place", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--limit", type=float)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as new:
        place = asked.place or Path(new)
        place.mkdir(exist_ok=True)
        store = place / "found.json"
        found = json.loads(store.read_text()) if store.exists() else {}
        for part in asked.part or PARTS:
            if part == "folder":
                result = of_folder(place / "folder", asked.rows, asked.limit)
            elif part == "long_csv":
                result = of_long_csv(place, asked.rows)
            else:
                result = of_csv(place, asked.csv_rows, part)
            print(part, json.dumps(result), flush=True)
            found[part] = result
            store.write_text(json.dumps(found, indent=1))
    if set(found) == set(PARTS):
        found["note"] = asked.note
        (RESULTS / "folders.json").write_text(json.dumps(found, indent=1) + "\n")
        (RESULTS / "folders.md").write_text(page(found))
        print(page(found))


if __name__ == "__main__":
    main()
