"""The outer width inverts the Fredholm width; wrong numbers are refused.

The formula itself is tested in `tests/experiments/test_noise_suppression.py`, against
integrals and drawn rows.
"""

import numpy as np
import pytest

from halfmoon.theory import fredholm_width, outer_width

SIGNAL = 4.0


@pytest.mark.parametrize("s", [None, 0.3])
@pytest.mark.parametrize("r", [0.5, 3.0, 1e4])
def test_the_outer_width_gives_the_width_that_was_asked_for(r, s):
    t = outer_width(r, SIGNAL, s)
    np.testing.assert_allclose(fredholm_width(t, SIGNAL, s), r, rtol=1e-11)


def test_no_average_is_narrower_than_the_inner_kernel():
    with pytest.raises(ValueError, match="never narrower"):
        outer_width(0.5, SIGNAL, 0.6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fredholm_width(1.0, 0.0), "variance is 0.0; a positive number is"),
        (lambda: outer_width(-1.0, 1.0), "r is -1.0; a positive number is needed"),
    ],
)
def test_variances_and_widths_are_positive(call, message):
    with pytest.raises(ValueError, match=message):
        call()
