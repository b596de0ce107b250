"""Row preparations: columns brought to one scale, without using labels.

==================  =============================================================
preparation         a column becomes
==================  =============================================================
`Standardized`      3 tanh(z / 3) of its standardized value z: a unit deviation, and
                    no value beyond 3, however rare or wild it is
`NormalScores`      the normal quantile of its rank: any monotone change of units
                    leaves it as it is
==================  =============================================================

Columns with only two values keep them, at most a unit deviation apart. Constant columns
are dropped. Sparse rows, such as words of texts, are prepared by `DampedUnitRows`. All
preparations are fitted on all rows and apply to new ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, normalize

from halfmoon._rows import Array, Rows

__all__ = [
    "DampedUnitRows",
    "NormalScores",
    "Preparation",
    "Standardized",
    "principal_components",
    "text_components",
]

REACH = 3.0  # standard deviations at which values saturate
RARE = 0.3  # smallest deviation of a column with two values, as a share of its span
QUANTILES = 1_000  # stored per column
ONE_MENTION = 0.1  # quantile of the entries of a word that stands for one mention


@dataclass(eq=False)
class Preparation:
    """A fitted way to prepare rows.

    Attributes
    ----------
    name : str
    transformer : transformer or None
        None passes rows through.
    """

    name: str
    transformer: Any

    def __call__(self, X: Rows) -> Rows:
        """Return the prepared rows."""
        return X if self.transformer is None else self.transformer.transform(X)


class _ByColumn(TransformerMixin, BaseEstimator, ABC):
    """Base class of preparations that treat each column separately."""

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Fit each column."""
        low, high = X.min(axis=0), X.max(axis=0)
        self.columns_ = np.flatnonzero(high > low)
        if self.columns_.size == 0:  # all are constant: keep one column of zeros
            self.columns_ = np.array([0])
        self.fitted_ = [self._fit_column(X[:, c]) for c in self.columns_]
        return self

    def transform(self, X: Rows) -> Array:
        """Return the prepared columns, shape (b, number of columns that vary)."""
        Z = np.empty((X.shape[0], self.columns_.size))
        for j, (c, fitted) in enumerate(zip(self.columns_, self.fitted_, strict=True)):
            values = np.asarray(X[:, c], dtype=np.float64)
            if isinstance(fitted, _TwoValues):
                Z[:, j] = (values - fitted.mean) / fitted.deviation
            else:
                Z[:, j] = self._apply(values, fitted)
        return Z

    def _fit_column(self, column: Array) -> Any:
        values = np.unique(column[:QUANTILES])
        if values.size <= 2 and np.unique(column).size <= 2:
            mean, std = _moments(column)
            deviation = max(std, RARE * float(np.ptp(column)))
            return _TwoValues(mean, deviation or 1.0)
        return self._learn(column)

    @abstractmethod
    def _learn(self, column: Array) -> Any: ...

    @abstractmethod
    def _apply(self, values: Array, fitted: Any) -> Array: ...


@dataclass(frozen=True)
class _TwoValues:
    mean: float
    deviation: float


class Standardized(_ByColumn):
    """Each column as 3 tanh(z / 3) of its standardized value.

    Examples
    --------
    >>> Standardized().fit_transform(np.array([[0.0], [1.0], [2.0], [1e9]])).round(1)
    array([[-0.6], [-0.6], [-0.6], [ 1.6]])
    """

    def _learn(self, column: Array) -> Any:
        return _moments(column)

    def _apply(self, values: Array, fitted: Any) -> Array:
        mean, std = fitted
        return np.asarray(REACH * np.tanh((values - mean) / (REACH * std)))


class NormalScores(_ByColumn):
    """Each column as the normal quantiles of its ranks.

    Examples
    --------
    >>> NormalScores().fit_transform(np.array([[0.0], [1.0], [1e9]])).round(2)
    array([[-1.22], [ 0.  ], [ 1.22]])
    """

    def _learn(self, column: Array) -> Any:
        n = len(column)
        values, counts = np.unique(column.astype(np.float64), return_counts=True)
        middle = np.cumsum(counts) - (counts - 1) / 2  # mean rank of equal values
        scores = ndtri(middle / (n + 1))
        mean = np.average(scores, weights=counts)
        std = np.sqrt(np.average((scores - mean) ** 2, weights=counts))
        if values.size > QUANTILES:
            some = np.linspace(0, values.size - 1, QUANTILES).astype(int)
            values, scores = values[some], scores[some]
        return values, (scores - mean) / std

    def _apply(self, values: Array, fitted: Any) -> Array:
        return np.asarray(np.interp(values, *fitted))


class DampedUnitRows(TransformerMixin, BaseEstimator):
    r"""Rows of unit length in which repeated words count by their cube root.

    Rows are first brought to unit length. With m_j the lowest decile of the entries of
    column j that are not 0, which is about the weight of one mention of word j,

    .. math:: z_{ij} \propto m_j \sqrt[3]{x_{ij} / m_j}

    again in rows of unit length. A word that a text repeats c times counts
    :math:`\sqrt[3]{c}` times, and the weights of the words, such as those of tf-idf,
    stay as they are. Without this, the words that a text repeats most often, which are
    seldom those that tell its class, outweigh all others.

    Examples
    --------
    >>> X = sp.csr_array([[9.0, 1.0], [0.0, 1.0]])
    >>> DampedUnitRows().fit([[1.0, 1.0]]).transform(X).toarray().round(2)
    array([[0.9 , 0.43],
           [0.  , 1.  ]])
    """

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Find the weight of one mention of each word."""
        units = sp.csr_array(normalize(X))
        sizes = np.abs(units.data)
        kept = sizes > 0
        columns, sizes = units.indices[kept], sizes[kept]
        order = np.lexsort((sizes, columns))
        counts = np.bincount(columns, minlength=units.shape[1])
        firsts = np.cumsum(counts) - counts
        places = firsts + (ONE_MENTION * np.maximum(counts - 1, 0)).astype(np.intp)
        self.weights_ = np.ones(len(counts))
        seen = counts > 0
        self.weights_[seen] = sizes[order][places[seen]]
        return self

    def transform(self, X: Rows) -> Any:
        """Return the damped rows, CSR of shape (b, d)."""
        Z = sp.csr_array(normalize(X))
        Z.data = np.cbrt(Z.data * self.weights_[Z.indices] ** 2)
        return normalize(Z, copy=False)


def _moments(column: Array) -> tuple[float, float]:
    column = column.astype(np.float64)
    return float(column.mean()), float(column.std()) or 1.0


def principal_components(prepared: Any, d: int) -> Pipeline:
    """Return a preparation followed by d principal components."""
    return make_pipeline(prepared, PCA(d, random_state=0))


def text_components(d: int) -> Pipeline:
    """Return damped rows projected on d singular directions, again of unit length."""
    return make_pipeline(
        DampedUnitRows(), TruncatedSVD(d, random_state=0), Normalizer(copy=False)
    )
