"""Checks of labels, and their notes."""

import numpy as np
import pyarrow as pa
import pytest

from halfmoon.table._labels.given_labels import Blanks
from halfmoon.table._labels.label_checks import (
    checked_labels,
    mark_notes,
    spelling_key,
)
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError, LabelError


def checked(labels, **settings):
    return checked_labels(labels, Settings("y", **settings))


@pytest.mark.parametrize(
    "spellings",
    [
        ("Yes", "yes ", " YES", "yes.", '"Yes"'),
        ("Yes", "y", "Y", " y."),
        ("no", "N"),
        ("TRUE", "t"),
        ("New York", "new_york", "NEW-YORK", "New  York"),
        ("Café", "CAFE", "cafe"),
        ("50K", "50k."),
        ("1", "01", "1.0", "001."),
    ],
)
def test_spellings_of_one_class(spellings):
    assert len({spelling_key(each) for each in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A+", "A-"),
        ("<=50K", ">50K"),
        ("1-2", "1 2"),
        ("-1", "1"),
        ("C++", "C#"),
        (".5", "5"),
        ("yes?", "yes"),
        ("(5)", "5"),
        ("?", "!"),
        ("1.1", "1.10"),
        ("10", "1"),
    ],
)
def test_signs_that_distinguish_classes(one, other):
    assert spelling_key(one) != spelling_key(other)


MESSY = ["Yes", "yes ", "YES", "yes", "No", "no", "No", None, "maybe", "maybe"]


def test_spellings_are_noted_and_stay_classes():
    found = checked(MESSY)
    assert found.labels == ["Yes", "yes", "YES", "yes", *MESSY[4:]]
    one, other = found.notes
    assert one.text == (
        "'yes', 'Yes' and 'YES' look like one class, but were taken as 3 classes."
    )
    assert other.text == (
        "'No' and 'no' look like one class, but were taken as 2 classes."
    )
    assert one.important
    assert one.command == "merge_labels=True"
    assert one.remedy.endswith("use `merge_labels=True`.")


def test_spellings_are_merged_into_the_most_common_on_request():
    found = checked(MESSY, merge_labels=True)
    assert found.labels == ["yes"] * 4 + ["No"] * 3 + [None, "maybe", "maybe"]
    assert [str(note) for note in found.notes] == [
        "'yes', 'Yes' and 'YES' were merged into one class, 'yes'.",
        "'No' and 'no' were merged into one class, 'No'.",
    ]
    assert not any(note.important for note in found.notes)


def test_a_visible_spelling_stands_for_the_others():
    found = checked(["Inn\u200b", "Inn\u200b", "Inn", "Bar", "Bar"], merge_labels=True)
    assert found.labels == ["Inn"] * 3 + ["Bar"] * 2
    assert found.notes[0].text == (
        "'Inn' and 'Inn\\u200b' were merged into one class, 'Inn'."
    )


def test_clean_labels_have_no_notes():
    assert checked(["cat", "dog", None, "cat"]).notes == ()
    assert checked(["A+", "A-", "B", "A+"]).notes == ()
    assert checked([True, False, None]).notes == ()
    assert checked(["0", "1", "0"]).notes == ()
    assert checked([1.5, 2.25, None, 7.0]).notes == ()


def test_words_for_a_blank():
    (note,) = checked(["a", "b", "?", "?", "TBD", "a b"]).notes
    assert note.text == (
        "'?' (2 labels) and 'TBD' (1 label) look like blanks, but were taken as "
        "classes."
    )
    assert note.command == "unlabeled=['?', 'TBD']"
    assert note.remedy == f"To have such cells filled, use `{note.command}`."
    (note,) = checked(["a", "b", "not known", None]).notes
    assert note.text == (
        "'not known' (1 label) looks like a blank, but was taken as a class."
    )
    assert note.command == "unlabeled='not known'"
    assert note.important


