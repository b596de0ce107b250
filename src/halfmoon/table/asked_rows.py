"""Rows of a table to ask a person about: learned from, chosen, and read whole.

``margin`` looks at every row without a label; the other rules need the covariance of
the rows, and look at the sample that the model was learned from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from halfmoon.queries import informative, maximin, random, variance_reduction
from halfmoon.table.earlier_runs import earlier_runs
from halfmoon.table.explained_rows import rows_by_number
from halfmoon.table.files import Table
from halfmoon.table.learning import given_labels, learn
from halfmoon.table.model import TableModel
from halfmoon.table.next_rows import next_rows
from halfmoon.table.scan import Scan
from halfmoon.table.second_pass import Job
from halfmoon.table.settings import Settings
from halfmoon.table.stages import Stages
from halfmoon.table.unsure_rows import Unsure, unsure_of

__all__ = ["RULES", "asked_rows"]

RULES = {
    "margin": None,
    "informative": informative,
    "variance": variance_reduction,
    "maximin": maximin,
    "random": random,
}


def asked_rows(
    table: Table,
    settings: Settings,
    count: int,
    *,
    rule: str = "margin",
    typed: Mapping[int, str] | None = None,
    stages: Stages,
) -> tuple[TableModel, list[Unsure]]:
    """Learn from the labels of a table, and choose rows that are best labeled next.

    Parameters
    ----------
    table : table of `halfmoon.table.files`
    settings : Settings
    count : int
        Rows wanted; fewer come back where there are no more, or only copies.
    rule : "margin", "informative", "variance", "maximin" or "random"
        See `halfmoon.queries`.
    typed : mapping of int to str or None
        Labels that stand in no cell, by the number of the row, from 0.
    stages : Stages

    Returns
    -------
    model : TableModel
    rows : list of Unsure
        The most useful one first.
    """
    runs = earlier_runs(table)
    given = given_labels(table, settings, runs, typed)
    model, found = learn(table, settings, stages, runs, given)
    if rule == "margin":
        skip = [row.number for row in found.totals]
        job = Job(model, given.again(), skip, runs.get(settings.target, ()))
        for batch in table.batches(progress=stages.stage("Choosing rows")):
            job.columns(batch)
        return model, next_rows(model, job.tally.unsure, count)
    stages.stage("Choosing rows")
    return model, _by_covariance(table, model, found, count, RULES[rule], settings.seed)


def _by_covariance(
    table: Table, model: TableModel, found: Scan, count: int, rule: Any, seed: int
) -> list[Unsure]:
    labeled = np.array([label is not None for label in found.labels])
    X = model.transform(found.rows)
    count = min(count, int((~labeled).sum()))
    picks = rule(model.estimator_, X, count, labeled=labeled, random_state=seed)
    numbers = found.numbers[picks].tolist()
    by_number = rows_by_number(table, numbers)
    rows = pa.concat_tables([by_number[number] for number in numbers])
    prediction = model.predict(rows)
    return [unsure_of(rows, i, n, prediction) for i, n in enumerate(numbers)]
