"""Losses other than squares: optimum, leave-one-out, coverage of quantiles, time.

HALFMOON_DATA=folder python -m benchmarks.losses    minutes; writes losses.md
HALFMOON_DATA=folder python -m benchmarks.losses optimum times coverage    parts

Settings are chosen by leave-one-out on the labeled rows. Times are processor times on
one thread, the shortest of three runs each, in turns.
"""

import sys
import time

import numpy as np
from scipy.optimize import lsq_linear
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import halfmoon as hm
from benchmarks.lines import Line, product_rate, write
from experiments.data import load_california_housing
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian, Linear
from halfmoon.losses import Hinge, Huber, Logistic, Quantile, Softmax
from halfmoon.problem import Problem, solve_loss
from halfmoon.smoothers import KernelWeights

HEAD = """# Losses other than squares

Made by `HALFMOON_DATA=folder python -m benchmarks.losses`. Times are processor times of
one thread in one run."""
LABELS, TESTED, SPLITS = 400, 5_000, 3


def classes(l, rng):
    X = rng.normal(size=(l, 4))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=l)
    return X, np.where(score > 0, 1.0, -1.0), score


def optimum():
    """Largest error of the hinge loss without bias, and of logistic regression."""
    rng = np.random.default_rng(0)
    X, y, _ = classes(200, rng)
    basis = hm.FredholmClassifier(Gaussian(0.5), Gaussian(1.0), alpha=0.01)
    model = basis.set_params(loss="hinge", unpenalized=None).fit(X, y)
    A = KernelWeights(Gaussian(0.5)).fit(X).weights(X)
    K = np.asarray(A @ Gaussian(1.0)(X) @ A.T)
    s, U = np.linalg.eigh(K * np.outer(y, y))
    root = np.sqrt(np.maximum(s, 1e-14 * s.max()))
    a = lsq_linear(
        *(
            root[:, None] * U.T,
            (U.T @ np.ones(200)) / root,
            (0.0, 1 / (2 * 0.01 * 200)),
        ),
        method="bvls",
        tol=1e-15,
        max_iter=10_000,
    ).x
    apart = np.abs(model.decision_function(X) - K @ (y * a)).max()
    yield Line(
        "Fredholm with the hinge loss as printed (no bias), l = 200",
        f"{apart:.0e}",
        "<= 1e-6 from a quadratic program (SciPy's BVLS)",
        bool(apart <= 1e-6),
        "largest difference of values",
    )
    third = np.digitize(X[:, 0] + 0.3 * rng.normal(size=200), [-0.5, 0.5])
    for labels in (y, third):
        peer = LogisticRegression(C=1 / (2 * 0.01 * 200), tol=1e-12, solver="newton-cg")
        expected = peer.fit(X, labels).decision_function(X)
        model = hm.ConditionalClassifier(Linear(), alpha=0.01, loss="logistic")
        apart = np.abs(model.fit(X, labels).decision_function(X) - expected).max()
        yield Line(
            f"logistic loss, linear kernel, {len(np.unique(labels))} classes, l = 200",
            f"{apart:.0e}",
            "<= 1e-6 from scikit-learn's LogisticRegression",
            bool(apart <= 1e-6),
            "largest difference of values",
        )


def loo_residuals():
    """Compare leave-one-out with refits, at the alpha that it chooses."""
    rng = np.random.default_rng(0)
    X, sign, score = classes(100, rng)
    number = score + 0.3 * rng.standard_t(2, 100)
    three = np.eye(3)[np.digitize(score, [-0.7, 0.7])]
    alphas = [10.0**e for e in range(-5, 1)]
    for loss, y in (
        (Logistic(), sign),
        (Softmax(), three),
        (Huber(1.35, 0.5), number),
        (Quantile(0.5), number),
        (Quantile(0.9), number),
        (Hinge(), sign),
    ):
        stated = Problem(Exact(Gaussian(2.0)), loss=loss)
        fit = stated.fit(X, y, alphas)
        posed, columns = fit.posed, y.reshape(100, -1)
        exact = []
        for alpha in alphas:  # at the same lam
            values = np.empty_like(columns)
            for i in range(100):
                other = posed.without(np.array([i]))
                found = solve_loss(other, alpha * 100 / 99, leave_one_out=False)
                values[i] = np.reshape(found.predict(X[i : i + 1]), -1)
            exact.append(values)
        means = [loss.values(columns, values).mean() for values in exact]
        scores = np.asarray(fit.loo_scores)
        best, chosen = int(np.argmin(means)), int(np.argmin(scores))
        moved = exact[chosen] - fit.predict(X).reshape(100, -1)
        off = exact[chosen] - fit.left_out_values
        if loss.joint:
            moved = moved - moved.mean(axis=1, keepdims=True)
            off = off - off.mean(axis=1, keepdims=True)
        share = np.sqrt((off**2).mean() / (moved**2).mean())
        lost = means[chosen] / means[best] - 1
        worst = float(np.abs(scores / means - 1).max())
        yield Line(
            f"leave-one-out of {loss}, l = 100",
            f"{100 * share:.0f} %",
            "alpha costs <= 5 % more loss than that of refits",
            bool(lost <= 0.05),
            f"error of a leave-one-out value relative to how far it moves; mean loss "
            f"{scores[chosen]:.4f}, by refits {means[chosen]:.4f}; alpha = "
            f"{alphas[chosen]:.0e}, by refits {alphas[best]:.0e}; the mean loss is at "
            f"most {worst:.1%} off, alpha being 1e-5 to 1",
        )


