"""Findings of real runs on small tables, and of tables that try to do harm."""

from dataclasses import replace
from functools import cache

import numpy as np
from sklearn import datasets

from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon.candidates import scores_by_class
from halfmoon.estimators.calibration import probabilities
from halfmoon.report import (
    ColumnDistribution,
    ColumnUse,
    FilledClasses,
    FilledNumbers,
    Findings,
    Gain,
    Helped,
    Histogram,
    LeftOutClasses,
    LeftOutNumbers,
    Note,
    Reason,
    RowMap,
    ShownRow,
    confidence_edges,
    eigenmap,
    gain_of_classes,
    gain_of_numbers,
    least_sure,
    number_edges,
    render,
    suspect_classes,
    suspect_numbers,
)
from halfmoon.report.wording import number

COMPARED = ("y", "average", "twin")

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'><svg onload=alert(3)>",
    '=HYPERLINK("http://example.invalid","click")',
    "a\x00b\x07c\x1b[31m\r\nd\te",
    "\u202egnp.exe\u2066 \u200b\ufeff\u200f",
    "</style><script>alert(4)</script>",
    "</title><script>alert(5)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "$\\frac{1}{0$ & <b>bold</b>",
    "\ud800 half a pair",
    "אבג — 中文 — 😀",
    "x" * 10_000,
    "e" + "\u0301" * 500,
)


def by_class(model, values):
    """The classes of values of leave-one-out."""
    return model.classes_[scores_by_class(values).argmax(axis=1)].astype(str)


def about(source, target, kind, names, n, labeled, **rest):
    """What every example has."""
    return {
        "source": source,
        "target": target,
        "kind": kind,
        "rows": n,
        "labeled": labeled,
        "predicted": n - labeled,
        "unlabeled_used": n - labeled,
        "columns": (
            *(ColumnUse(name, "number", 0.0, "feature") for name in names),
            ColumnUse(target, "category", 1 - labeled / n, "target"),
            ColumnUse("id", "number", 0.0, "left out", "a different value in each row"),
        ),
        "blanks": (("", n - labeled),),
        "shown_columns": tuple(names[:6]),
        "settings": (
            ("target", target),
            ("kind", f"{kind} (detected)"),
            ("budget", "60 seconds"),
            ("memory", "512 MB"),
            ("seed", "0"),
        ),
        "versions": (("halfmoon", "0.5.0"), ("Python", "3.13.1"), ("NumPy", "2.4.0")),
        "command": f"halfmoon fill {source} --target {target} --seed 0",
        "seconds": 12.3,
        "date": "2026-11-16 06:00 UTC",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        **rest,
    }


def distributions(X, names, given):
    """Each column, for labeled and for unlabeled rows; the last as a category."""
    found = []
    for j, name in enumerate(names[:6]):
        edges = number_edges(X[:, j])
        one, two = (Histogram.of(X[some, j], edges) for some in (given, ~given))
        found.append(ColumnDistribution(name, one, two))
    return (
        *found,
        ColumnDistribution(
            "island", {"Torgersen": 0.5, "Biscoe": 0.5}, {"Biscoe": 0.4, "Dream": 0.6}
        ),
    )


