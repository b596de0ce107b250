"""scikit-learn's contract, where a label may also be a plain one."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from halfmoon.weak import CandidateSetClassifier, IntervalRegressor, StructuredPredictor

COUNTED_ONCE = "rows count once in the length scale and in folds"


def expected_failures(estimator):
    if isinstance(estimator, StructuredPredictor):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": COUNTED_ONCE,
        "check_sample_weight_equivalence_on_sparse_data": COUNTED_ONCE,
    }


@parametrize_with_checks(
    [CandidateSetClassifier(), IntervalRegressor(), StructuredPredictor()],
    expected_failed_checks=expected_failures,
)
def test_contract(estimator, check):
    check(estimator)