def test_words_among_numbers_are_ignored():
    numbers = [f"{x:.0f}" for x in np.linspace(3000, 5000, 58)]
    found = checked([*numbers, "approx 3900", None, "heavy"])
    assert (found.kind, found.n_ignored) == ("numbers", 2)
    assert found.labels[:2] == [3000.0, 3035.0]
    assert found.labels[58:] == [None, None, None]
    (note,) = found.notes
    assert note.text == (
        "2 labels of 'y' are not numbers ('approx 3900', 'heavy'). They were ignored "
        "and not changed."
    )
    assert note.command == "unlabeled=['approx 3900', 'heavy']"
    assert "`task='classes'`" in note.remedy
    assert note.important


def test_blank_words_do_not_make_numbers_classes():
    found = checked(["2.5", "3.5", "4.5", *["unknown"] * 9])
    assert (found.kind, found.n_ignored) == ("numbers", 9)
    assert found.labels == [2.5, 3.5, 4.5, *[None] * 9]
    assert found.notes[0].text.startswith("9 labels of 'y' are not numbers ('unknown')")


def test_many_words_among_numbers_are_an_error_of_the_task_numbers():
    with pytest.raises(LabelError, match="2 labels of 'y' are not numbers"):
        checked(["1", "2", "low", "high"], task="numbers")


def test_whole_numbers_taken_as_classes():
    (note,) = checked([*"1255342", None]).notes
    assert note.text == "'y' holds whole numbers from 1 to 5 and was filled as classes."
    assert "`task='numbers'` for amounts" in note.remedy
    assert "`task='ordered'` for a scale" in note.remedy
    assert checked([*"1255342"], task="classes").notes == ()


def test_limits_among_numbers_need_a_column():
    numbers = [f"{x:.2f}" for x in np.linspace(0.5, 3.0, 12)]
    with pytest.raises(LabelError, match="20 labels of 'y' are only limits, such as"):
        checked([*numbers, *["<0.50"] * 20])
    with pytest.raises(LabelError, match=r"`high='COLUMN'`\. To fill .*ed='<0.50'`"):
        checked([*numbers, *["<0.50"] * 2])
    assert checked([*numbers, "<0.50"]).n_ignored == 1  # one in ten
    assert checked(["<50K", ">50K", "<50K"]).kind == "classes"


def test_points_that_may_separate_thousands():
    labels = [f"{x:.3f}" for x in np.linspace(1.2, 9.8, 12)]
    (note,) = checked(labels).notes
    assert note.text == (
        "The point in labels of 'y' such as '1.200' was read as that of decimals."
    )
    assert checked(["0.123", *labels]).notes == ()
    assert checked([f"{1.5 * i:.3e}" for i in range(1, 13)]).notes == ()


def test_amounts_taken_as_classes():
    heights = [f"{5 + i // 12}'{i % 12}\"" for i in range(14)]
    (note,) = checked(heights * 2).notes
    assert note.text == (
        "Labels of 'y' such as '5\\'0\"' were taken as classes, without an order."
    )
    assert note.remedy.endswith("write each as one number, without other signs.")
    assert checked(["18-24", "25-34", "65+"] * 5).notes == ()


def test_codes_are_no_whole_numbers():
    assert checked(["01067", "04109", "10115", "01067"]).notes == ()
    codes = ["2134", "10115", "80331", "50667", "60311", "70173", "40211", "30159"]
    codes = [*codes, "90402", "28195", "44135", "45127"]
    for labels in (codes * 3, [float(code) for code in codes * 3]):
        found = checked([*labels, None])
        assert found.kind == "classes"
        assert found.labels[0] == labels[0]
        assert "`task='numbers'` for amounts" in found.notes[0].remedy


def test_repeated_prices_and_years_are_no_codes():
    prices = [str(500 * i + 999) for i in range(12)]
    assert checked(prices * 3).kind == "numbers"
    assert checked([str(year) for year in range(1990, 2002)] * 3).kind == "numbers"
    assert checked([str(87 * i**2 + 1000) for i in range(12)]).kind == "numbers"