def of_classes(source, target, table, n_labeled, budget, wrong=0):
    """Findings of a run with most labels blanked, and a few given ones made wrong."""
    X, names = table.data, [str(name) for name in table.feature_names]
    classes = np.array([str(name) for name in table.target_names])
    truth = classes[table.target]
    rng = np.random.default_rng(0)
    first = [rng.choice(np.flatnonzero(truth == c), 2, replace=False) for c in classes]
    first = np.concatenate(first)
    others = rng.permutation(np.setdiff1d(np.arange(len(X)), first))
    chosen = np.sort(np.concatenate([first, others])[:n_labeled])
    y = np.full(len(X), None, dtype=object)
    y[chosen] = truth[chosen]
    for row in chosen[:: max(1, len(chosen) // max(1, wrong))][:wrong]:
        y[row] = classes[(np.flatnonzero(classes == truth[row])[0] + 1) % len(classes)]
    model = HalfmoonClassifier(random_state=0, budget=budget).fit(X, y)
    held = model._held_out()
    scores = held.values
    if scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    p_left = probabilities(scores, model.temperature_)
    rows = chosen[held.rows]
    given, best = y[rows].astype(str), p_left.argmax(axis=1)
    codes = np.searchsorted(model.classes_, y[rows])
    predicted = model.classes_[best].astype(str)
    p = model.predict_proba(X)
    order = np.argsort(-p, axis=1)
    values, confidence = model.classes_[order[:, 0]], p.max(axis=1)
    blank = y == None  # noqa: E711
    cells = [tuple(f"{cell:g}" for cell in row[:6]) for row in X]
    shown = np.flatnonzero(blank)[least_sure(confidence[blank], 12)]
    p_given = p_left[np.arange(len(rows)), codes]
    found = eigenmap(X, rng, 2000, keep=~blank)
    labels = np.where(blank, values, y)[found.rows].astype(str)

    def counts(some):
        return {str(c): int((some == c).sum()) for c in np.unique(some)}

    return Findings(
        **about(source, target, "classes", names, len(X), len(chosen)),
        helped=Helped.from_comparison(
            model.comparison_,
            used_unlabeled=model.used_unlabeled_,
            gain=gain_of_classes(
                *(by_class(model, model._cross_fitted[name]) for name in COMPARED),
                rows=len(X) - len(chosen),
            ),
        ),
        left_out=LeftOutClasses(
            tuple(given), tuple(predicted), p_left.max(axis=1), p_given
        ),
        filled=FilledClasses(
            counts(given),
            counts(values[blank].astype(str)),
            Histogram.of(confidence[blank], confidence_edges()),
            float(confidence[blank].mean()),
            {c: confidence[blank & (values == c)].mean() for c in np.unique(values)},
        ),
        map=RowMap(
            found.points,
            tuple(labels),
            ~blank[found.rows],
            np.where(blank, confidence, np.nan)[found.rows],
            found.note,
        ),
        least_sure=tuple(
            ShownRow(
                int(i) + 1,
                cells[i],
                str(values[i]),
                str(model.classes_[order[i, 1]]),
                float(confidence[i]),
            )
            for i in shown
        ),
        suspects=tuple(
            ShownRow(
                int(rows[k]) + 1,
                cells[rows[k]],
                str(predicted[k]),
                confidence=float(p_left[k].max()),
                given=str(given[k]),
            )
            for k in suspect_classes(given, predicted, p_given)
        ),
    )


def of_numbers(source, target, table, n_labeled, budget, wrong=0):
    X, names = table.data, [str(name) for name in table.feature_names]
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(len(X), n_labeled, replace=False))
    y = np.full(len(X), np.nan)
    y[chosen] = table.target[chosen]
    y[chosen[:wrong]] = 10 * table.target.max()
    model = HalfmoonRegressor(random_state=0, budget=budget).fit(X, y)
    held = model._held_out()
    given, left = held.y[:, 0], held.values[:, 0]
    rows = chosen[held.rows]
    half = float(np.quantile(np.abs(given - left), 0.9))
    values, std = model.predict(X, return_std=True)
    width = half * std / std.mean()
    blank = np.isnan(y)
    edges = number_edges(given)
    found = eigenmap(X, rng, 2000, keep=~blank)
    cells = [tuple(f"{cell:.3g}" for cell in row[:6]) for row in X]
    shown = np.flatnonzero(blank)[least_sure(-width[blank], 12)]

    def row(i, value, **rest):
        low, high = number(value - width[i]), number(value + width[i])
        return ShownRow(int(i) + 1, cells[i], number(value), low=low, high=high, **rest)

    return Findings(
        **about(source, target, "numbers", names, len(X), len(chosen)),
        helped=Helped.from_comparison(
            model.comparison_,
            used_unlabeled=model.used_unlabeled_,
            gain=gain_of_numbers(
                *(model._cross_fitted[name][:, 0] for name in COMPARED),
                rows=len(X) - len(chosen),
            ),
        ),
        left_out=LeftOutNumbers(given, left, left - half, left + half, 0.9),
        filled=FilledNumbers(
            Histogram.of(given, edges),
            Histogram.of(values[blank], edges),
            float(2 * width[blank].mean()),
        ),
        map=RowMap(
            found.points,
            np.where(blank, values, y)[found.rows],
            ~blank[found.rows],
            np.where(blank, 2 * width, np.nan)[found.rows],
            found.note,
        ),
        least_sure=tuple(row(i, values[i]) for i in shown),
        suspects=tuple(
            row(rows[k], left[k], given=number(given[k]))
            for k in suspect_numbers(
                given, left, left - width[rows], left + width[rows]
            )
        ),
    )


def decorated(findings, importance):
    """Everything that a report can show, added to findings of a run."""
    own = [use for use in findings.columns if use.role == "feature"]
    columns = [
        replace(use, importance=value, reading="written with $ and commas" * (k == 1))
        for k, (use, value) in enumerate(zip(own, importance, strict=False))
    ]
    labels = [row.given or row.prediction for row in findings.least_sure]

    def explained(rows):
        return tuple(
            replace(
                row,
                speaks_for=tuple(Reason(12 + 3 * k, labels[0], 0.3) for k in range(3)),
                speaks_against=(Reason(5, labels[-1], -0.1),),
            )
            for row in rows
        )

    return replace(
        findings,
        columns=(*columns, *findings.columns[len(columns) :]),
        least_sure=explained(findings.least_sure),
        next_rows=explained(findings.least_sure[1:9]),
        suspects=explained(findings.suspects or findings.least_sure[:2]),
        notes=(
            Note(
                "'Yes', 'yes ' and 'YES' look like one class.",
                "Merge them:",
                f"{findings.command} --merge-labels",
                important=True,
            ),
            Note("'id' was left out: it numbers the rows."),
            Note(
                "Predictions are better without 'created'.",
                "Leave it out:",
                f"{findings.command} --exclude created",
            ),
        ),
    )


@cache
def all_parts():
    """The flowers with everything that a report can show."""
    table = datasets.load_iris()
    given = np.arange(len(table.data)) % 10 == 0
    return replace(
        decorated(iris(), (0.012, -0.02, 0.31, 0.27)),
        distributions=distributions(table.data, table.feature_names, given),
    )


@cache
def all_parts_numbers():
    table = datasets.load_diabetes(scaled=False)
    given = np.arange(len(table.data)) % 7 == 0
    return replace(
        decorated(diabetes(), (0.1, 0.8, 12.5, 4.0, -0.6, 0.0, 1.5, 0.2, 9.1, 0.4)),
        distributions=distributions(table.data, table.feature_names, given),
    )


@cache
def iris():
    return of_classes("flowers.csv", "species", datasets.load_iris(), 15, 5.0)


@cache
def digits(n_labeled=120, budget=20.0):
    table = datasets.load_digits()
    return of_classes("digits.parquet", "digit", table, n_labeled, budget, wrong=4)


@cache
def diabetes():
    table = datasets.load_diabetes(scaled=False)
    return of_numbers("patients.tsv", "progression", table, 60, 5.0)


def made_up(classes, n=400, labeled=60, seed=0):
    """Findings without a run: labels and numbers at random."""
    rng = np.random.default_rng(seed)
    c = len(classes)
    codes = rng.integers(0, c, n)
    codes[: min(c, n)] = np.arange(min(c, n))
    given = np.arange(n) < labeled
    confidence = rng.uniform(1 / c, 1, n)
    predicted = np.where(rng.uniform(size=n) < 0.8, codes, rng.integers(0, c, n))
    names = np.array(classes, dtype=object)

    def tally(some):
        return {str(names[k]): int((some == k).sum()) for k in np.unique(some)}

    shown = tuple(
        ShownRow(
            i + 1,
            tuple(classes[(i + j) % c] for j in range(6)),
            classes[i % c],
            classes[(i + 1) % c],
            float(confidence[i]),
            given=classes[(i + 2) % c],
        )
        for i in range(min(14, n))
    )
    return Findings(
        **about(
            "table.csv", "kind", "classes", [f"c{i}" for i in range(6)], n, labeled
        ),
        helped=Helped(
            False, Gain("classes", n - labeled, labeled, 7, 6, 1 / 30, -0.05, 0.1)
        ),
        left_out=LeftOutClasses(
            tuple(names[codes[given]]),
            tuple(names[predicted[given]]),
            confidence[given],
            np.where(codes == predicted, confidence, (1 - confidence) / c)[given],
        ),
        filled=FilledClasses(
            tally(codes[given]),
            tally(predicted[~given]),
            Histogram.of(confidence[~given], confidence_edges()),
            float(confidence[~given].mean()) if labeled < n else float("nan"),
        ),
        map=RowMap(
            rng.normal(size=(n, 2)),
            tuple(names[np.where(given, codes, predicted)]),
            given,
            np.where(given, np.nan, confidence),
        ),
        least_sure=shown,
        suspects=shown[:3],
    )


def hostile():
    """Every text that can come from a table is one that tries to do harm."""
    n = len(HOSTILE)
    base = made_up(HOSTILE, n=80, labeled=30)
    return replace(
        base,
        source=HOSTILE[0],
        target=HOSTILE[1],
        columns=tuple(
            ColumnUse(text, "text", 0.25, "left out", HOSTILE[i - 1], HOSTILE[i - 2], i)
            for i, text in enumerate(HOSTILE)
        ),
        blanks=tuple((text, 3) for text in HOSTILE[:6]),
        shown_columns=tuple(HOSTILE[(i + 5) % n] for i in range(6)),
        settings=tuple((text, HOSTILE[-i - 1]) for i, text in enumerate(HOSTILE)),
        versions=((HOSTILE[6], HOSTILE[7]),),
        command=f"halfmoon fill '{HOSTILE[0]}' --target '{HOSTILE[1]}'",
        date=HOSTILE[8],
        sha256=HOSTILE[2],
        notes=(
            Note(HOSTILE[0], HOSTILE[1], HOSTILE[2], important=True),
            Note(HOSTILE[6], HOSTILE[7], HOSTILE[0]),
            Note("A plain warning."),
        ),
        next_rows=tuple(
            replace(
                row,
                speaks_for=(Reason(3, HOSTILE[0], 0.5), Reason(4, HOSTILE[5], 0.5)),
                speaks_against=(Reason(5, HOSTILE[6], -0.5),),
            )
            for row in base.least_sure
        ),
        distributions=tuple(
            ColumnDistribution(text, {text: 0.5, HOSTILE[0]: 0.5}, {HOSTILE[4]: 1.0})
            for text in HOSTILE
        ),
    )


def two_labels():
    """The least there can be."""
    nothing = Helped(False, Gain("classes", 3, 0, 0, 0, np.nan, np.nan, np.nan))
    return replace(
        made_up(["no", "yes"], n=5, labeled=2),
        helped=nothing,
        map=None,
        least_sure=(),
        suspects=(),
        blanks=(),
        notes=(Note("Two labels are very few."),),
    )


def sixty_classes():
    names = [f"district number {i} of the greater city area" for i in range(60)]
    return made_up(names, n=2000, labeled=300)


def hundred_classes():
    """Many classes of which few are wrong, long decimals and free text."""
    names = [f"{i:03d}" for i in range(100)]
    base = made_up(names, n=3000, labeled=400)
    given = base.left_out.given
    predicted = tuple(names[1] if i % 100 == 7 else g for i, g in enumerate(given))
    text = "The package came late and the box was open, so that I sent it back at once."

    def messy(row):
        cells = (f"{row.number / 7:.16f}", text, *row.cells[2:5], "x" * 80)
        return replace(row, cells=cells)

    return replace(
        base,
        left_out=replace(base.left_out, predicted=predicted),
        least_sure=tuple(map(messy, base.least_sure)),
        suspects=tuple(map(messy, base.suspects)),
    )


def long_names():
    names = [
        f"a rather long name without{'_' * 3}any_place_to_break_{i}" for i in (1, 2)
    ]
    base = made_up(names)
    long = "a_column_name_of_a_hundred_characters_" * 3
    return replace(
        base,
        target=long,
        source=f"{long}.csv",
        shown_columns=(long,) * 6,
        command=f"halfmoon fill {long}.csv --target {long}",
        columns=tuple(
            ColumnUse(f"{long}{i}", "number", 0, "feature") for i in range(9)
        ),
    )


EXAMPLES = {
    "iris": iris,
    "digits": digits,
    "diabetes": diabetes,
    "all-parts": all_parts,
    "all-parts-numbers": all_parts_numbers,
    "hostile": hostile,
    "two-labels": two_labels,
    "sixty-classes": sixty_classes,
    "hundred-classes": hundred_classes,
    "long-names": long_names,
}


@cache
def page_of(name):
    """The report on an example, made once."""
    return render(EXAMPLES[name]())
