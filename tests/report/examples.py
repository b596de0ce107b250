"""Findings of runs on small tables, and reports of all examples."""

from dataclasses import replace
from functools import cache

import numpy as np
from sklearn import datasets

from halfmoon import HalfmoonClassifier, HalfmoonRegressor
from halfmoon._estimators.classification import probabilities
from halfmoon._notes import Note
from halfmoon._number_format import number
from halfmoon._report.findings import (
    ColumnDistribution,
    FilledClasses,
    FilledNumbers,
    Findings,
    Histogram,
    LooClasses,
    LooNumbers,
    Reason,
    RowMap,
    ShownRow,
    confidence_edges,
    number_edges,
)
from halfmoon._report.report_page import render
from halfmoon._report.row_map import eigenmap
from halfmoon._report.rows_to_review import least_sure, suspect_classes, suspect_numbers
from halfmoon._report.unlabeled_gain import Helped, gain_of_classes, gain_of_numbers
from halfmoon._selection.criteria import class_scores
from report.made_up import (
    about,
    hostile,
    hundred_classes,
    long_names,
    sixty_classes,
    two_labels,
)

COMPARED = ("y", "average", "twin")


def by_class(model, values):
    """Return the classes that leave-one-out values predict."""
    return model.classes_[class_scores(values).argmax(axis=1)].astype(str)


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
    """Findings of a run with few labels, some of them wrong."""
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
    found = eigenmap(X, rng)
    labels = np.where(blank, values, y).astype(str)

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
        loo=LooClasses(tuple(given), tuple(predicted), p_left.max(axis=1), p_given),
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
            ~blank,
            np.where(blank, confidence, np.nan),
            found.note,
        ),
        next_rows=tuple(
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
    found = eigenmap(X, rng)
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
        loo=LooNumbers(given, left, left - half, left + half, 0.9),
        filled=FilledNumbers(
            Histogram.of(given, edges),
            Histogram.of(values[blank], edges),
            float(2 * width[blank].mean()),
        ),
        map=RowMap(
            found.points,
            np.where(blank, values, y),
            ~blank,
            np.where(blank, 2 * width, np.nan),
            found.note,
        ),
        next_rows=tuple(row(i, values[i]) for i in shown),
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
    labels = [row.given or row.prediction for row in findings.next_rows]

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
        next_rows=explained(findings.next_rows),
        suspects=explained(findings.suspects or findings.next_rows[:2]),
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
