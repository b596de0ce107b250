"""Tables and estimators of the benchmarks of queries, forecasts and wrong labels."""

from __future__ import annotations

import gzip
import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.io import loadmat
from sklearn import datasets

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
)

BUDGET = 1.0  # seconds of a search
PEAKS = (
    "H3K27ac-H3K4me3_TDHAM_BP_FPOP",
    "H3K36me3_AM_immune_PDPA",
    "H3K4me3_TDH_immune_FPOP",
)  # tables of weak/intervals


def folder():
    return Path(os.environ["HALFMOON_DATA"])


def standardized(X, y, most=3000):
    some = np.random.default_rng(0).permutation(len(y))[:most]
    X = np.asarray(X, dtype=np.float64)[some]
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), np.asarray(y)[some]


def tables_for_fitting():
    """Yield name, rows, labels, and whether labels are classes."""
    for name in ("digits", "wine", "iris"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True), True
    yield "diabetes", *datasets.load_diabetes(return_X_y=True), False
    for name in ("coil2", "digit1", "g241c", "g50c"):
        found = np.load(folder() / f"ssl_book/{name}.npz")
        yield name, found["X"], found["y"], True
    for name in ("glass", "housing", "stock", "vehicle", "vowel"):
        yield name, *ranked(name), True
    yield "friedman1", *datasets.make_friedman1(2000, noise=2.0, random_state=0), False
    yield "friedman2", *datasets.make_friedman2(2000, noise=125, random_state=0), False
    flipped = datasets.make_classification(
        2000, 15, n_informative=6, flip_y=0.2, random_state=1
    )
    yield "flipped", *flipped, True


def ranked(name):
    """Rows of a table of rankings, and the first item of each."""
    with gzip.open(folder() / f"weak/rankings/{name}.txt.gz", "rt") as file:
        text = file.read()
    lines = [line.split(",") for line in text.splitlines()[1:] if "," in line]
    X = np.array([line[:-1] for line in lines], dtype=np.float64)
    first = [line[-1].split(">")[0] for line in lines]
    return X, np.unique(first, return_inverse=True)[1]


def tables_for_choosing():
    """Yield more tables; numbers are also middles of intervals, and other columns."""
    for table in tables_for_fitting():
        if len(table[2]) >= 200:
            yield table
    for name in ("MSRCv2", "lost"):
        found = loadmat(folder() / f"weak/candidate_sets/{name}.mat")
        truth = np.asarray(sp.csr_matrix(found["logitlabels"]).argmax(axis=1)).ravel()
        yield name, sp.csr_matrix(found["features"]).toarray(), truth, True
    yield "friedman3", *datasets.make_friedman3(2000, noise=0.1, random_state=0), False
    for name in ("autompg", "housing", "pbc", *PEAKS):
        place = folder() / "weak/intervals" / name
        X = pd.read_csv(place / "features.csv.gz").to_numpy(dtype=np.float64)
        ends = pd.read_csv(place / "targets.csv.gz").to_numpy(dtype=np.float64)
        finite = np.isfinite(ends).all(axis=1)
        yield f"{name}, interval", X[finite], ends[finite].mean(axis=1), False
    for name, column in product(("stock", "vehicle", "vowel"), (0, 2)):
        X = ranked(name)[0]
        yield f"{name}, column {column}", np.delete(X, column, 1), X[:, column], False
    X = datasets.load_digits(return_X_y=True)[0]
    yield "digits, ink", X[:, :32], X[:, 32:].sum(axis=1), False


def tables_for_testing():
    found = np.load(folder() / "usps/usps.npz")
    yield "usps", found["X_train"], found["y_train"], True
    found = np.load(folder() / "covtype/covtype.npz")
    yield "covtype", found["quant"], found["y"], True
    yield "breast cancer", *datasets.load_breast_cancer(return_X_y=True), True
    for name in ("california_housing/california_housing", "uci_regression/protein"):
        table = pd.read_csv(
            folder() / f"{name}.csv.gz", header=0 if "housing" in name else None
        ).to_numpy(dtype=np.float64)
        yield name.split("/")[1], table[:, :-1], table[:, -1], False


def lever(of_classes):
    kind = ConditionalClassifier if of_classes else ConditionalRegressor
    return kind(random_state=0)


def search(of_classes):
    kind = HalfmoonClassifier if of_classes else HalfmoonRegressor
    return kind(budget=BUDGET, random_state=0)
