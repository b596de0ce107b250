"""Folders and files of many rows: time, memory and error, and a random forest.

    python -m benchmarks.folders --rows 10000000 --csv-rows 1000000

Rows of 20 columns, 1,000 of them labeled. ``halfmoon fill`` fills them as a folder of
Parquet files within ``--memory 1GB``, and as one CSV file. For the CSV file, the
alternative is also measured: pandas reads it, scikit-learn's random forest learns from
the same labels and predicts all rows, and pandas writes it. Each runs in its own
process with default settings; time, processor time and peak memory are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
LABELS, FILES = 1_000, 16

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


def measured(command: list[str]) -> dict[str, float]:
    """Run a command; return its time, processor time and peak memory."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{command} ended with {status}")
    return {
        "seconds": time.monotonic() - start,
        "processor_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * 1024,
    }


def fill(source: Path, out: Path) -> dict[str, float]:
    """Fill a file or a folder with the command."""
    command = [sys.executable, "-m", "halfmoon", "fill", str(source), "-t", "y"]
    options = ["-o", str(out), "--memory", "1GB", "--no-report", "--quiet"]
    return measured([*command, *options])


def error_of(filled: pd.DataFrame, given: pd.Series, truth: Any) -> float:
    """Root mean squared error of the unlabeled rows."""
    blank = given.isna().to_numpy()
    error = filled["y"].to_numpy()[blank] - truth[blank]
    return float(np.sqrt(np.mean(error**2)))


def of_folder(place: Path, rows: int) -> dict[str, Any]:
    """Measure a folder of Parquet files."""
    (place / "in").mkdir()
    size = rows // FILES
    for i in range(FILES):
        table, _ = rows_of(i * size, size, rows)
        table.to_parquet(place / "in" / f"part-{i:03}.parquet", index=False)
    found: dict[str, Any] = {"rows": rows, **fill(place / "in", place / "out")}
    table, truth = rows_of(0, size, rows)
    filled = pd.read_parquet(place / "out" / "part-000.parquet")
    return found | {"error": error_of(filled, table["y"], truth)}


def of_csv(place: Path, rows: int) -> dict[str, Any]:
    """Measure one CSV file, filled by halfmoon and by a forest."""
    table, truth = rows_of(0, rows, rows)
    table.to_csv(place / "t.csv", index=False)
    given, size = table["y"], (place / "t.csv").stat().st_size
    del table
    found: dict[str, Any] = {"rows": rows, "bytes": size}
    script = [sys.executable, "-c", FOREST, str(place / "t.csv")]
    found["fill"] = fill(place / "t.csv", place / "filled.csv")
    found["forest"] = measured([*script, str(place / "forest.csv")])
    for name, file in (("fill", "filled.csv"), ("forest", "forest.csv")):
        filled = pd.read_csv(place / file)
        found[name]["error"] = error_of(filled, given, truth)
    return found


def page(found: dict[str, Any]) -> str:
    """The results as a page."""
    folder, csv = found["folder"], found["csv"]
    lines = [
        "# Folders and files of many rows",
        "",
        "Made by `python -m benchmarks.folders`: rows of 20 columns, 1,000 labels, "
        "`--memory 1GB`, defaults otherwise, 2 cores. " + found["note"],
        "",
        (
            "| what | rows | time (s) | processor time (s) | rows a second | peak MB | "
            "error |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, run, rows in (
        (f"`fill` of {FILES} Parquet files", folder, folder["rows"]),
        ("`fill` of one CSV file", csv["fill"], csv["rows"]),
        ("pandas and a random forest", csv["forest"], csv["rows"]),
    ):
        lines.append(
            f"| {name} | {rows:,} | {run['seconds']:.0f} | "
            f"{run['processor_seconds']:.0f} | {rows / run['seconds']:,.0f} | "
            f"{run['peak_bytes'] / 1e6:,.0f} | {run['error']:.3f} |"
        )
    ratios = [
        csv["fill"][name] / csv["forest"][name]
        for name in ("seconds", "processor_seconds", "error")
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
    ]
    return "\n".join(lines)


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--csv-rows", type=int, default=1_000_000)
    parser.add_argument("--note", default="")
    asked = parser.parse_args()
    found: dict[str, Any] = {"note": asked.note}
    with tempfile.TemporaryDirectory() as folder:
        found["csv"] = of_csv(Path(folder), asked.csv_rows)
    with tempfile.TemporaryDirectory() as folder:
        found["folder"] = of_folder(Path(folder), asked.rows)
    (RESULTS / "folders.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "folders.md").write_text(page(found))
    print(page(found))


if __name__ == "__main__":
    main()
