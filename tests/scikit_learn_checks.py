"""scikit-learn's checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

__all__ = ["parametrize_with_quick_checks"]


def parametrize_with_quick_checks(estimators, expected_failed_checks=None):
    """`parametrize_with_checks`, with the checks that must fail among the slow tests.

    They are as long as all others together.
    """
    mark = parametrize_with_checks(
        estimators, expected_failed_checks=expected_failed_checks
    )
    names, cases = mark.args
    cases = [
        case._replace(marks=[*case.marks, pytest.mark.slow])
        if getattr(case, "marks", ())  # others are plain tuples
        else case
        for case in cases
    ]
    return pytest.mark.parametrize(names, cases, **mark.kwargs)
