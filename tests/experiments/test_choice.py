"""Trials by one eigendecomposition, and the two ways to choose among them."""

import numpy as np
import pytest
from experiments.choice import honest, one_hot, ridge_trials, tuned
from sklearn.kernel_ridge import KernelRidge

rng = np.random.default_rng(0)
X = rng.standard_normal((70, 3))
K = X @ X.T + 1.0
L, U = np.arange(20), np.arange(20, 70)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("lam", [1e-2, 1.0])
def test_trials_are_kernel_ridge_refitted(n_classes, lam):
    classes = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [0.0, 0.8][: n_classes - 1])
    K_l, K_u = K[np.ix_(L, L)], K[np.ix_(U, L)]
    trials = ridge_trials(K_l, K_u, classes[L], classes[U], n_classes, [lam])
    Y = one_hot(classes[L], n_classes)
    ridge = KernelRidge(alpha=lam * np.trace(K_l) / 20, kernel="precomputed")

    def answer(scores):
        scores = scores.reshape(-1, Y.shape[1])
        return (scores > 0)[:, 0] if n_classes == 2 else scores.argmax(axis=1)

    wrong = answer(ridge.fit(K_l, Y).predict(K_u)) != classes[U]
    assert trials["test"] == [pytest.approx(100 * wrong.mean())]
    values = []
    for i in L:
        o = np.delete(L, i)
        values.append(ridge.fit(K[np.ix_(o, o)], Y[o]).predict(K[np.ix_([i], o)]))
    values = np.reshape(values, Y.shape)
    assert trials["square"] == [pytest.approx(((Y - values) ** 2).mean())]
    wrong = answer(values) != classes[L]
    assert trials["loo"] == [pytest.approx(100 * wrong.mean())]


def trial(split, width, test, loo, square):
    columns = {"weight": [1.0, 2.0], "test": test, "loo": loo, "square": square}
    return {"split": split, "setting": {"width": width}} | columns


TRIALS = [
    trial(0, 1, test=[10, 20], loo=[5, 5], square=[2, 1]),
    trial(0, 2, test=[4, 30], loo=[5, 9], square=[3, 0]),
    trial(1, 1, test=[12, 40], loo=[7, 6], square=[1, 9]),
    trial(1, 2, test=[50, 30], loo=[8, 8], square=[0, 0]),
]


def test_tuned_is_one_setting_for_all_splits():
    chosen = tuned(TRIALS)
    assert chosen.errors.tolist() == [10, 12]
    assert chosen.settings == [{"width": 1, "weight": 1.0}]
    assert str(chosen) == "11.0 ± 1.4"


def test_honest_goes_by_left_out_labels_and_breaks_ties_by_squares():
    chosen = honest(TRIALS)
    assert chosen.errors.tolist() == [20, 40]
    assert chosen.settings[1] == {"width": 1, "weight": 2.0}


def test_a_setting_that_some_splits_lack_is_not_tuned_to():
    extra = trial(0, 3, test=[0, 0], loo=[9, 9], square=[9, 9])
    assert tuned([*TRIALS, extra]).errors.tolist() == [10, 12]
