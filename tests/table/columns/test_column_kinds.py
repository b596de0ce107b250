import datetime as dt
import uuid

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from tests.optional_modules import far_dates

from halfmoon.table._columns.column_kinds import Columns

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N).round(3)
SOME = RNG.integers(0, 5, N)


def use_of(cells, name="x", **options):
    table = pa.table({name: cells})
    return Columns.of(table, **options).uses[0]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([str(x) for x in NUMBERS], "number"),
        ([str(x) for x in SOME], "number"),
        ([str(x).replace(".", ",") for x in NUMBERS], "number"),
        ([f"{x:,}" for x in 997 + 13 * SOME], "number"),
        ([f"{x}%" for x in SOME], "number"),
        ([f"{1 + x} {'kg' if x % 2 else 'g'}" for x in SOME], "number"),
        ([f"{1 + x} {'kg' if x % 2 else 'boxes'}" for x in SOME], "category"),
        ([["Yes", "0", "TRUE", "n", "no"][x] for x in SOME], "boolean"),
        ([["0", "1", "2", "y", "n"][x] for x in SOME], "category"),
        ([f"10.0.{x}.{100 + x}" for x in SOME], "category"),
        ([f"1.{x}.0" for x in SOME], "category"),
        ([f"030 123 45{x}" for x in SOME], "category"),
        ([f"+49 170 123 45{x}" for x in SOME], "category"),
        ([f"{x}, or so" for x in NUMBERS], "number"),
        ([["yes", "no"][x % 2] for x in SOME], "boolean"),
        ([["T", "f"][x % 2] for x in SOME], "boolean"),
        ([["yes", "false"][x % 2] for x in SOME], "category"),
        ([f"{x:05d}" for x in 100 + SOME], "category"),
        ([f"{x + 1:02d}" for x in SOME], "number"),
        ([f"Pupil {1 + x}" for x in range(N)], "identifier"),
        ([f"Pupil {1 + x // 2}" for x in range(2 * N)], "number"),
        ([f"c. {1900 + x}" if x % 2 else f"{1900 + x}" for x in SOME], "number"),
        ([f"2020-01-{x + 1:02d}" for x in SOME], "date"),
        ([f"{x}:30" for x in SOME], "time"),
        ([["red", "blue", ""][x % 3] for x in SOME], "category"),
        (["NA", "", "?"] * 20, "empty"),
        (["same"] * N, "constant"),
        (["3"] * N, "constant"),
        ([str(uuid.UUID(int=int(x))) for x in RNG.integers(1, 2**62, N)], "identifier"),
        ([f"ID{x:04d}" for x in RNG.permutation(N)], "identifier"),
        ([f"DE{x:02d} 5097 2922 {x:04d}" for x in range(N)], "identifier"),
        ([f"(441) 378-50{x:02d}" for x in RNG.permutation(N)], "identifier"),
        ([f"Ward {10 + x} bed 3" for x in RNG.permutation(N)], "several numbers"),
        ([f"{x:02X}:0C:3{x % 10}:FF" for x in RNG.permutation(N)], "identifier"),
        (pa.nulls(N), "empty"),
        (pa.array(NUMBERS), "number"),
        (pa.array(NUMBERS.astype(np.float32)), "number"),
        (pa.array(SOME % 2 == 0), "boolean"),
        (pa.array([dt.date(2020, 1, 1 + x) for x in SOME.tolist()]), "date"),
        (pa.array([dt.time(x) for x in SOME.tolist()]), "time"),
        (pa.array([dt.timedelta(x) for x in SOME.tolist()]), "number"),
        (pa.array([f"v{x}" for x in SOME]).dictionary_encode(), "category"),
        (pa.array([[1, 2]] * N), "constant"),
        (pa.array([{"a": 1}] * N), "constant"),
        (pa.array(NUMBERS.reshape(-1, 4).tolist() * 4), "several numbers"),
        (pa.array([{"a": x, "b": -x} for x in NUMBERS]), "several numbers"),
        (pa.array([["x", "y", "z"][x % 3 : 1 + x] for x in SOME]), "several choices"),
        (pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int64())), "unsupported"),
        (pa.array([b"ab"] * N), "unsupported"),
    ],
)
def test_kinds(cells, kind):
    assert use_of(cells).kind == kind


