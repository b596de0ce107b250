"""Outputs with gaps: what a second pattern of labeled rows costs.

python -m benchmarks.output_gaps    about two minutes; writes results/output_gaps.md

There are three outputs. In one fit, every labeled row has all of them. With gaps, two
outputs lack one part of the rows and the third lacks another part, so there are two
patterns. Times are processor times, in turns. The ratio is the median of seven.
"""

import time

import numpy as np
from sklearn.base import clone

import halfmoon as hm
from benchmarks.lines import Line, product_rate, write
from halfmoon.kernels import Gaussian

BAR = 1.5
HEAD = """# Outputs with gaps

Made by `python -m benchmarks.output_gaps`: processor time of a fit with two patterns of
labeled rows, relative to a fit in which each row has all outputs (median of seven
pairs), and the largest difference from separate fits. Each pattern of an exact fit has
its own factorization: two of nine tenths of the rows cost 2 * 0.9^3 = 1.46 of one."""


def gapped(Y, l, share):
    """Label the first l rows; each pattern lacks a share of them."""
    out, lacking = np.full_like(Y, np.nan), int(share * l)
    out[:l] = Y[:l]
    out[:lacking, :2] = np.nan
    out[l - lacking : l, 2] = np.nan
    return out


def processor_times(*functions, repeats=7):
    """Return the processor times of functions in turns, shape (repeats, functions)."""
    times = np.empty((repeats, len(functions)))
    for row in times:
        for j, function in enumerate(functions):
            start = time.process_time()
            function()
            row[j] = time.process_time() - start
    return times


def line(name, model, n, l, share):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)])
    Y += 0.1 * rng.standard_normal(Y.shape)
    whole, gaps = gapped(Y, l, 0.0), gapped(Y, l, share)
    times = processor_times(
        lambda: clone(model).fit(X, whole), lambda: clone(model).fit(X, gaps)
    )
    one, two = np.median(times, axis=0)
    ratio = float(np.median(times[:, 1] / times[:, 0]))
    fitted = clone(model).fit(X, gaps).predict(X)
    alone = clone(model).fit(X, gaps[:, 2]).predict(X)
    shared = clone(model).fit(X, gaps[:, :2]).predict(X)
    apart = np.abs(fitted - np.column_stack([shared, alone])).max()
    return Line(
        f"{name}, n = {n:,}, l = {l:,}, each lacks {100 * share:.0f} %",
        f"{ratio:.2f}x",
        "<= 1.5x one fit",
        ratio <= BAR,
        f"{two:.2f} s and {one:.2f} s; {apart:.0e} from separate fits",
    )


def run():
    kernel = Gaussian(2.0)
    laplacian = hm.LaplacianRegressor(kernel, random_state=0)
    landmarks = hm.LaplacianRegressor(kernel, n_components=500, random_state=0)
    fredholm = hm.FredholmRegressor(Gaussian(0.5), kernel, random_state=0)
    conditional = hm.ConditionalRegressor(kernel, random_state=0)
    nystrom = hm.ConditionalRegressor(kernel, n_components=500, random_state=0)
    yield line("Laplacian, exact", laplacian, 1_500, 500, 0.1)
    yield line("Laplacian, 500 landmarks", landmarks, 20_000, 2_000, 0.1)
    yield line("Fredholm, exact", fredholm, 3_000, 600, 0.1)
    yield line("Conditional, exact", conditional, 2_000, 1_500, 0.3)
    yield line("Conditional, exact", conditional, 2_000, 1_500, 0.1)
    yield line("Conditional, 500 landmarks", nystrom, 20_000, 10_000, 0.1)


if __name__ == "__main__":
    found = []
    for each in run():
        print(each, flush=True)
        found.append(each)
    write("output_gaps", found, product_rate(), HEAD)
