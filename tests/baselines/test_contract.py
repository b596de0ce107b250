"""scikit-learn's contract, for every baseline."""

from halfmoon.baselines import (
    HarmonicClassifier,
    HarmonicRegressor,
    LabelSpreadingClassifier,
    LapRLSClassifier,
    LapRLSRegressor,
    PrincipalComponentRegressor,
    RLSClassifier,
    TSVMClassifier,
)
from scikit_learn_checks import parametrize_with_quick_checks

ESTIMATORS = [
    HarmonicClassifier(),
    HarmonicClassifier(n_neighbors=None, length_scale="median"),
    HarmonicRegressor(),
    LabelSpreadingClassifier(),
    LapRLSClassifier(),
    LapRLSRegressor(),
    PrincipalComponentRegressor(),
    RLSClassifier(),
    TSVMClassifier(),
    TSVMClassifier("gaussian"),
]

# As in tests/estimators: a weight counts the label of a row, and each row counts once
# in the graph, with any weight.
COUNTED_ONCE = "rows count once in the length scale and in the graph"
# Leave-one-out, which chooses alpha, leaves out one of two copies of a row, or one row
# of weight 2.
ONE_OF_TWO = "of two copies of a row leave-one-out leaves out one"


def expected_failures(estimator):
    reason = ONE_OF_TWO if isinstance(estimator, RLSClassifier) else COUNTED_ONCE
    if not isinstance(estimator, (LapRLSClassifier, LapRLSRegressor, RLSClassifier)):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_quick_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_contract(estimator, check):
    check(estimator)
