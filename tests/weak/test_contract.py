"""scikit-learn's contract, where a label may also be a plain one."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from halfmoon.weak import CandidateSetClassifier, IntervalRegressor, StructuredPredictor
from scikit_learn_checks import parametrize_with_quick_checks

COUNTED_ONCE = "rows count once in the length scale and in folds"


def expected_failures(estimator):
    kinds = ["dense", "sparse"]
    if isinstance(estimator, StructuredPredictor):
        kinds = ["dense"] if estimator.kernel == "auto" else []
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": COUNTED_ONCE
        for kind in kinds
    }


@parametrize_with_quick_checks(
    [
        each(kernel="gaussian")
        for each in (CandidateSetClassifier, IntervalRegressor, StructuredPredictor)
    ],
    expected_failed_checks=expected_failures,
)
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.slow  # several kernels are tried in each fit
@parametrize_with_checks(
    [CandidateSetClassifier(), IntervalRegressor(), StructuredPredictor()],
    expected_failed_checks=expected_failures,
)
def test_contract_of_the_default_kernels(estimator, check):
    check(estimator)
