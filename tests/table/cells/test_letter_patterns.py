"""Patterns for ASCII text say the same of it as the patterns with all letters."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from halfmoon.table._cells import (
    date_formats,
    date_spellings,
    number_detection,
    number_signs,
)
from halfmoon.table._cells.letter_patterns import pattern_for
from halfmoon.table._runs import rows_without_data

NAMES = [names.split("|") for names in date_spellings.MONTHS.values()]
CELLS = pa.array(
    [
        *("3 de mayo de 2024", "May 3rd, 2024", "5 Mai 2024", "05FEB2024", "MAY-24"),
        *("05 FEB 2024:15:08", "05-FEB-24 03.08.00.0 PM", "Dec. '24", "May 2024"),
        *("USD 5.-", "$5.- each", "-$1,053.20 (m/s)", "Rs. 7 lbs", "ab", "10+ years"),
        *(f"5 {next(filter(str.isascii, names))}" for names in NAMES),
        *("Di, 03.09.24", "9 Sep. 2024", "3/5/2024 (Fri)", "Fri 3 May 2024"),
        *("Fri, May 3, 2024", "may de 2024", "3/5/2024 at 15:08"),
        *("about EUR 30", "<5 kg", "12_a", "@5", "[6]", "^7", "`8", "{9}", "", None),
    ]
)
PATTERNS = [
    number_detection.CELL,
    number_signs.BEFORE,
    number_signs.PLUS_UNIT,
    number_signs.NO_CENTS,
    date_formats.NUMBER_AND_SEPARATOR,
    rows_without_data.NUMBER,
    *(pattern for pattern, _ in date_spellings.CHANGES if "{L}" in pattern),
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_ascii_text_is_matched_alike_without_unicode_classes(pattern):
    plain = pattern_for(CELLS, pattern)
    assert r"\p" not in plain
    found = [pc.replace_substring_regex(CELLS, each, "#") for each in (pattern, plain)]
    assert found[0].equals(found[1])
    assert not found[0].equals(CELLS)


def test_other_text_keeps_all_letters():
    text = pa.array(["5 Mai", "5 März"])
    assert pattern_for(text, date_spellings.BOUND) == date_spellings.BOUND
