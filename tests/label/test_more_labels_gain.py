"""What more labels would gain."""

import pytest

from halfmoon._label.labeling_progress import MoreLabelsGain
from halfmoon._label.live_accuracy import LiveAccuracy


def test_the_gain_of_more_labels_fits_the_accuracy_that_is_shown():
    forecast = MoreLabelsGain(0.06, 0.1, True, error=0.12)  # half of the error
    all_right = LiveAccuracy(1.0, 0.72, 1.0, 10, True)
    found = forecast.measured(all_right)
    assert found.gain == 0.0
    assert found.high == pytest.approx(0.1)  # not above its own upper end
    found = forecast.measured(LiveAccuracy(0.95, 0.94, 0.96, 900, True))
    assert found.gain == pytest.approx(0.5 * 0.05)
    assert found.high == pytest.approx(0.1 / 0.12 * 0.06)
    # Nothing gains more than the whole error.
    found = MoreLabelsGain(0.2, 0.3, True, error=0.1).measured(all_right)
    assert (found.gain, found.high) == (0.0, pytest.approx(0.28))
    for same in (forecast, MoreLabelsGain(0.1, 0.2, False)):
        assert same.measured(None) == same
    numbers = MoreLabelsGain(0.1, 0.2, False)
    assert numbers.measured(LiveAccuracy(3.0, 2.0, 4.0, 20, False)) == numbers


@pytest.mark.parametrize(
    ("gain", "found", "is_small"),
    [
        ((0.004, 0.05, True), (0.9, 0.7, 0.97, 20, True), True),
        ((0.02, 0.05, True), (0.9, 0.7, 0.97, 20, True), False),
        ((0.004, 0.2, True), (0.9, 0.7, 0.97, 20, True), False),
        ((0.015, 0.1, False), (10.0, 7.0, 15.0, 20, False), True),
        ((0.03, 0.1, False), (10.0, 7.0, 15.0, 20, False), False),
        ((0.015, 0.5, False), (10.0, 7.0, 15.0, 20, False), False),
    ],
)
def test_a_small_gain(gain, found, is_small):
    assert MoreLabelsGain(*gain).is_small(LiveAccuracy(*found)) == is_small
