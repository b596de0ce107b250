"""``halfmoon.fill``: fill the blank labels of a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from halfmoon._report.bar_charts import of_filled
from halfmoon._report.findings import Findings, ShownRow
from halfmoon._report.key_figures import key_figures
from halfmoon._report.quality_charts import of_quality
from halfmoon._report.report_page import render
from halfmoon.table._columns.column_names import did_you_mean, existing
from halfmoon.table._files.dask_table import DaskTable
from halfmoon.table._files.frame_rows import (
    how_to_convert,
    library_of,
    taken_rows,
    type_name,
)
from halfmoon.table._files.frame_table import FrameTable, FrameWriter, with_columns
from halfmoon.table._fill_table import fill_targets
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._parameter_text import CALL
from halfmoon.table._run_settings import Settings, Stages
from halfmoon.table._runs.build_findings import findings_of
from halfmoon.table._runs.run_costs import limit_with_held
from halfmoon.table._runs.run_summary import record_of
from halfmoon.table._runs.second_pass import Filled
from halfmoon.table._table_errors import CommandError

__all__ = ["FilledFrame", "Report", "fill"]

TILE = "text-align:left;vertical-align:top;max-width:11em;padding:0 1.5em 1em 0"


@overload
def fill(
    frame: Any, target: str, *, stages: Stages | None = None, **options: Any
) -> FilledFrame: ...
@overload
def fill(
    frame: Any, target: Iterable[str], *, stages: Stages | None = None, **options: Any
) -> dict[str, FilledFrame]: ...
def fill(
    frame: Any,
    target: str | Iterable[str],
    *,
    stages: Stages | None = None,
    **options: Any,
) -> FilledFrame | dict[str, FilledFrame]:
    """Fill the blank labels of a data frame.

    Parameters
    ----------
    frame : data frame of pandas, polars or Dask, or pyarrow.Table
        Columns may be numbers, text, categories, dates or truth values, and cells may
        be missing. The index of pandas is not learned from. The frame is not changed.
        A Dask frame is computed one partition at a time, three times.
    target : str or iterable of str
        The column with labels and blanks, or several. No target learns from another.
    stages : Stages or None
        Shows the progress.
    **options
        The fields of `halfmoon.table.Settings`: ``features``, ``exclude``, ``known``,
        ``unlabeled``, ``task``, ``sets``, ``low``, ``high``, ``level``, ``budget``,
        ``seed`` and so on. Here ``memory`` is the limit in addition to what the process
        holds already.

    Returns
    -------
    FilledFrame, or dict of str to FilledFrame
        With ``table``, ``report``, ``model``, ``suspects`` and ``next_rows``. Several
        targets have one each, by name; they share the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> flowers = load_iris(as_frame=True)
    >>> df = flowers.data.assign(species=flowers.target_names[flowers.target])
    >>> df.loc[df.index % 5 > 0, "species"] = None  # 30 labels are left
    >>> result = fill(df, "species", budget=5)
    >>> int(result.table["species"].isna().sum())
    0
    >>> list(result.table.columns[-2:])
    ['species_source', 'species_confidence']
    """
    library = library_of(frame)
    if library is None:
        how = how_to_convert(frame)
        if isinstance(frame, (str, Path)):
            how = " For a file, use halfmoon.table.fill_table."
        raise CommandError(
            f"frame is of type {type_name(frame)}, but must be a data frame of "
            f"pandas, polars or Dask, or a table of pyarrow.{how}"
        )
    table = FrameTable(frame) if library != "dask" else DaskTable(frame)
    new = FrameWriter()
    one = isinstance(target, str) or not isinstance(target, Iterable)
    names = [str(target)] if one else [str(name) for name in target]
    settings = _settings(names, options)
    for each in settings:
        if not each.ends:  # otherwise it may be a new column
            existing(each.target, table.columns, "the target")
    limit = limit_with_held(settings[0].memory)
    several = [replace(each, memory=limit) for each in settings]
    filled = fill_targets(table, new, several, stages=stages)
    done = table.filled(*new.columns())
    results = {
        name: FilledFrame(frame, done, each, asked, name)
        for name, each, asked in zip(names, filled, settings, strict=True)
    }
    return results[names[0]] if one else results


@dataclass(eq=False)
class FilledFrame:
    """A filled data frame, made by `halfmoon.fill`.

    Attributes
    ----------
    frame : data frame
        The input.
    table : data frame
        The frame with its blanks filled, and new columns: ``TARGET_source`` (given or
        predicted), and ``TARGET_confidence`` for classes or ``TARGET_low`` and
        ``TARGET_high`` for numbers. Index and types are those of the frame: predictions
        for a column of whole numbers are rounded. A Dask frame is lazy again; rows of
        it (``suspects``, ``next_rows``) are pandas frames.
    filled : Filled
        The run in detail.
    settings : Settings
    target : str
    """

    frame: Any
    table: Any
    filled: Filled
    settings: Settings
    target: str

    @property
    def model(self) -> TableModel:
        """The model, which predicts new rows; `halfmoon.save` keeps it."""
        return self.filled.model

    @cached_property
    def findings(self) -> Findings:
        """Everything that the report shows."""
        name = f"a {library_of(self.frame)} data frame"
        return findings_of(
            self.filled, self.settings, source=name, command=self._command()
        )

    @cached_property
    def record(self) -> dict[str, Any]:
        """The run as plain data, as ``halfmoon fill --json`` gives it."""
        return record_of(self.findings, self.settings)

    @property
    def summary(self) -> list[str]:
        """The run in a few sentences, with notes; rows count from 0, as in ``iloc``."""
        return [*self.record["summary"], *self.record["notes"]]

    @cached_property
    def report(self) -> Report:
        """The page that ``halfmoon fill`` writes."""
        return Report(render(self.findings))

    @property
    def suspects(self) -> Any:
        """Rows whose given label looks wrong, the most doubtful first.

        With ``TARGET_predicted`` and its confidence or interval.
        """
        shown = self.findings.suspects
        added: dict[str, list[Any]] = {"predicted": [row.prediction for row in shown]}
        if self.findings.kind == "classes":
            added["confidence"] = [row.confidence for row in shown]
        else:
            added["low"] = [row.low for row in shown]
            added["high"] = [row.high for row in shown]
        return with_columns(
            self._rows_at(self.frame, shown),
            {},
            {f"{self.target}_{name}": _column(x) for name, x in added.items()},
        )

    @property
    def next_rows(self) -> Any:
        """Rows to label next, with their predictions."""
        shown = self.findings.next_rows
        return self._rows_at(self.table, shown)

    def _rows_at(self, frame: Any, shown: Sequence[ShownRow]) -> Any:
        positions = [row.number - FrameTable.first_row for row in shown]
        if library_of(frame) == "dask":
            return DaskTable(frame).rows_at(positions)
        return taken_rows(frame, positions)

    def __repr__(self) -> str:
        return "\n".join(self.summary)

    def _repr_html_(self) -> str:
        """Show the sentences, the key figures and a few pictures in a notebook."""
        sentences = "".join(f"<p>{escape(text)}</p>" for text in self.summary)
        figures = "".join(
            f"<td style='{TILE}'>{escape(tile.name)}<br><b>"
            f"{escape(tile.figure)}</b><br><small>{escape(tile.note)}</small></td>"
            for tile in key_figures(self.findings)
        )
        pictures = "".join(
            f"<img src='{escape(each.uri)}' alt='{escape(each.alt)}' "
            f"style='background:white;max-width:24em'>"
            for each in (*of_quality(self.findings)[:1], *of_filled(self.findings)[:1])
        )
        return f"<div>{sentences}<table><tr>{figures}</tr></table>{pictures}</div>"

    def _command(self) -> str:
        """The call that repeats the run."""
        usual = {each.name: each.default for each in fields(Settings)}
        asked = [
            f"{name}={value!r}"
            for name, value in vars(self.settings).items()
            if name != "target" and value != usual[name]
        ]
        return f"{CALL}{', '.join(['df', repr(self.target), *asked])})"


@dataclass(frozen=True)
class Report:
    """A self-contained page of HTML.

    Attributes
    ----------
    html : str
    """

    html: str

    def save(self, path: str | Path) -> None:
        """Write the page to a file; an existing file is replaced."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Report({len(self.html):,} characters of HTML; .save('report.html'))"

    def _repr_html_(self) -> str:
        """Show the page in a frame of a notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox '
            f'style="width:100%;height:40em;border:0"></iframe>'
        )


def _settings(targets: list[str], options: dict[str, Any]) -> list[Settings]:
    if not targets:
        raise CommandError("No target is named. Name the column with the blanks.")
    known = [each.name for each in fields(Settings) if each.name != "target"]
    for name in options:
        if name not in known:
            raise CommandError(
                f"fill has no option {name!r}."
                f"{did_you_mean(name, known, likeness=0.7)} It has "
                f"{', '.join(known)}."
            )
    return [Settings(target, **options) for target in targets]


def _column(values: Sequence[Any]) -> NDArray[Any]:
    """Return texts as numbers if all of them are, as objects otherwise."""
    try:
        return np.array([np.nan if v is None else float(v) for v in values])
    except ValueError:
        return np.array(values, dtype=object)