def test_ordered_classes_have_their_order():
    found = checked(["10", "9", "8", "9", None], task="ordered")
    assert (found.kind, found.order) == ("classes", ("8", "9", "10"))
    assert found.notes == ()
    found = checked(["high", "Low", "high", None], task="ordered")
    assert found.notes[-1].text == (
        "The order of the classes, from low to high, was taken to be 'Low' < 'high'."
    )
    found = checked(["b", "a", "b"], task="ordered", order=("b", "a"))
    assert found.order == ("b", "a")


def test_marks_that_no_cell_has():
    labels = ["unknown", "cat", "?"]
    blanks = Blanks(["unknwon", "?,unknown", "zebra"])
    blanks.mask(pa.array(labels))
    notes = list(mark_notes("y", blanks, labels))
    assert [note.text for note in notes] == [
        "No cell of 'y' is 'unknwon', which is named in `unlabeled`.",
        "No cell of 'y' is '?,unknown', which is named in `unlabeled`.",
        "No cell of 'y' is 'zebra', which is named in `unlabeled`.",
    ]
    assert [note.remedy for note in notes] == [
        "Did you mean `unlabeled='unknown'`?",
        "Did you mean `unlabeled=['?', 'unknown']`?",
        "",
    ]


def test_settings_take_one_mark_or_several():
    assert Settings("y", unlabeled="?").unlabeled == ("?",)
    assert Settings("y", unlabeled=["?", "x"]).unlabeled == ("?", "x")
    assert Settings("y", unlabeled=None).unlabeled == () == Settings("y").unlabeled


def test_an_order_makes_the_task_ordered():
    assert Settings("y", order=("a", "b")).task == "ordered"
    needs = "needs `task='ordered'`, but the task is 'numbers'"
    with pytest.raises(CommandError, match=needs):
        Settings("y", order=("a", "b"), task="numbers")


def test_numbers_and_words_are_not_classes():
    prices = [f"${1000 + 37 * i:,}" for i in range(30)]
    with pytest.raises(LabelError) as error:
        checked([*prices, *["on request"] * 10])
    assert str(error.value) == (
        "30 labels of 'y' are numbers, but 10 labels are not, such as 'on request'. To "
        "learn from the numbers and fill the others, use `unlabeled='on request'`. If "
        "all of them are classes, use `task='classes'`."
    )
    grades = [*"123456" * 5, "absent", "excused"]
    assert checked(grades).kind == "classes"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [f"sku{i % 300}" for i in range(900)],
            r"300 different values in 900 labels, but at most 200 classes are poss",
        ),
        (
            [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(40)],
            r"hardly any repeat\. Dates cannot be filled: turn them into numbers",
        ),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(LabelError, match=message):
        checked(labels)


@pytest.mark.parametrize("wrong", ["15000", "15,000", "$ 15000"])
def test_a_number_far_outside_of_the_others_is_named(wrong):
    labels = [*map(str, range(100, 140)), wrong, None]
    found = checked_labels(labels, Settings("price", task="numbers"))
    assert found.labels[-2:] == [15_000.0, None]  # as given; it is learned as 139
    (note,) = found.notes
    assert str(note).startswith("1 label of 'price' is far outside the range of the ")
    assert "others: 15000. It was treated as 139, the largest of" in note.text


def test_usual_numbers_have_no_note():
    assert not checked_labels([*map(str, range(100, 140))], Settings("y")).notes


@pytest.mark.parametrize(
    ("different", "words"),
    [
        (9, "from 21 to 29 and was filled as classes. Use `task='numbers'`"),
        (15, "from 21 to 35 and was filled as numbers. If they name classes, use `t"),
    ],
)
def test_whole_numbers_have_a_note(different, words):
    labels = [str(21 + k % different) for k in range(60)]
    (note,) = checked_labels(labels, Settings("age")).notes
    assert words in str(note)
    task = note.command.removeprefix("task='").removesuffix("'")
    assert checked_labels(labels, Settings("age", task=task)).notes == ()


def test_many_whole_numbers_have_no_note():
    labels = [str(k % 40) for k in range(60)]
    assert checked_labels(labels, Settings("age")).notes == ()
