"""Imputers: tools that fill any blank of a table; labels are one more column.

They see every row. Classes are an indicator column each, and the largest filled value
is the prediction; MissForest supports categories itself.
"""

import numpy as np


def _filled(imputer, work):
    X = work.scaled(by=slice(None))
    # One at a time: indicators sum to 1, so the others would determine it.
    filled = np.column_stack(
        [
            imputer.fit_transform(np.column_stack([X, column]))[work.hidden, -1]
            for column in _target_columns(work).T
        ]
    )
    return filled.ravel() if work.regression else filled.argmax(axis=1)


def _target_columns(work):
    """(n, 1) numbers or (n, classes) indicators; NaN where there is no label."""
    values = work.target[:, None]
    if not work.regression:
        values = (values == np.arange(len(work.classes))).astype(float)
    columns = np.full((len(work.frame), values.shape[1]), np.nan)
    columns[work.labeled] = values
    return columns


def knn(work):
    from sklearn.impute import KNNImputer

    return _filled(KNNImputer(), work)


def iterative(work):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return _filled(IterativeImputer(random_state=work.seed), work)


def missforest(work):
    import pandas as pd
    from missforest import MissForest

    table = pd.DataFrame(work.numbers).rename(columns="x{}".format)
    table["target"] = np.nan
    table.loc[work.labeled, "target"] = work.target.astype(float)
    categorical = None if work.regression else ["target"]
    filled = MissForest(categorical=categorical, verbose=0).fit_transform(table)
    return filled["target"].to_numpy(float)[work.hidden]
