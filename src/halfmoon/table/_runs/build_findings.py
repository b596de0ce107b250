"""Collect what a run found, for the report, the summary and the model file."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import halfmoon
from halfmoon._estimators.classification import probabilities_of_scores
from halfmoon._number_format import NO_UNIT
from halfmoon._report.findings import (
    FilledClasses,
    FilledNumbers,
    Findings,
    Histogram,
    LooClasses,
    LooNumbers,
    ReportColumn,
    RowMap,
    ShownRow,
)
from halfmoon._report.row_map import eigenmap
from halfmoon._report.rows_to_review import (
    MAX_REVIEW_ROWS,
    suspect_classes,
    suspect_numbers,
)
from halfmoon._report.unlabeled_gain import (
    Helped,
    UnlabeledGain,
    gain_of_classes,
    gain_of_numbers,
    tried_unlabeled,
)
from halfmoon._selection.criteria import class_scores
from halfmoon.queries import suspicious_labels
from halfmoon.queries._hidden_labels import HiddenLabels
from halfmoon.queries._learning_curve import Forecast, forecast_of
from halfmoon.table._cells.cell_values import row_texts
from halfmoon.table._labels.unrepresentative_labels import leave_out_a_part
from halfmoon.table._labels.weak_labels import Candidates, Ends
from halfmoon.table._models.predictions import Unsure, held_out_values, loo_prediction
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._models.weak_table_model import WeakTableModel
from halfmoon.table._parameter_text import with_command
from halfmoon.table._run_settings import Settings
from halfmoon.table._runs.column_findings import (
    Importance,
    column_distributions,
    column_importance,
)
from halfmoon.table._runs.first_pass import Scan
from halfmoon.table._runs.output_columns import Cells
from halfmoon.table._runs.row_reasons import reasons_of, shown_row
from halfmoon.table._runs.rows_to_label import rows_to_label
from halfmoon.table._runs.run_notes import (
    clumped_note,
    common_notes,
    leaking_columns,
    learning_notes,
    order_note,
)
from halfmoon.table._runs.second_pass import Filled

__all__ = ["filled_rows", "findings_of"]

MAP_ROWS = 2_000
SHOWN_COLUMNS = 6
MORE_LABELS = (50, 100, 200)  # for which the gain is forecast
FORECAST_LEVEL = 0.9
MAX_FORECAST_LABELS = 2_000  # beyond, a few hundred more labels gain next to nothing
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow")


def findings_of(
    filled: Filled,
    settings: Settings,
    *,
    source: str,
    command: str,
    for_page: bool = True,
) -> Findings:
    """Return everything that the report of a run on the table `source` shows.

    `command` repeats the run. Only `for_page` are the map, the forecast, the rows to
    label next and the distributions of columns computed.
    """
    model, scan, tally = filled.model, filled.scan, filled.tally
    if scan is None:
        raise ValueError("There is no report on a table that was not learned from.")
    # First, because reading cells again would count the unreadable ones twice.
    leaks = leaking_columns(model, scan)
    notes = [*learning_notes(model, scan, leaks), *common_notes(filled, learned=True)]
    weak = model if isinstance(model, WeakTableModel) else None
    if model.clumps_ is not None:
        notes.append(clumped_note(measured=model.hides_clumps))
    in_order = not weak and leave_out_a_part(scan.labels, scan.numbers, model.kind)
    if in_order:
        notes.append(order_note())
    importance = {} if weak else column_importance(model, scan.rows, settings.seed)
    columns = _columns(model, scan, importance)
    shown, cells = _shown_columns(columns), Cells.of(model)
    loo = model.left_out(as_given=True)
    doubted = _suspects(model, _as_text(loo))
    found = Findings(
        source=source,
        target=model.target,
        kind=model.kind,
        rows=scan.n_rows,
        labeled=scan.n_labeled,
        predicted=tally.n,
        unlabeled_used=scan.learned_unlabeled,
        columns=columns,
        blanks=tuple(scan.given.blanks.counts.items()),
        helped=_helped(model, scan.learned_unlabeled),
        loo=_as_text(model.left_out(by_clump=True)),
        filled=_filled(filled, scan),
        map=None,
        shown_columns=shown,
        suspects=_suspect_rows(
            model, doubted[:MAX_REVIEW_ROWS], loo, scan, shown, cells
        ),
        n_suspects=len(doubted),
        settings=tuple((name, _setting(x)) for name, x in asdict(settings).items()),
        versions=(
            ("halfmoon", halfmoon.__version__),
            ("Python", platform.python_version()),
            *((name, version(name)) for name in LIBRARIES),
        ),
        command=command,
        seconds=filled.seconds,
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        sha256=filled.sha256,
        notes=tuple(with_command(note, command) for note in notes),
        partial=weak.partial_labels(tally.n_within) if weak else None,
        shifted=leaks.shifted,
        unit=NO_UNIT if model.style_ is None else model.style_.unit,
        clumped=model.clumps_ is not None,
        in_order=in_order,
    )
    if not for_page:
        return found
    values = {name: x.value for name, x in importance.items()}
    measured = not weak and not found.clumped  # leave-one-out misses clumps
    return replace(
        found,
        map=_map(model, scan, settings.seed),
        next_rows=_rows_to_label(filled, scan, shown, cells, settings.seed),
        distributions=column_distributions(model.columns_.uses, scan, values),
        forecast=_forecast(model, tally.n, settings.seed) if measured else None,
    )


def filled_rows(filled: Filled, findings: Findings) -> list[ShownRow]:
    """Return the filled rows that were kept, the least sure first."""
    unsure, cells = filled.tally.unsure, Cells.of(filled.model)
    first_row = 1 if filled.scan is None else filled.scan.first_row
    shown = findings.shown_columns
    rows = map(unsure.row, range(len(unsure)))
    return [shown_row(row, shown, cells, first_row) for row in rows]


def _columns(
    model: TableModel, scan: Scan, importance: dict[str, Importance]
) -> tuple[ReportColumn, ...]:
    sampled = len(scan.labels) < scan.n_rows
    return tuple(
        ReportColumn(
            use.name,
            use.kind,
            use.missing,
            use.role,
            use.why,
            use.reading(sampled),
            *importance.get(use.name, (None, None)),
        )
        for use in model.columns_.uses
    )


def _shown_columns(uses: Sequence[ReportColumn]) -> tuple[str, ...]:
    """Return columns that identify a row: a name first, then the most important."""
    names = [use.name for use in uses if use.kind == "identifier"][:1]
    learned = [use for use in uses if use.role in ("known", "feature")]
    learned.sort(key=lambda use: -(use.importance or 0.0))
    return tuple([*names, *(use.name for use in learned)][:SHOWN_COLUMNS])


def _helped(model: TableModel, unlabeled: int) -> Helped:
    if isinstance(model, WeakTableModel):
        return Helped(model.estimator_.used_unlabeled_, model.gain(unlabeled))
    return Helped.from_comparison(
        model.estimator_.comparison_,
        used_unlabeled=model.estimator_.used_unlabeled_,
        gain=_gain(model, unlabeled),
    )


def _gain(model: TableModel, unlabeled: int) -> UnlabeledGain:
    """Return what unlabeled rows gained, on the labels that compared candidates.

    The fit in use, semi-supervised or its supervised twin, is the one of the headline.
    """
    values, used = model.estimator_._cross_fitted, model.estimator_.used_unlabeled_
    tried = tried_unlabeled(model.estimator_.comparison_)
    if model.hides_clumps or not tried:  # leave-one-out sees other labels of a clump
        l = len(values["y"])
        return UnlabeledGain(model.kind, unlabeled, l, *[np.nan] * 5)
    names = ("y", "answer", "twin") if used else ("y", "average", "answer")
    if model.kind == "numbers":
        y, with_rows, without = (values[name][:, 0] for name in names)
        return gain_of_numbers(y, with_rows, without, unlabeled)
    scores = [class_scores(values[name]) for name in names]
    n = len(scores[0])
    if model.ordered_ is not None and n == len(model.estimator_.labeled_):
        # The order of the classes changes both predictions.
        ranks = held_out_values(model, model.ordered_.regressor)
        for i, name in enumerate(names[1:], start=1):
            p = probabilities_of_scores(model.estimator_, values[name])
            scores[i] = model.ordered_.left_out(np.arange(n), p, *ranks)
    classes = model.estimator_.classes_
    given, with_rows, without = (
        [str(x) for x in classes[each.argmax(axis=1)]] for each in scores
    )
    return gain_of_classes(given, with_rows, without, unlabeled)


def _forecast(model: TableModel, blanks: int, seed: int) -> Forecast | None:
    """Forecast the gain of more labels, at most as many as there are blanks."""
    more = np.array([n for n in MORE_LABELS if n <= blanks], dtype=np.intp)
    if not len(more) or model.estimator_.n_labeled_ > MAX_FORECAST_LABELS:
        return None
    labels = HiddenLabels.of_fitted(model.estimator_)
    try:
        return forecast_of(labels, more, FORECAST_LEVEL, np.random.default_rng(seed))
    except ValueError:  # the labels are too few, or all alike
        return None


def _as_text(loo: LooClasses | LooNumbers) -> LooClasses | LooNumbers:
    """Return leave-one-out predictions with classes as text."""
    if isinstance(loo, LooNumbers):
        return loo
    given, predicted = (
        tuple(map(str, labels)) for labels in (loo.given, loo.predicted)
    )
    return replace(loo, given=given, predicted=predicted)


def _filled(filled: Filled, scan: Scan) -> FilledClasses | FilledNumbers:
    tally = filled.tally
    given = [label for label in _exact_labels(scan) if label is not None]
    if filled.model.kind == "classes":
        return FilledClasses(
            Counter(map(str, given)),
            Counter({str(name): n for name, n in tally.classes.items()}),
            tally.histogram,
            tally.mean,
            {str(name): mean for name, mean in tally.mean_of_classes().items()},
        )
    histogram = Histogram.of(list(map(float, given)), tally.edges)
    return FilledNumbers(histogram, tally.histogram, tally.mean)


def _exact_labels(scan: Scan) -> list[Any]:
    """Return the labels that were learned from; None for blanks and partial ones."""
    return [
        label.exact if isinstance(label, (Candidates, Ends)) else label
        for label in scan.labels
    ]


def _map(model: TableModel, scan: Scan, seed: int) -> RowMap:
    """Map a sample of the rows that were learned from to the plane."""
    labels = _exact_labels(scan)
    is_labeled = np.array([label is not None for label in labels])
    rng = np.random.default_rng(seed)
    places = _map_sample(is_labeled, rng)
    rows, given = scan.rows.take(places), is_labeled[places]
    found = eigenmap(model.transform(rows), rng)
    prediction = model.predict(rows)
    values = [
        labels[place] if is_labeled[place] else value
        for place, value in zip(places, prediction.values, strict=True)
    ]
    classes = model.kind == "classes"
    doubt: Any = prediction.confidence if classes else prediction.doubt
    return RowMap(
        found.points,
        tuple(map(str, values)) if classes else np.array(values, dtype=np.float64),
        given,
        np.where(given, np.nan, doubt),
        found.note,
    )


def _map_sample(
    is_labeled: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw the rows of the map; at most half are labeled if there are enough others."""
    labeled, unlabeled = np.flatnonzero(is_labeled), np.flatnonzero(~is_labeled)
    most = max(MAP_ROWS // 2, MAP_ROWS - len(unlabeled))
    labeled = rng.permutation(labeled)[:most]
    unlabeled = rng.permutation(unlabeled)[: MAP_ROWS - len(labeled)]
    return np.sort(np.concatenate([labeled, unlabeled]))


def _rows_to_label(
    filled: Filled, scan: Scan, shown: Sequence[str], cells: Cells, seed: int
) -> tuple[ShownRow, ...]:
    model, unsure, first = filled.model, filled.tally.unsure, scan.first_row
    found = rows_to_label(model, scan, unsure, MAX_REVIEW_ROWS, seed)
    if not found:
        return ()
    kept, numbers = (
        (unsure.table(), unsure.numbers)
        if isinstance(model, WeakTableModel)
        else (scan.rows, scan.numbers)
    )
    places = {int(number): i for i, number in enumerate(numbers)}
    rows = kept.take(pa.array([places[row.number] for row in found]))
    reasons = reasons_of(model, rows, first, [row.prediction.value for row in found])
    return tuple(
        shown_row(row, shown, cells, first, reasons=why)
        for row, why in zip(found, reasons, strict=True)
    )


def _suspects(model: TableModel, loo: LooClasses | LooNumbers) -> NDArray[np.intp]:
    """Return which given labels look wrong, the most suspicious first."""
    if isinstance(loo, LooNumbers):
        return suspect_numbers(loo.given, loo.predicted, loo.low, loo.high)
    chosen = suspect_classes(loo.given, loo.predicted, loo.given_probability)
    if len(chosen) < 2 or isinstance(model, WeakTableModel):
        return chosen
    found = suspicious_labels(model.estimator_).row
    rank = {int(row): i for i, row in enumerate(found)}
    return np.array(sorted(chosen, key=lambda i: rank[int(loo.rows[i])]), dtype=np.intp)


def _suspect_rows(
    model: TableModel,
    chosen: NDArray[np.intp],
    loo: LooClasses | LooNumbers,
    scan: Scan,
    shown: Sequence[str],
    cells: Cells,
) -> tuple[ShownRow, ...]:
    places = loo.rows[chosen]
    rows, numbers = scan.rows.take(pa.array(places)), scan.numbers[places].tolist()
    predictions, first = [loo_prediction(loo, i) for i in chosen], scan.first_row
    values = [prediction.value for prediction in predictions]
    reasons = reasons_of(model, rows, first, values, numbers)
    found = map(Unsure, numbers, row_texts(rows), predictions)
    return tuple(
        shown_row(row, shown, cells, first, loo.given[place], why)
        for row, place, why in zip(found, chosen, reasons, strict=True)
    )


def _setting(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) if value else "-"
    return "-" if value is None else str(value)
