"""Sevens and nines of MNIST, as S2 uses them: 12,214 images, cropped to 24 by 24.

A fold is one of ten with both digits in equal shares. What it holds out is split once
more, into rows to choose by and rows to test on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from experiments.data import load_mnist
from halfmoon._rows import Array

__all__ = ["ALL", "Fold", "centered", "fold_of", "standardized"]

ALL = 12_214
BORDER = 2  # pixels taken off on each side
SEED = 79

#: Least deviation of a pixel in [0, 1] that columns are divided by. Pixels near the
#: border are lit in a few images only, and would count for hundreds otherwise.
FLOOR = 0.05


@dataclass(frozen=True)
class Fold:
    """Training rows, rows to choose by, and test rows; +1 is a 7 and -1 is a 9.

    Pixels are in [0, 1].
    """

    X: Array
    y: Array  # (l, 1)
    X_choose: Array
    y_choose: Array
    X_test: Array
    y_test: Array

    @property
    def constant(self) -> float:
        """Mean squared test error of the mean training label."""
        return float(((self.y_test - self.y.mean()) ** 2).mean())


def fold_of(fold: int, rows: int = ALL, train_rows: int = ALL) -> Fold:
    """One of ten folds of the first `rows` sevens and nines.

    At most `train_rows` of its training rows are kept, drawn at random.
    """
    images, digits = load_mnist("train")
    kept = np.flatnonzero((digits == 7) | (digits == 9))[:rows]
    side = slice(BORDER, 28 - BORDER)
    X = images[kept].reshape(-1, 28, 28)[:, side, side].reshape(len(kept), -1) / 255.0
    y = np.where(digits[kept] == 7, 1.0, -1.0)[:, None]
    folds = StratifiedKFold(10, shuffle=True, random_state=SEED)
    train, held = list(folds.split(X, y[:, 0]))[fold]
    if train_rows < len(train):
        rng = np.random.default_rng([SEED, fold])
        train = np.sort(rng.choice(train, train_rows, replace=False))
    choose, test = held[::2], held[1::2]
    return Fold(X[train], y[train], X[choose], y[choose], X[test], y[test])


def standardized(fold: Fold) -> Fold:
    """Columns of mean 0 and deviation 1 on the training rows, but see `FLOOR`."""
    return _shifted(fold, np.maximum(fold.X.std(axis=0), FLOOR))


def centered(fold: Fold) -> Fold:
    """Columns of mean 0 on the training rows."""
    return _shifted(fold, np.ones(fold.X.shape[1]))


def _shifted(fold: Fold, scale: Array) -> Fold:
    mean = fold.X.mean(axis=0)
    X, X_choose, X_test = (
        (rows - mean) / scale for rows in (fold.X, fold.X_choose, fold.X_test)
    )
    return Fold(X, fold.y, X_choose, fold.y_choose, X_test, fold.y_test)