def test_columns_left_out_have_a_reason():
    assert use_of(["7"] * N).why == "every cell is '7'"
    assert use_of([""] * N).why == "no cell has a value"
    assert use_of(pa.array([[1]] * N)).why == "every cell is '[1]'"
    assert use_of(pa.array([[b"a"]] * N)).why.startswith("cells of type list")
    assert use_of([""] * N).role == "left out"


def test_one_value_and_missing_cells_are_not_constant():
    use = use_of(["x", ""] * 30)
    assert (use.kind, use.role, use.missing) == ("category", "feature", 0.5)


@pytest.mark.parametrize("first", [0, 1, 17])
def test_a_column_that_numbers_the_rows_is_left_out(first):
    numbers = np.arange(first, first + N)
    for cells in (pa.array(numbers), [str(x) for x in numbers]):
        assert use_of(cells).why.startswith("it numbers the rows")
        assert use_of(cells, keep=["x"]).role == "feature"
        assert use_of(cells, known=["x"]).role == "known"


def test_row_numbers_are_found_in_a_sample_by_positions():
    positions = np.sort(RNG.choice(1_000, N, replace=False))
    assert use_of(pa.array(positions + 1)).kind == "number"
    assert use_of(pa.array(positions + 1), positions=positions).kind == "identifier"


@pytest.mark.parametrize("name", ["id", "PassengerId", "customer_id", "Unnamed: 0"])
def test_different_whole_numbers_called_identifiers_are_left_out(name):
    shuffled = pa.array(RNG.permutation(10 * N)[:N])
    assert use_of(shuffled, name).kind == "identifier"
    assert use_of(shuffled, "paid").kind == "number"
    assert use_of(pa.array(SOME), name).kind == "number"  # they repeat


def test_distinct_texts_with_words_are_not_identifiers():
    titles = ["Mr", "Mrs", "Miss"]
    names = [f"{titles[i % 3]} {chr(65 + i // 8)}. Doe{i}" for i in range(N)]
    assert use_of(names).role == "feature"


def test_a_stray_cell_becomes_missing_and_is_counted():
    table = pa.table({"x": [*map(str, range(98)), "abc", "inf"], "y": ["a", "b"] * 50})
    columns = Columns.of(table, keep=["x"])
    assert columns.uses[0].kind == "number"
    frame = columns.read(table)
    assert np.isnan(frame["x"].to_numpy()[-2:]).all()
    assert columns.unread == {"x": 2}
    columns.read(table.slice(98, 1))
    assert columns.unread == {"x": 3}


def test_later_rows_are_read_like_the_training_rows():
    text = pa.table({"n": ["1.5", "2"] * 5, "d": ["3/4/2020", "14/4/2020"] * 5})
    columns = Columns.of(text)
    later = pa.table({"n": [7, None], "d": ["01/02/2020", "2020-02-01"]})
    frame = columns.read(later)
    assert_array_equal(frame["n"], [7, np.nan])
    assert frame["d"][0].month == 2
    assert columns.unread == {"d": 1}


def test_an_empty_batch_has_the_same_columns():
    text = pa.table({"n": ["1.5", "2"] * 5, "c": ["a", "b"] * 5})
    frame = Columns.of(text).read(text.slice(0, 0))
    assert list(frame) == ["n", "c"]
    assert len(frame) == 0


