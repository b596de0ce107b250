"""scikit-learn's models that learn from the unlabeled rows too.

They are tuned as they are used: the labels of one fold are hidden, its rows stay in
the table as unlabeled ones, and the accuracy on them is compared.
"""

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks.league import supervised
from benchmarks.league.supervised import gamma_scale

GRAPH_NEIGHBORS = (7, 10, 15)
GRAPH_GAMMA = (30.0, 10.0, 100.0)
GRAPH_ALPHA = (0.9, 0.2, 0.99)
DENSE_ROWS = 2_000  # with more rows, the full affinity matrix is not tried
ITERATIONS = 100
THRESHOLDS = (0.9, 0.75, 0.99)

ABOUT = {
    "label-spreading": (
        f"LabelSpreading, alpha in {sorted(GRAPH_ALPHA)}, kernel knn with n_neighbors "
        f"in {sorted(GRAPH_NEIGHBORS)} or, up to {DENSE_ROWS:,} rows, rbf with gamma "
        f"in {sorted(GRAPH_GAMMA)} / (d var(X))"
    ),
    "self-training": (
        f"SelfTrainingClassifier on LogisticRegression, whose C is tuned first, as "
        f"above, then threshold in {sorted(THRESHOLDS)}"
    ),
}


def predict(name, table, labeled, split):
    """Predictions for every row of the table, and the parameters chosen."""
    X = StandardScaler().fit_transform(table.X) if table.mixed_units else table.X
    if name == "label-spreading":
        candidates = _spreading(table, X)
    else:
        candidates = _self_training(table, X, labeled, split)
    scored = [
        (
            _held_out_accuracy(fit_predict, table, labeled, split),
            parameters,
            fit_predict,
        )
        for parameters, fit_predict in candidates
    ]
    _, parameters, fit_predict = max(scored, key=lambda entry: entry[0])
    return fit_predict(_hide(table.y, labeled)), parameters


def _hide(y, labeled):
    """Classes of the labeled rows; -1, scikit-learn's sign for none, elsewhere."""
    known = np.full(y.size, -1)
    known[labeled] = y[labeled]
    return known


def _held_out_accuracy(fit_predict, table, labeled, split):
    scores = []
    for train, test in table.folds(labeled, split):
        predicted = fit_predict(_hide(table.y, labeled[train]))
        rows = labeled[test]
        scores.append(np.mean(predicted[rows] == table.y[rows]))
    return np.mean(scores)


def _spreading(table, X):
    """LabelSpreading on graphs that are computed once for all folds and weights."""
    n = X.shape[0]
    nearest = NearestNeighbors(n_neighbors=max(GRAPH_NEIGHBORS)).fit(X)
    neighbors = nearest.kneighbors(X, return_distance=False)  # each row's own first
    for k in GRAPH_NEIGHBORS:
        ones, starts = np.ones(n * k), np.arange(0, n * k + 1, k)
        graph = csr_array((ones, neighbors[:, :k].ravel(), starts), shape=(n, n))
        for alpha in GRAPH_ALPHA:
            parameters = {"kernel": "knn", "n_neighbors": k, "alpha": alpha}
            yield parameters, _spread_on(graph, alpha)
    if n > DENSE_ROWS:
        return
    for multiple in GRAPH_GAMMA:
        gamma = multiple * gamma_scale(table)
        graph = rbf_kernel(X, gamma=gamma)
        for alpha in GRAPH_ALPHA:
            parameters = {"kernel": "rbf", "gamma": gamma, "alpha": alpha}
            yield parameters, _spread_on(graph, alpha)


def _spread_on(graph, alpha):
    index = np.arange(graph.shape[0])[:, None]  # the graph stands for the rows

    def fit_predict(known):
        model = LabelSpreading(
            kernel=lambda *_: graph, alpha=alpha, max_iter=ITERATIONS
        )
        return model.fit(index, known).transduction_

    return fit_predict


def _self_training(table, X, labeled, split):
    _, linear = supervised.predict("linear", table, labeled, split)
    for threshold in THRESHOLDS:
        base = LogisticRegression(C=linear["C"], max_iter=2_000)
        model = SelfTrainingClassifier(base, threshold=threshold)

        def fit_predict(known, model=model):
            return model.fit(X, known).predict(X)

        yield linear | {"threshold": threshold}, fit_predict