def coverage():
    """Share of the labels of other rows below each quantile."""
    X, y = load_california_housing()
    for level in (0.05, 0.1, 0.5, 0.9, 0.95):
        shares = []
        for seed in range(SPLITS):
            rows = np.random.default_rng(seed).permutation(len(y))
            train, test = rows[:LABELS], rows[LABELS : LABELS + TESTED]
            scaler = StandardScaler().fit(X[train])
            model = hm.ConditionalRegressor(loss=Quantile(level), random_state=seed)
            model.fit(scaler.transform(X[train]), y[train])
            predicted = model.predict(scaler.transform(X[test]))
            shares.append(float(np.mean(y[test] <= predicted)))
        mean = float(np.mean(shares))
        yield Line(
            f"california housing, {level:.0%} quantile, l = {LABELS}",
            f"{100 * mean:.1f} %",
            "within 5 points",
            bool(abs(mean - level) <= 0.05),
            f"share of {TESTED:,} other labels below; splits "
            + ", ".join(f"{100 * share:.1f}" for share in shares),
        )


def timed(*functions, repeats=3):
    best = [np.inf for _ in functions]
    with threadpool_limits(1):
        for _ in range(repeats):
            for j, function in enumerate(functions):
                start = time.process_time()
                function()
                best[j] = min(best[j], time.process_time() - start)
    return best


def times(l=1_000):
    """Time one fit at one alpha, on the same kernel matrix."""
    rng = np.random.default_rng(0)
    X, y, _ = classes(l, rng)
    K = Gaussian(2.0)(X)
    root = np.linalg.cholesky(K + 1e-10 * np.eye(l))
    for alpha in (1e-4, 1e-2):
        C = 1 / (2 * alpha * l)
        posed = Problem(Exact(Gaussian(2.0)), loss="hinge").pose(X, y).with_gram(K)
        smooth = posed.with_loss(Logistic())
        machine = {"C": C, "kernel": "precomputed", "cache_size": 500}
        regression = LogisticRegression(C=C, tol=1e-8, max_iter=5_000)
        rows = (
            (
                "hinge, compared with SVC (tol=1e-3)",
                lambda p=posed, a=alpha: solve_loss(p, a, leave_one_out=False),
                lambda kw=machine: SVC(**kw).fit(K, y),
                5.0,
            ),
            (
                "hinge, compared with SVC (tol=1e-8)",
                lambda p=posed, a=alpha: solve_loss(p, a, leave_one_out=False),
                lambda kw=machine: SVC(**kw, tol=1e-8).fit(K, y),
                5.0,
            ),
            (
                "hinge and every left-out value, compared with one SVC (tol=1e-3)",
                lambda p=posed, a=alpha: solve_loss(p, a),
                lambda kw=machine: SVC(**kw).fit(K, y),
                None,
            ),
            (
                "logistic and every left-out value, compared with lbfgs on a root of K",
                lambda p=smooth, a=alpha: solve_loss(p, a),
                lambda model=regression: model.fit(root, y),
                None,
            ),
        )
        for name, ours, theirs, bar in rows:
            mine, other = timed(ours, theirs)
            yield Line(
                f"{name}, l = {l:,}, alpha = {alpha:.0e}",
                f"{mine / other:.2f}x",
                f"<= {bar:.0f}x" if bar else "no bar",
                bar is None or bool(mine / other <= bar),
                f"{mine:.3f} s and {other:.3f} s",
            )


if __name__ == "__main__":
    found = []
    parts = {each.__name__: each for each in (optimum, times, loo_residuals, coverage)}
    for part in [parts[name] for name in sys.argv[1:] or parts]:
        for each in part():
            print(each, flush=True)
            found.append(each)
    write("losses", found, product_rate(), HEAD)
