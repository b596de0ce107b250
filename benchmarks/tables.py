"""Ten real tables through the command line, compared with a random forest.

    HALFMOON_DATA=folder python -m benchmarks.tables            all, about two hours
    HALFMOON_DATA=folder python -m benchmarks.tables --quick    three small ones, once

Each table is written as a CSV file in which all but 1 %, 5 % or 20 % of the labels,
drawn at random, are blanked. ``halfmoon fill`` fills it in its own process, and the
result is compared with the blanked labels. The forest has 300 trees and otherwise
scikit-learn's defaults; it learns from the labeled rows of the matrix that the command
itself makes of the columns. Texts are also given to logistic regression in two usual
ways, which do not depend on that matrix. Results are stored after each run, and stored
runs are not repeated.
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
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn import datasets as toy
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import halfmoon
from benchmarks.lines import RESULTS, machine
from benchmarks.rivals import report as rivals
from experiments import data as real
from halfmoon.table._files import open_table

SHARES = (0.01, 0.05, 0.2)
SEEDS = (0, 1, 2)
TREES = 300
TOPICS = 100  # components of texts, for logistic regression
COVTYPE_ROWS = 20_000
GAP = 0.05  # between mean confidence and accuracy
PATH = RESULTS / "tables.json"
TARGET = "target"
COLUMNS = (
    *("table", "rows", "labels", "seeds", "halfmoon", "forest", "words"),
    *("components", "confidence", "unseen", "inside", "seconds", "MB"),
)

ABOUT = """\
`halfmoon fill` with default arguments on CSV files in which most labels were blanked,
compared with a random forest of {trees} trees on the same columns: accuracy for
classes, R^2 for numbers, on the blanked cells; mean and standard deviation over the
seeds. Words and components are logistic regressions on texts as scikit-learn prepares
them: tf-idf of the words with the logarithm of counts (C = 100), and its first {topics}
components in unit rows (C = 30), both prepared on all rows; these C were the best of a
few on the first draws, in their favor. Confidence is the mean confidence that the
command reports. Unseen is the share of blanked rows of classes without any label, which
nothing can get right. Inside is the share of blanked numbers between low and high,
which should be 90 %. Seconds and memory are of the whole command, the largest over all
seeds; most runs shared the machine with other work.
"""


def scikit(name):
    """Load a table of scikit-learn."""
    bunch = getattr(toy, f"load_{name}")()
    frame = pd.DataFrame(bunch.data, columns=[str(c) for c in bunch.feature_names])
    if name == "diabetes":
        return frame, bunch.target
    return frame, np.array([f"class {c}" for c in bunch.target])


def covtype():
    """Load ten measures and two categories, which the source stores as indicators."""
    X, y = real.load_covtype()
    some = np.random.default_rng(0).permutation(len(y))[:COVTYPE_ROWS]
    X, y = X[some], y[some]
    frame = pd.DataFrame(X[:, :10], columns=[f"measure {c}" for c in range(10)])
    frame["wilderness"] = [f"area {c}" for c in X[:, 10:14].argmax(axis=1)]
    frame["soil"] = [f"soil {c}" for c in X[:, 14:].argmax(axis=1)]
    return frame, np.array([f"cover {c}" for c in y])


def usps():
    X, y = real.load_usps()
    frame = pd.DataFrame(X, columns=[f"pixel {c}" for c in range(X.shape[1])])
    return frame, np.array([f"digit {c}" for c in y])


def numbers(load):
    def table():
        X, y, *_ = load()
        return pd.DataFrame(X, columns=[f"column {c}" for c in range(X.shape[1])]), y

    return table


def text(load):
    def table():
        texts, labels, *_ = load()
        return pd.DataFrame({"text": texts}), np.asarray(labels).astype(str)

    return table


TEXTS = ("imdb", "webkb", "20news")
TABLES = {
    "breast cancer": lambda: scikit("breast_cancer"),
    "digits": lambda: scikit("digits"),
    "diabetes": lambda: scikit("diabetes"),
    "imdb": text(real.load_imdb),
    "webkb": text(lambda: real.load_webkb("all")),
    "20news": text(real.load_20news),
    "usps": usps,
    "california": numbers(real.load_california_housing),
    "covtype": covtype,
    "protein": numbers(real.load_protein),
}
NUMBERS = ("diabetes", "california", "protein")
QUICK = ("breast cancer", "digits", "diabetes")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables")
    parser.add_argument("tables", nargs="*", help=f"some of {', '.join(TABLES)}")
    parser.add_argument("--quick", action="store_true", help="small tables, one seed")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many")
    parser.add_argument("--again", action="store_true", help="forget what is there")
    arguments = parser.parse_args()
    for unknown in set(arguments.tables) - set(TABLES):
        parser.error(f"no table is called {unknown}; there are {', '.join(TABLES)}")
    names = arguments.tables or (QUICK if arguments.quick else tuple(TABLES))
    seeds = (0,) if arguments.quick else range(arguments.seeds)
    for seed in seeds:
        for name in names:
            for share in SHARES:
                key = {"table": name, "share": share, "seed": seed}
                if not arguments.again and any(
                    key.items() <= r.items() for r in read()
                ):
                    continue
                result = key | run(name, share, seed)
                print(result, flush=True)
                keep(result)
    print(write().read_text())


def run(name, share, seed):
    frame, y = TABLES[name]()
    labeled = draw(y, share, seed, name)
    blanked = np.setdiff1d(np.arange(len(y)), labeled)
    with tempfile.TemporaryDirectory() as folder:
        given, filled, model = (
            Path(folder) / f for f in ("given.csv", "filled.csv", "model.halfmoon")
        )
        cells = pd.Series([""] * len(y), dtype=object)
        cells[labeled] = [
            repr(v) if name in NUMBERS else v for v in y[labeled].tolist()
        ]
        frame.assign(**{TARGET: cells}).to_csv(given, index=False)
        command = [sys.executable, "-m", "halfmoon", "fill", str(given)]
        command += ["--target", TARGET, "--seed", str(seed), "--output", str(filled)]
        command += ["--model", str(model), "--no-report", "--quiet"]
        outcome = timed(command)
        if outcome["exit"] != 0:
            return outcome | {"labels": len(labeled)}
        out = pd.read_csv(filled, keep_default_na=False, usecols=lambda c: TARGET in c)
        X = matrix(model, given)
    assert len(out) == len(y)
    result = outcome | {"labels": len(labeled), "rows": len(y)}
    if name in TEXTS:
        result |= on_texts(frame["text"], y, labeled, blanked)
    return result | scores(out.iloc[blanked], y, X, labeled, blanked, seed, name)


def scores(out, y, X, labeled, blanked, seed, name):
    """Score the command and the forest."""
    predicted, truth = out[TARGET], y[blanked]
    if name in NUMBERS:
        forest = RandomForestRegressor(TREES, random_state=seed)
        forest.fit(X[labeled], y[labeled])
        low, high = (out[f"{TARGET}_{end}"].to_numpy(float) for end in ("low", "high"))
        return {
            "score": r2(predicted.to_numpy(float), truth),
            "forest": r2(forest.predict(X[blanked]), truth),
            "inside": float(((low <= truth) & (truth <= high)).mean()),
        }
    forest = RandomForestClassifier(TREES, random_state=seed)
    p = forest.fit(X[labeled], y[labeled]).predict_proba(X[blanked])
    return {
        "score": float((predicted.to_numpy(str) == truth).mean()),
        "confidence": float(out[f"{TARGET}_confidence"].to_numpy(float).mean()),
        "forest": float((forest.classes_[p.argmax(axis=1)] == truth).mean()),
        "forest_confidence": float(p.max(axis=1).mean()),
        "unseen": unseen(y, labeled, blanked),
    }


def on_texts(texts, y, labeled, blanked):
    """Score logistic regression on words, and on components of them."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    components = TruncatedSVD(TOPICS, random_state=0).fit_transform(words)
    ways = {"words": (words, 100), "components": (normalize(components), 30)}
    return {
        name: float(
            LogisticRegression(C=C, max_iter=2_000)
            .fit(X[labeled], y[labeled])
            .score(X[blanked], y[blanked])
        )
        for name, (X, C) in ways.items()
    }