@pytest.mark.parametrize("mark", ["--", "\u2013", "n.a.", "unknown"])
def test_numbers_may_be_rarer_than_the_words_for_none(mark):
    rain = [f"{x:.3f} mm" for x in NUMBERS[: N // 3]]
    words = [mark] * (N - len(rain) - 6)
    assert use_of([*rain, *words, *["trace"] * 6]).kind == "number"
    assert use_of(["1", "2", "3", *[mark] * (N - 3)]).kind == "category"  # of ratings


@pytest.mark.parametrize("word", ["n.a.", "unknown", "#N/A", "TBD", "missing"])
def test_words_for_missing_values_among_numbers(word):
    cells = [*(f"{x:.1f}" for x in 30 + NUMBERS), *[word] * 25]
    use = use_of(cells)
    assert (use.kind, use.strays, use.stray) == ("number", 25, word)
    assert use.missing == pytest.approx(25 / 85)
    assert use.reading() == f"25 cells like '{word}' counted as missing"
    assert use_of([*cells[:20], *[word] * 21]).kind == "category"


def test_reading_in_words():
    prices = [f"${x:,}" for x in 950 + 13 * SOME]
    assert use_of([*prices, "n.a."]).reading() == (
        "written with $ and commas; 1 cell like 'n.a.' counted as missing"
    )
    assert use_of([*prices, "n.a."]).reading(sampled=True) == (
        "written with $ and commas; some cells like 'n.a.' counted as missing"
    )
    assert use_of([str(x) for x in NUMBERS]).reading() == ""
    days = [f"2020-01-{x + 1:02d}" for x in SOME]
    assert use_of([*days, "unknown", "TBD", "TBD"]).reading() == (
        "3 cells like 'TBD' counted as missing"
    )


def test_a_scale_in_words():
    words = ["1 - Never", "2 - Rarely", "3 - Often", "9 - Don't know"]
    use = use_of([words[x % 4] for x in SOME])
    assert use.steps == ("1 - never", "2 - rarely", "3 - often")
    assert use.reading() == "a scale from '1 - never' to '3 - often'"


@pytest.mark.parametrize("word", ["keine Angabe", "#NV", "not tested", "$ -"])
def test_a_word_in_any_language_among_many_numbers_is_missing(word):
    cells = [f"{x:.3f}" for x in NUMBERS]
    cells[::4] = [word] * 15
    use = use_of(cells)
    assert use.kind == "number"
    assert use.reading() == f"15 cells like {word!r} counted as missing"
    values, _ = use.read(pa.array(cells))
    assert_array_equal(np.isnan(values), np.arange(N) % 4 == 0)


def test_words_among_few_different_numbers_make_categories():
    assert use_of([f"{x}" if x else "ground" for x in SOME]).kind == "category"


def test_many_different_words_among_numbers_make_text():
    cells = [f"{x:.3f}" for x in NUMBERS]
    cells[::4] = [f"word{'abcdefghijklmno'[i]}" for i in range(15)]
    assert use_of(cells).kind == "text"


def test_numbers_that_are_not_exact_keep_their_size():
    cells = ["<5", "~12", "ca. 30", "65+", "7*", "≥ 100", "8 (est.)", "approx. $40"]
    use = use_of(cells * 4)
    assert use.kind == "number"
    values, unread = use.read(pa.array(cells))
    assert_array_equal(values, [5, 12, 30, 65, 7, 100, 8, 40])
    assert unread == 0
    assert "signs as in <5, ~5, 5[1] or 5th, which were ignored" in use.reading()


@pytest.mark.parametrize("cells", [["<=50K", ">50K"], ["<18", ">18"], ["<65", "65+"]])
def test_two_sides_of_one_limit_are_categories(cells):
    assert use_of(cells * 30).kind == "category"


def test_truth_values_in_many_spellings():
    cells = [
        "Yes",
        "y",
        "TRUE",
        "1",
        "on",
        "1.0",
        "No",
        "n",
        "false",
        "0",
        "off",
        "0.0",
    ]
    values, unread = use_of(cells * 6).read(pa.array(cells))
    assert_array_equal(values, [1] * 6 + [0] * 6)
    assert unread == 0


def test_codes_for_missing_numbers_are_missing():
    cells = [f"{x:.1f}" for x in 30 + 10 * NUMBERS]
    cells[::10] = ["-999"] * 6
    use = use_of(cells)
    assert (use.codes, use.missing) == ((-999.0,), pytest.approx(0.1))
    assert use.reading() == "-999 counted as missing"
    values, unread = use.read(pa.array(["-999.0", "31", "-998"]))
    assert_array_equal(values, [np.nan, 31, -998])
    assert unread == 0
    typed = use_of(pa.array([*range(1, 40), 9999, 9999]))
    assert typed.codes == (9999.0,)


@far_dates
def test_dates_for_none_are_missing():
    cells = [f"{1 + x % 28:02d}.03.202{x % 5}" for x in range(N)]
    cells[::3] = ["31.12.9999"] * 20
    use = use_of(cells)
    assert (use.kind, use.missing) == ("date", pytest.approx(1 / 3))
    assert use.reading() == "9999-12-31 counted as missing"
    dates, unread = use.read(pa.array(["31.12.9999", "01.02.2021", "", "x"]))
    assert dates.isna().tolist() == [True, False, True, True]
    assert unread == 1
    typed = use_of(pa.array([dt.date(2020, 1, 2 + x % 20) for x in range(N)][:-2]))
    assert typed.codes == ()


@far_dates
def test_dates_in_eight_digits():
    cells = [f"2024{1 + x % 12:02d}{1 + x % 28:02d}" for x in range(N)]
    cells[::3] = ["99991231", "0"] * 10
    use = use_of(cells)
    assert (use.kind, use.codes) == ("date", (2932896.0,))
    assert use.read(pa.array(["20240229"]))[0][0].isoformat() == "2024-02-29T00:00:00"
    assert use_of([f"{20240100 + x}" for x in range(N)]).kind == "identifier"
    assert use_of([f"{20240000 + 7 * x}" for x in range(N)]).kind == "number"


def test_hexadecimal_numbers():
    cells = [f"0x{7919 * x % 65536:04X}" for x in range(N)]
    use = use_of([*cells, "0xFFFF"])
    assert (use.kind, use.reading()) == ("number", "hexadecimal")
    assert use.read(pa.array(["0xff", "0x10", "12"]))[0][:2].tolist() == [255, 16]
    assert use_of([cells[x] for x in SOME]).kind == "category"


@pytest.mark.parametrize(
    ("some", "value"),
    [("<0.5", 0.5), ("~3", 3.0), ("7+", 7.0)],
)
def test_a_few_signs_among_exact_numbers(some, value):
    """Few enough to be strays, which would be missing."""
    cells = [*map(str, NUMBERS), some, "ND"]
    use = use_of(cells)
    assert use.read(pa.array([some]))[0].tolist() == [value]
    assert use.strays == 1


def test_ten_or_more_years():
    cells = [["< 1 year", "1 year", "5 years", "10+ years"][x % 4] for x in SOME]
    use = use_of(cells)
    assert use.kind == "number"
    assert use.read(pa.array([*cells[:1], "10+ years"]))[0][1] == 10


def test_invisible_characters_around_a_cell_do_not_count():
    cells = [f"\u200b{x}" if i % 2 else f"{x}\u200e" for i, x in enumerate(NUMBERS)]
    use = use_of(cells)
    assert use.kind == "number"
    assert_array_equal(use.read(pa.array(cells))[0], NUMBERS)
    assert use_of(["\ufeff"] * N).kind == "empty"


@pytest.mark.parametrize(
    ("others", "value"),
    [
        (["0,95", "1,5"], 4.503),
        (["1.234,5", "12,25"], 4.503),
        (["961", "12"], 4503),
        (["0.95", "1.5"], 4503),
    ],
)
def test_a_table_has_one_decimal_sign(others, value):
    table = pa.table({"x": ["4,503", "39,000"] * 9, "y": others * 9})
    columns = Columns.of(table)
    assert columns.read(table)["x"][0] == value
    money = pa.table({"x": ["$4,503", "$39,000"] * 9, "y": others * 9})
    assert Columns.of(money).read(money)["x"][0] == 4503
    # A column in which the comma must separate thousands.
    more = table.append_column("z", pa.array(["1,234.5", "1,234,567"] * 9))
    assert Columns.of(more).read(more)["x"][0] == 4503
