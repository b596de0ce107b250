"""Everyday tables, through the command line: its claims compared with the truth.

    pip install --group everyday                      packages that carry tables
    python -m benchmarks.everyday                     all, a few minutes
    python -m benchmarks.everyday tickets --seeds 3   some of them, more draws
    python -m benchmarks.everyday --messy             those of messy.py, 5 minutes
    python -m benchmarks.everyday --public            those of public.py, 15 minutes
    python -m benchmarks.everyday --as before         store results as another column

Each table of `tables.py`, `messy.py` or `public.py` is written to a file, ``halfmoon
fill`` fills it in its own process, and its output and its claims are compared with the
truth.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.everyday.messy import MESSY, PAIRS
from benchmarks.everyday.public import PUBLIC
from benchmarks.everyday.tables import TABLES
from benchmarks.lines import RESULTS, machine

PATH = RESULTS / "everyday.json"
CLEAN = {f"{name}, clean": clean for name, (_, clean) in PAIRS.items()}
EVERY = TABLES | MESSY | CLEAN | PUBLIC
LETTERS = {"M": 1e6, "B": 1e9}
ABOUT = """\
`halfmoon fill` with default arguments on tables as people save them. Claimed is the
interval that the command reports: for the accuracy of classes, or the mean absolute
error of numbers. True is the value on the rows that were blank; for numbers, R^2 as
well. Held says in how many seeds the interval contains the truth.
"""


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everyday")
    parser.add_argument("tables", nargs="*", help=f"some of {', '.join(EVERY)}")
    parser.add_argument("--messy", action="store_true", help="the tables of messy.py")
    parser.add_argument("--public", action="store_true", help="those of public.py")
    parser.add_argument("--seeds", type=int, default=1, help="draws of each table")
    parser.add_argument(
        "--as", dest="version", default="now", help="name of the column"
    )
    arguments = parser.parse_args()
    for unknown in set(arguments.tables) - set(EVERY):
        parser.error(f"no table is called {unknown}; there are {', '.join(EVERY)}")
    chosen = MESSY | CLEAN if arguments.messy else TABLES
    for name in arguments.tables or (PUBLIC if arguments.public else chosen):
        for seed in range(arguments.seeds):
            key = {"version": arguments.version, "table": name, "seed": seed}
            result = key | run(EVERY[name](seed))
            print(json.dumps(result, ensure_ascii=False), flush=True)
            keep(result)
    content = markdown(read())
    (RESULTS / "everyday.md").write_text(content)
    print(content)


def run(made):
    """Fill a table and compare with the truth."""
    with tempfile.TemporaryDirectory() as folder:
        given, filled = Path(folder) / "table.csv", Path(folder) / "filled.csv"
        given.write_bytes(made.content)
        command = [sys.executable, "-m", "halfmoon", "fill", str(given)]
        command += ["--target", made.target, "--output", str(filled), "--json"]
        command += ["--report", str(Path(folder) / "report.html"), *made.options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"exit": done.returncode, "said": done.stderr.strip()[-300:]}
        record = json.loads(done.stdout)
        out = pd.read_csv(
            filled, sep=None, engine="python", dtype=str, keep_default_na=False
        )
    said = [*record["summary"], *(f"Note: {note}" for note in record["notes"])]
    cells = out[made.target].to_numpy(str)[made.blank]
    return {"exit": 0, "seconds": record["seconds"], "said": said} | (
        of_numbers(made, cells, record)
        if made.numbers
        else of_classes(made, cells, record)
    )


def of_classes(made, cells, record):
    found = np.char.lower(np.char.strip(cells))
    truth = np.char.lower(made.truth[made.blank].astype(str))
    claimed = record["leave_one_out"].get("accuracy") or {}
    return {
        "true": float((found == truth).mean()),
        "low": claimed.get("low"),
        "high": claimed.get("high"),
        "confidence": record.get("mean_confidence"),
    }


def of_numbers(made, cells, record):
    truth = made.truth[made.blank]
    try:
        values = np.array([as_number(cell) for cell in cells])
    except ValueError as error:
        return {"true": None, "low": None, "high": None, "wrong": str(error)}
    claimed = record["leave_one_out"].get("mean_absolute_error") or {}
    return {
        "true": float(np.abs(values - truth).mean()),
        "r2": float(1 - ((values - truth) ** 2).mean() / truth.var()),
        "low": claimed.get("low"),
        "high": claimed.get("high"),
    }


def as_number(cell):
    """Read a number in any of the styles of the tables."""
    digits = re.sub(r"[^0-9.,-]", "", cell.replace("(", "-"))
    if re.search(r",[0-9]{1,2}$", digits):
        digits = digits.replace(".", "").replace(",", ".")
    return float(digits.replace(",", "")) * LETTERS.get(cell[-1:], 1.0)


def read():
    return json.loads(PATH.read_text())["runs"] if PATH.exists() else []


def keep(result):
    at = ("version", "table", "seed")
    runs = [r for r in read() if any(r[k] != result[k] for k in at)] + [result]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in runs)
    RESULTS.mkdir(exist_ok=True)
    PATH.write_text(f'{{"machine": {json.dumps(machine())},\n"runs": [\n{lines}\n]}}\n')


def markdown(runs):
    versions = list(dict.fromkeys(each["version"] for each in runs))
    lines = [
        "# Tables as people have them\n",
        "Made by `python -m benchmarks.everyday`.\n",
    ]
    lines += [ABOUT, "| table | " + " | ".join(versions) + " |"]
    lines += ["| --- |" + " --- |" * len(versions)]
    names = [name for name in EVERY if any(each["table"] == name for each in runs)]
    for name in names:
        cells = [
            cell([r for r in runs if r["table"] == name and r["version"] == version])
            for version in versions
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("\n## What was said, first draw\n")
    for name in names:
        lines.append(f"### {name}\n")
        for each in runs:
            if each["table"] == name and each["seed"] == 0:
                said = (
                    each["said"] if isinstance(each["said"], list) else [each["said"]]
                )
                lines += [f"**{each['version']}**: " + " ".join(said) + "\n"]
    return "\n".join(lines).replace("\u00a0", " ") + "\n"


def cell(runs):
    if not runs:
        return ""
    if any(each["exit"] for each in runs):
        return "refused"
    first = runs[0]
    numbers = "r2" in first
    known = [each for each in runs if each["true"] is not None]
    if not known:
        return "not numbers"
    true = np.mean([each["true"] for each in known])
    text = (
        f"true {true:.4g}, R² {np.mean([e['r2'] for e in known]):.2f}"
        if numbers
        else (f"true {true:.1%}")
    )
    measured = [each for each in known if each["low"] is not None]
    if not measured:
        return f"nothing claimed; {text}"
    low, high = (np.mean([each[end] for each in measured]) for end in ("low", "high"))
    held = sum(each["low"] <= each["true"] <= each["high"] for each in measured)
    claim = f"{low:.4g} to {high:.4g}" if numbers else f"{low:.0%} to {high:.0%}"
    return f"claimed {claim}; {text}; held {held} of {len(measured)}"


if __name__ == "__main__":
    main()