def unseen(y, labeled, blanked):
    """Share of the blanked rows whose class has no label left."""
    return float((~np.isin(y[blanked], y[labeled])).mean())


def draw(y, share, seed, name):
    """Draw labeled rows; draw again if all are of one class."""
    rng = np.random.default_rng(seed)
    while True:
        labeled = np.sort(rng.permutation(len(y))[: round(share * len(y))])
        if name in NUMBERS or len(np.unique(y[labeled])) > 1:
            return labeled


def timed(command):
    """Run a command; return seconds, megabytes and the exit code."""
    start, most = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stderr=said)
        running = os.WEXITED | os.WNOWAIT | os.WNOHANG
        while os.waitid(os.P_PID, process.pid, running) is None:
            most = max(most, peak_kilobytes(process.pid))
            time.sleep(0.05)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        last_words = said.read()[-500:]
    outcome = {
        "exit": process.returncode,
        "seconds": round(time.perf_counter() - start, 1),
        "processor": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": round(1024 * most / 1e6) or None,
    }
    return outcome | ({"said": last_words} if process.returncode else {})


def peak_kilobytes(pid):
    """Peak memory of a process; 0 if the system does not report it.

    `wait4` includes what this process held when it started the other.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(l.split()[1]) for l in lines if l.startswith("VmHWM")), 0)


def matrix(model, given):
    """Return the matrix that the command made of the columns."""
    fitted = halfmoon.load(model)
    with open_table(given) as table:
        parts = [fitted.transform(pa.table(b.rows)) for b in table.batches()]
    return np.concatenate(parts)


def r2(predicted, truth):
    return float(1 - ((predicted - truth) ** 2).mean() / truth.var())


def read():
    return json.loads(PATH.read_text())["runs"] if PATH.exists() else []


def keep(result):
    """Add a run to the file, which is never incomplete."""
    at = ("table", "share", "seed")
    runs = [r for r in read() if any(r[k] != result[k] for k in at)] + [result]
    lines = ",\n".join(json.dumps(each) for each in runs)
    new = PATH.with_suffix(".json.new")
    RESULTS.mkdir(exist_ok=True)
    new.write_text(f'{{"machine": {json.dumps(machine())},\n"runs": [\n{lines}\n]}}\n')
    os.replace(new, PATH)


def write():
    path = RESULTS / "tables.md"
    path.write_text(markdown(read()))
    return path


def markdown(runs):
    cells = defaultdict(list)
    for each in runs:
        cells[each["table"], each["share"]].append(each)
    lines = [
        "# Ten tables through the command line\n",
        "Made by `python -m benchmarks.tables`.\n",
        ABOUT.format(trees=TREES, topics=TOPICS),
        f"| {' | '.join(COLUMNS)} |",
        "| --- |" + " ---: |" * (len(COLUMNS) - 1),
    ]
    ahead, near, measured, failed, texts = 0, 0, 0, 0, []
    for name, share in ((n, s) for n in TABLES for s in SHARES):
        done = [each for each in cells[name, share] if each["exit"] == 0]
        failed += len(cells[name, share]) - len(done)
        if not done:
            continue
        ours, forest = mean(done, "score"), mean(done, "forest")
        ahead += ours >= forest
        confidence, missed, inside = "", "", ""
        if name in NUMBERS:
            inside = f"{mean(done, 'inside'):.2f}"
        else:
            measured += 1
            close = abs(mean(done, "confidence") - ours) <= GAP
            near += close
            missed = f"{mean(done, 'unseen'):.3f}"
            confidence = f"{mean(done, 'confidence'):.3f}" + ("" if close else " (off)")
        shown = [f"**{v}**" if b else v for v, b in both(done, ours >= forest)]
        row = [name, done[0]["rows"], f"{done[0]['labels']} ({share:.0%})", len(done)]
        if "words" in done[0]:
            texts.append(ours >= max(mean(done, "words"), mean(done, "components")))
        row += [*shown, *by_logistic_regression(done), confidence, missed, inside]
        row += [max(r["seconds"] for r in done)]
        row += [max((r["megabytes"] for r in done if r["megabytes"]), default="")]
        lines.append("| " + " | ".join(map(str, row)) + " |")
    filled = sum(1 for runs in cells.values() if any(r["exit"] == 0 for r in runs))
    lines.append(
        f"\nAt or above the forest in {ahead} of {filled} cells, and at or above both "
        f"logistic regressions in {sum(texts)} of {len(texts)} of texts. Mean "
        f"confidence within {GAP} of the accuracy in {near} of {measured}. Runs that "
        f"failed: {failed}."
    )
    return "\n".join([*lines, *compared_with_rivals(cells)]) + "\n"


def compared_with_rivals(cells):
    """Compare with other tools, on the seeds that they have run on."""
    found = {
        (name, share): {
            "halfmoon": {r["seed"]: r["score"] for r in done},
            "forest": {r["seed"]: r["forest"] for r in done},
        }
        for name in TABLES
        for share in SHARES
        if (done := [r for r in cells[name, share] if r["exit"] == 0])
    }
    scope = "Seeds are the splits here. Labels are a share; accuracy or R^2 as above."
    yield "\n## Compared with other tools\n"
    yield rivals.HOW.format(benchmark="tables", scope=scope)
    yield from rivals.rivals_table("tables")
    yield ""
    yield from rivals.comparison("tables", found, ("halfmoon", "forest"))


def mean(runs, key):
    return float(np.mean([each[key] for each in runs]))


def by_logistic_regression(runs):
    """Return the two scores on texts; empty for other tables."""
    for way in ("words", "components"):
        yield f"{mean(runs, way):.3f}" if way in runs[0] else ""


def both(runs, ahead):
    """Return the scores of the command and of the forest, the better one in bold."""
    for key, better in (("score", ahead), ("forest", not ahead)):
        values = [each[key] for each in runs]
        spread = f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else ""
        yield f"{np.mean(values):.3f}{spread}", better


if __name__ == "__main__":
    main()
