"""Labeled rows and search data for tests."""

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from halfmoon._selection.search_data import SearchData
from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Linear
from halfmoon.problem._posed import Posed


def posed_of(X_l, y, w=None, *, single=False, stream=None):
    """Labeled rows with their targets and weights."""
    y = np.asarray(y, dtype=float).reshape(X_l.shape[0], -1)
    return Posed(
        basis=Exact(Linear()).fit(X_l),
        energy=None,
        mu=1.0,
        unpenalized=None,
        X=X_l,
        labeled=np.arange(X_l.shape[0]),
        y=y,
        w=np.ones(len(y)) if w is None else w,
        single=single,
        stream=stream or Stream(n_jobs=1),
    )


def bench_of(X, y, w=None, *, labeled=None, others=None, rng=0):
    """Search data with the first rows of X labeled, unless it is said which."""
    labeled = np.arange(len(y)) if labeled is None else labeled
    if others is None:
        others = np.setdiff1d(np.arange(X.shape[0]), labeled)
    data = posed_of(X[labeled], y, w)
    return SearchData(X, labeled, data, others, np.random.default_rng(rng))


def with_targets(shared, y):
    """The search data with other targets of its labeled rows."""
    return replace(
        shared, data=replace(shared.data, y=y), _rows={}, _grams=OrderedDict()
    )
