"""``halfmoon.fill``: fill the blank labels of a data frame.

The frame takes the same path as a file: two passes, the same model, the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from halfmoon.memory import parse_bytes
from halfmoon.report.findings import Findings, ShownRow
from halfmoon.report.illustrations import of_filled, of_quality
from halfmoon.report.page import render
from halfmoon.report.tiles import tiles
from halfmoon.table.allowance import resident_bytes
from halfmoon.table.errors import CommandError
from halfmoon.table.files.frame import FrameTable, library_of
from halfmoon.table.files.frame_writer import FrameWriter, taken_rows, with_columns
from halfmoon.table.fill import Filled, fill_targets
from halfmoon.table.in_python import CALL
from halfmoon.table.model import TableModel
from halfmoon.table.record import record_of
from halfmoon.table.selection import existing
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages
from halfmoon.table.story import findings_of

__all__ = ["FilledFrame", "Report", "fill"]

LOW_HIGH = ("low", "high")
TILE = "text-align:left;vertical-align:top;max-width:11em;padding:0 1.5em 1em 0"
SEVERAL = ("features", "exclude", "known")  # options that take several columns


@overload
def fill(
    frame: Any, target: str, *, stages: Stages | None = None, **options: Any
) -> FilledFrame: ...
@overload
def fill(
    frame: Any,
    target: Sequence[str],
    *,
    stages: Stages | None = None,
    **options: Any,
) -> dict[str, FilledFrame]: ...
def fill(
    frame: Any,
    target: str | Sequence[str],
    *,
    stages: Stages | None = None,
    **options: Any,
) -> FilledFrame | dict[str, FilledFrame]:
    """Fill the blank labels of a data frame.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns may be numbers, text, categories, dates or truth values, and cells may
        be missing. The index of pandas is not learned from. The frame is not changed.
    target : str or sequence of str
        The column with labels and blanks. Of several none learns from another.
    stages : Stages or None
        Told how far it has come.
    **options
        The fields of `halfmoon.table.Settings`: ``features``, ``exclude``, ``known``,
        ``unlabeled``, ``task``, ``sets``, ``low``, ``high``, ``level``, ``budget``,
        ``seed`` and so on. ``memory`` is what the work may take beside what the process
        holds already.

    Returns
    -------
    FilledFrame, or dict of str to FilledFrame
        With ``table``, ``report``, ``model``, ``suspects`` and ``next_rows``. For
        several targets one for each, by its name; they share the table.

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
    if library_of(frame) is None:
        raise CommandError(
            f"frame is a {type(frame).__name__}; a data frame of pandas or polars, or "
            f"a table of pyarrow, is needed. For a file, use halfmoon.table.fill_table."
        )
    table, new = FrameTable(frame), FrameWriter()
    one = isinstance(target, str) or not isinstance(target, Sequence)
    names = [str(target)] if one else [str(name) for name in target]
    settings = _settings(names, options)
    for each in settings:
        if not each.ends:  # otherwise it may be a new column
            existing(each.target, table.columns, "the target")
    allowed = str(resident_bytes() + _bytes(settings[0].memory))
    several = [replace(each, memory=allowed) for each in settings]
    filled = fill_targets(table, new, several, stages=stages)
    done = new.onto(frame)
    results = {
        name: FilledFrame(frame, done, each, asked, name)
        for name, each, asked in zip(names, filled, settings, strict=True)
    }
    return results[names[0]] if one else results


