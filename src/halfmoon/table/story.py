"""What a run found out, gathered for the report, the summary and the model file."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import halfmoon
from halfmoon.estimators.left_out_classes import chances_of_scores
from halfmoon.queries.forecast import Forecast, forecast_of
from halfmoon.queries.hidden_labels import HiddenLabels
from halfmoon.report.eigenmap import eigenmap
from halfmoon.report.findings import (
    ColumnUse,
    FilledClasses,
    FilledNumbers,
    Findings,
    Helped,
    LeftOutClasses,
    LeftOutNumbers,
    RowMap,
    ShownRow,
)
from halfmoon.report.gain import Gain, gain_of_classes, gain_of_numbers
from halfmoon.report.histogram import Histogram
from halfmoon.report.picks import SHOWN, suspect_classes, suspect_numbers
from halfmoon.rows import Array
from halfmoon.selection import class_scores
from halfmoon.table.cells import Cells
from halfmoon.table.column_importance import column_importance
from halfmoon.table.distributions import column_distributions
from halfmoon.table.explanations import reasons_of, with_reasons
from halfmoon.table.fill import Filled
from halfmoon.table.model import TableModel
from halfmoon.table.next_rows import next_rows
from halfmoon.table.notes import common_notes, learning_notes, with_command
from halfmoon.table.predictions import LeftOut
from halfmoon.table.scan import Scan
from halfmoon.table.settings import Settings
from halfmoon.table.tally import Tally
from halfmoon.table.unsure_rows import Unsure, as_text
from halfmoon.table.weak_labels import Candidates, Ends
from halfmoon.table.weak_model import WeakTableModel

__all__ = ["filled_rows", "findings_of"]

MAPPED = 2_000  # rows on the map
SHOWN_COLUMNS = 6
MORE_LABELS = (50, 100, 200)  # what they would buy is forecast
FORECAST_LEVEL = 0.9
LIBRARIES = ("numpy", "scipy", "scikit-learn", "skrub", "pandas", "pyarrow")


def findings_of(
    filled: Filled,
    settings: Settings,
    *,
    source: str,
    command: str,
    with_map: bool = True,
) -> Findings:
    """Everything that the report tells of a run.

    Parameters
    ----------
    filled : Filled
    settings : Settings
    source : str
        Name of the table.
    command : str
        That repeats the run.
    with_map : bool
        With the map and the forecast, which take a second or two.
    """
    model, scan, tally = filled.model, filled.scan, filled.tally
    if scan is None:
        raise ValueError("There is no report on a table that was not learned from.")
    # First: what follows reads cells again, of which the unreadable ones are counted.
    notes = tuple(
        with_command(note, command)
        for note in (*learning_notes(filled), *common_notes(filled))
    )
    left_out = model.left_out()
    doubted = _doubted(left_out)
    weak = model if isinstance(model, WeakTableModel) else None
    importance = {} if weak else column_importance(model, scan.rows, settings.seed)
    columns = tuple(
        ColumnUse(
            use.name,
            use.kind,
            use.missing,
            use.role,
            use.why,
            use.reading(sampled=len(scan.labels) < scan.n_rows),
            importance.get(use.name),
        )
        for use in model.columns_
    )
    shown, cells = _shown_columns(columns), Cells.of(model)
    to_label = _rows_to_label(filled, scan, shown, cells)
    return Findings(
        source=source,
        target=model.target,
        kind=model.kind,
        rows=scan.n_rows,
        labeled=scan.n_labeled,
        predicted=tally.n,
        unlabeled_used=scan.learned_unlabeled,
        columns=columns,
        blanks=tuple(scan.blanks.counts.items()),
        helped=_helped(model, scan.learned_unlabeled),
        left_out=_left_out(left_out, model),
        filled=_filled(scan, tally, model),
        map=_map(model, scan, settings.seed) if with_map else None,
        shown_columns=shown,
        least_sure=to_label,
        suspects=_suspects(model, doubted[:SHOWN], left_out, scan, shown, cells),
        n_suspects=len(doubted),
        settings=tuple((name, _setting(x)) for name, x in asdict(settings).items()),
        versions=_versions(),
        command=command,
        seconds=filled.seconds,
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        sha256=filled.sha256,
        notes=notes,
        next_rows=to_label,
        distributions=column_distributions(model.columns_, scan, importance),
        partial=weak.partial_labels(tally.n_within) if weak else None,
        forecast=None
        if weak or not with_map
        else _forecast(model, tally.n, settings.seed),
    )


def filled_rows(filled: Filled, findings: Findings) -> list[ShownRow]:
    """The filled rows that were kept, the least sure first, equal ones once."""
    unsure, cells = filled.tally.unsure, Cells.of(filled.model)
    first_row = 1 if filled.scan is None else filled.scan.first_row
    shown = findings.shown_columns
    return [_unsure(unsure.row(i), shown, cells, first_row) for i in range(len(unsure))]


def _helped(model: TableModel, rows: int) -> Helped:
    if isinstance(model, WeakTableModel):
        return model.helped(rows)
    return Helped.from_comparison(
        model.estimator_.comparison_,
        used_unlabeled=model.estimator_.used_unlabeled_,
        gain=_gain(model, rows),
    )


def _gain(model: TableModel, rows: int) -> Gain:
    """What unlabeled rows gained, on the labels that candidates were compared on.

    The one of the two that answers is the one that the headline tells of.
    """
    found, used = model.estimator_._cross_fitted, model.estimator_.used_unlabeled_
    names = ("y", "answer", "twin") if used else ("y", "average", "answer")
    if model.kind == "numbers":
        y, with_rows, without = (found[name][:, 0] for name in names)
        return gain_of_numbers(y, with_rows, without, rows)
    given, *both = (class_scores(found[name]) for name in names)
    if model.ordered_ is not None and len(given) == len(model.estimator_.labeled_):
        # What the places of the classes say goes with both answers.
        both = [
            model.ordered_.left_out(
                np.arange(len(given)), chances_of_scores(model.estimator_, found[name])
            )
            for name in names[1:]
        ]
    classes = model.estimator_.classes_
    truth, by_one, by_other = (
        [str(x) for x in classes[chances.argmax(axis=1)]] for chances in (given, *both)
    )
    return gain_of_classes(truth, by_one, by_other, rows)


def _forecast(model: TableModel, blanks: int, seed: int) -> Forecast | None:
    """What more labels would buy, no more of them than there are blanks."""
    more = np.array([n for n in MORE_LABELS if n <= blanks], dtype=np.intp)
    if not len(more):
        return None
    labels = HiddenLabels.of_fitted(model.estimator_)
    try:
        return forecast_of(labels, more, FORECAST_LEVEL, np.random.default_rng(seed))
    except ValueError:  # the labels are too few, or all alike
        return None


def _left_out(left_out: LeftOut, model: TableModel) -> LeftOutClasses | LeftOutNumbers:
    if model.kind == "classes":
        return LeftOutClasses(
            tuple(map(str, left_out.given)),
            tuple(map(str, left_out.predicted)),
            _numbers(left_out.confidence),
            _numbers(left_out.given_probability),
        )
    return LeftOutNumbers(
        _numbers(left_out.given),
        _numbers(left_out.predicted),
        _numbers(left_out.low),
        _numbers(left_out.high),
        model.level,
    )


def _numbers(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def _filled(
    scan: Scan, tally: Tally, model: TableModel
) -> FilledClasses | FilledNumbers:
    if model.kind == "classes":
        given = Counter(str(label) for label in _single(scan) if label is not None)
        predicted = Counter({str(k): count for k, count in tally.classes.items()})
        means = {str(name): mean for name, mean in tally.mean_of_classes().items()}
        return FilledClasses(given, predicted, tally.histogram, tally.mean, means)
    numbers = [float(label) for label in _single(scan) if label is not None]
    return FilledNumbers(
        Histogram.of(numbers, tally.edges), tally.histogram, tally.mean
    )


def _single(scan: Scan) -> list[Any]:
    """Labels of the rows that were learned from, without those known in part."""
    return [
        label.exact if isinstance(label, (Candidates, Ends)) else label
        for label in scan.labels
    ]


def _map(model: TableModel, scan: Scan, seed: int) -> RowMap:
    """Some of the rows that were learned from, the labeled ones first."""
    single = _single(scan)
    given = np.array([label is not None for label in single])
    rng = np.random.default_rng(seed)
    rows = _sample(given, rng)
    some = scan.rows.take(rows)
    found = eigenmap(model.transform(some), rng, MAPPED)
    prediction = model.predict(some)
    labels = [
        single[row] if given[row] else value
        for row, value in zip(rows, prediction.values, strict=True)
    ]
    if prediction.confidence is not None:
        doubt = prediction.confidence
    else:
        doubt = np.asarray(prediction.high) - np.asarray(prediction.low)
    return RowMap(
        found.points,
        tuple(map(str, labels))
        if model.kind == "classes"
        else np.array(labels, dtype=np.float64),
        given[rows],
        np.where(given[rows], np.nan, doubt),
        found.note,
    )


def _sample(given: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows for the map: half of them labeled at most, the rest at random."""
    labeled, others = np.flatnonzero(given), np.flatnonzero(~given)
    labeled = rng.permutation(labeled)[: max(MAPPED // 2, MAPPED - len(others))]
    others = rng.permutation(others)[: MAPPED - len(labeled)]
    return np.sort(np.concatenate([labeled, others]))


def _shown_columns(uses: Sequence[ColumnUse]) -> tuple[str, ...]:
    """Columns by which a reader knows a row: names first, then what matters most."""
    names = [use.name for use in uses if use.kind == "identifier"][:1]
    learned = [use for use in uses if use.role in ("known", "feature")]
    learned.sort(key=lambda use: -(use.importance or 0.0))  # stable where not measured
    return tuple([*names, *(use.name for use in learned)][:SHOWN_COLUMNS])


def _unsure(
    row: Unsure, shown: Sequence[str], cells: Cells, first_row: int
) -> ShownRow:
    return ShownRow(
        row.number + first_row,
        tuple(row.cells.get(name, "") for name in shown),
        cells.shown(row.value),
        cells.shown(row.second),
        row.confidence,
        cells.shown(row.low),
        cells.shown(row.high),
    )


def _doubted(left_out: LeftOut) -> NDArray[np.intp]:
    """Left-out rows whose given label looks wrong, the most doubtful first."""
    if left_out.given_probability is not None:
        return suspect_classes(
            [str(x) for x in left_out.given],
            [str(x) for x in left_out.predicted],
            _numbers(left_out.given_probability),
        )
    ends = (left_out.given, left_out.predicted, left_out.low, left_out.high)
    return suspect_numbers(*map(_numbers, ends))


def _rows_to_label(
    filled: Filled, scan: Scan, shown: Sequence[str], cells: Cells
) -> tuple[ShownRow, ...]:
    model, unsure = filled.model, filled.tally.unsure
    found = next_rows(model, unsure, SHOWN)
    if not found:
        return ()
    rows = unsure.rows_numbered([row.number for row in found])
    return with_reasons(
        [_unsure(row, shown, cells, scan.first_row) for row in found],
        reasons_of(model, rows, scan.first_row, [row.value for row in found]),
    )


def _suspects(
    model: TableModel,
    chosen: NDArray[np.intp],
    left_out: LeftOut,
    scan: Scan,
    shown: Sequence[str],
    cells: Cells,
) -> tuple[ShownRow, ...]:
    present = [name for name in shown if name in scan.rows.column_names]
    rows = []
    for i in chosen:
        at = int(left_out.rows[i])
        row = scan.rows.select(present).slice(at, 1).to_pylist()[0]
        rows.append(
            ShownRow(
                int(scan.numbers[at]) + scan.first_row,
                tuple(as_text(row.get(name)) for name in shown),
                cells.shown(left_out.predicted[i]),
                "",
                None if left_out.confidence is None else float(left_out.confidence[i]),
                "" if left_out.low is None else cells.shown(left_out.low[i]),
                "" if left_out.high is None else cells.shown(left_out.high[i]),
                cells.shown(left_out.given[i]),
            )
        )
    places = left_out.rows[chosen]
    reasons = reasons_of(
        model,
        scan.rows.take(pa.array(places)),
        scan.first_row,
        [left_out.predicted[i] for i in chosen],
        scan.numbers[places].tolist(),
    )
    return with_reasons(rows, reasons)


def _setting(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) if value else "-"
    return "-" if value is None else str(value)


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("halfmoon", halfmoon.__version__), ("Python", platform.python_version())]
    return (*found, *((name, version(name)) for name in LIBRARIES))
