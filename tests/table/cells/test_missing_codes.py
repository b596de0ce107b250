"""Numbers such as -999 that stand for a missing value."""

import numpy as np
import pytest

from halfmoon.table._cells.missing_codes import missing_codes
from halfmoon.table._labels.label_checks import checked_labels
from halfmoon.table._runs.run_settings import Settings

AGES = [18.0, 25, 33, 47, 52, 61, 70]


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([*AGES, -999, -999], (-999,)),
        ([*AGES, 9999, 9999, np.nan], (9999,)),
        ([*AGES, 999.9, 999.9], (999.9,)),
        ([*AGES, -9, -9], ()),  # as near as the ages are to each other
        ([1, 2, 3, 4, 5, -9, -9], (-9,)),
        ([0, 1, 2, 3, 4, 5, 97, 98, 99, 99], (97, 98, 99)),
        ([0, 1, 2, 3, 4, 5, 98, 98], ()),  # without nines, it is a number
        ([*AGES, -999], ()),  # once may be a mistake, or a number
        ([*AGES, 99, 99], ()),  # an age
        ([1, 2, -999, -999, -999], ()),  # too few others to judge by
        ([*AGES, 1000, 1000], ()),
        ([], ()),
    ],
)
def test_codes(numbers, codes):
    assert missing_codes(np.array(numbers, dtype=float)) == codes


def test_labels_that_are_codes_are_ignored_with_a_note():
    labels = [*map(str, AGES), "-999", None, "-999.0", "33.5"]
    checked = checked_labels(labels, Settings("age"))
    assert checked.labels == [*AGES, None, None, None, 33.5]
    assert checked.n_ignored == 2
    (note,) = checked.notes
    assert note.text == (
        "2 labels of 'age' are -999, far from all others, as a mark for a blank would "
        "be. They were ignored and not changed."
    )
    assert note.command == "unlabeled='-999'"