@dataclass(eq=False)
class FilledFrame:
    """What came of filling a data frame; made by `halfmoon.fill`.

    Attributes
    ----------
    frame : data frame
        As it was given.
    table : data frame
        With its blanks filled in, and new columns: ``TARGET_source`` (given or
        predicted), and ``TARGET_confidence`` for classes or ``TARGET_low`` and
        ``TARGET_high`` for numbers. Index and types are those of the frame: what is
        predicted for a column of whole numbers is rounded.
    filled : Filled
        The run in detail.
    settings : Settings
    target : str
    report : Report
        The page that ``halfmoon fill`` writes.
    model : TableModel
        ``model.predict(df)`` takes new rows, and `halfmoon.save` keeps it.
    suspects : data frame
        Rows whose given label looks wrong, the most doubtful first, with
        ``TARGET_predicted`` and how sure that is.
    next_rows : data frame
        Rows to label next, with what was filled into them.
    summary : list of str
        The run in a few sentences.
    """

    frame: Any
    table: Any
    filled: Filled
    settings: Settings
    target: str

    @property
    def model(self) -> TableModel:
        """The model that filled the frame."""
        return self.filled.model

    @cached_property
    def findings(self) -> Findings:
        """Everything that the report tells."""
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
        """The run in a few sentences, and what the user should know."""
        return [*self.record["summary"], *self.record["notes"]]

    @cached_property
    def report(self) -> Report:
        """The page that ``halfmoon fill`` writes."""
        return Report(render(self.findings))

    @property
    def suspects(self) -> Any:
        """Rows whose given label looks wrong, and what is predicted for them."""
        shown = self.findings.suspects
        added: dict[str, list[Any]] = {"predicted": [row.prediction for row in shown]}
        if self.findings.kind == "classes":
            added["confidence"] = [row.confidence for row in shown]
        else:
            added |= {end: [getattr(row, end) for row in shown] for end in LOW_HIGH}
        return with_columns(
            taken_rows(self.frame, _positions(shown)),
            {},
            {f"{self.target}_{name}": _column(x) for name, x in added.items()},
        )

    @property
    def next_rows(self) -> Any:
        """Rows to label next, with what was filled into them."""
        shown = self.findings.next_rows or self.findings.least_sure
        return taken_rows(self.table, _positions(shown))

    def __repr__(self) -> str:
        return "\n".join(self.record["summary"])

    def _repr_html_(self) -> str:
        """For notebooks: the sentences, the key figures and a few pictures."""
        said = "".join(f"<p>{escape(text)}</p>" for text in self.summary)
        figures = "".join(
            f"<td style='{TILE}'>{escape(tile.name)}<br><b>"
            f"{escape(tile.figure)}</b><br><small>{escape(tile.note)}</small></td>"
            for tile in tiles(self.findings)
        )
        pictures = "".join(
            f"<img src='{escape(each.picture.uri)}' alt='{escape(each.picture.alt)}' "
            f"style='background:white;max-width:24em'>"
            for each in (*of_quality(self.findings)[:1], *of_filled(self.findings)[:1])
        )
        return f"<div>{said}<table><tr>{figures}</tr></table>{pictures}</div>"

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
    """A page of HTML that needs nothing but itself.

    Attributes
    ----------
    html : str
    """

    html: str

    def save(self, path: str | Path) -> None:
        """Write the page to a file; one that is there is replaced."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Report({len(self.html):,} characters of HTML; .save('report.html'))"

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox '
            f'style="width:100%;height:40em;border:0"></iframe>'
        )


def _settings(targets: list[str], options: dict[str, Any]) -> list[Settings]:
    """Settings for each target; in the options one name may stand for several."""
    if not targets:
        raise CommandError("No target is named; give the column with the blanks.")
    known = [each.name for each in fields(Settings) if each.name != "target"]
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1, cutoff=0.5)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise CommandError(
                f"fill has no option {name!r}.{hint} It has {', '.join(known)}."
            )
    several = {
        name: (value,) if isinstance(value, str) else tuple(value)
        for name, value in options.items()
        if name in SEVERAL
    }
    return [Settings(target, **(options | several)) for target in targets]


def _bytes(memory: str | int) -> int:
    try:
        return parse_bytes(memory)
    except ValueError as error:
        raise CommandError(f"memory: {error}") from error


def _column(values: Sequence[Any]) -> NDArray[Any]:
    """Numbers if all of them read as such, objects otherwise."""
    try:
        return np.array([np.nan if v is None else float(v) for v in values])
    except ValueError:
        return np.array(values, dtype=object)


def _positions(rows: Sequence[ShownRow]) -> list[int]:
    return [row.number - FrameTable.first_row for row in rows]
