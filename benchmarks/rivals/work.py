"""The input of a tool: every row of a table, and some of the labels.

It does not contain the true labels of the other rows. Rows and labeled rows are drawn
by the functions of `benchmarks.league` and `benchmarks.tables`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from benchmarks.league import tables as league

CATEGORIES = 40  # a column of strings with more values than that is text


@dataclass
class Work:
    """Rows, the labels of some of them, and whether labels are numbers or classes."""

    frame: pd.DataFrame  # (n, d)
    labeled: np.ndarray  # (l,), positions
    given: np.ndarray  # (l,), their labels
    regression: bool
    one_unit: bool  # then columns are not standardized, as in the league
    seed: int
    seconds: int = 60  # for tools that stop by the clock

    @cached_property
    def hidden(self):
        """Positions of the rows to predict, in the order of the table."""
        return np.setdiff1d(np.arange(len(self.frame)), self.labeled)

    @cached_property
    def classes(self):
        return np.unique(self.given)

    @cached_property
    def target(self):
        """(l,) numbers, or classes as 0, 1, ..."""
        if self.regression:
            return self.given.astype(float)
        return np.searchsorted(self.classes, self.given)

    def decoded(self, predicted):
        """Translate predictions to the original labels."""
        predicted = np.asarray(predicted).ravel()
        return predicted if self.regression else self.classes[predicted.astype(int)]

    @cached_property
    def strings(self):
        """Names of the columns that are not numbers."""
        return [
            name
            for name in self.frame.columns
            if not pd.api.types.is_numeric_dtype(self.frame[name])
        ]

    @cached_property
    def texts(self):
        """Names of the string columns with too many values for categories."""
        return [n for n in self.strings if self.frame[n].nunique() > CATEGORIES]

    @cached_property
    def numbers(self):
        """(n, p) for tools that accept only numbers; skrub encodes strings."""
        if not self.strings:
            return self.frame.to_numpy(float)
        from skrub import TableVectorizer

        return TableVectorizer().fit_transform(self.frame).to_numpy(float)

    def scaled(self, by):
        """`numbers`, standardized by the given rows unless columns share a unit."""
        if self.one_unit:
            return self.numbers
        return StandardScaler().fit(self.numbers[by]).transform(self.numbers)

    @property
    def train(self):
        return self.frame.iloc[self.labeled]

    @property
    def rest(self):
        return self.frame.iloc[self.hidden]


def of_league(name, labels, split):
    """A table of the league with the labels that all of its models get."""
    table = league.load(name)
    labeled = table.draw(labels, split)
    X = table.X.toarray() if issparse(table.X) else table.X
    return Work(
        frame=pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
        labeled=labeled,
        given=table.y[labeled],
        regression=table.task == "regression",
        one_unit=not table.mixed_units,
        seed=split,
    )


def of_tables(name, share, seed):
    """A table of `benchmarks.tables` with the labels that the command line gets."""
    from benchmarks import tables  # which imports the report, which imports this

    frame, y = tables.TABLES[name]()
    labeled = tables.draw(y, share, seed, name)
    return Work(
        frame=frame,
        labeled=labeled,
        given=y[labeled],
        regression=name in tables.NUMBERS,
        one_unit=name in league.ONE_UNIT,
        seed=seed,
    )


def of_fresh(name, labels, seed):
    """A table of `benchmarks.fresh` with some labels drawn at random."""
    from benchmarks import fresh

    frame, y = fresh.load(name)
    labeled = fresh.draw(name, labels, seed)
    return Work(
        frame=frame,
        labeled=labeled,
        given=y[labeled],
        regression=name in fresh.NUMBERS,
        one_unit=False,
        seed=seed,
        seconds=fresh.SECONDS,
    )
