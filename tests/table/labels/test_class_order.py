"""The order of classes."""

import pytest

from halfmoon.table._cells.scales import CYCLES, SCALES
from halfmoon.table._labels.class_order import resolved_order
from halfmoon.table._table_errors import LabelError


@pytest.mark.parametrize(
    "scale",
    [
        ("low", "medium", "high"),
        ("Low", "HIGH"),
        ("Never", "Rarely", "Sometimes", "Often", "Always"),
        ("very bad", "bad", "neutral", "good", "very good"),
        ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"),
        ("XS", "S", "M", "L", "XL"),
        ("mild", "moderate", "severe"),
        ("strongly-disagree", "agree"),
        ("1", "2", "3", "10"),
        ("-1", "0.5", "2"),
        (1, 2, 30),
        ("D", "C+", "B-", "B", "A-", "A+"),
        ("I", "II", "IV"),
        ("Mon", "Tue", "Sun"),
        ("January", "May", "December"),
        ("<18", "18-24", "25-34", "65+"),
        ("under 18", "18 to 64", "65 and over"),
        ("1/5 stars", "2/5 stars", "5/5 stars"),
        ("Level 2", "Level 10"),
    ],
)
def test_known_orders(scale):
    assert resolved_order("y", set(scale)) == scale


def test_every_known_scale_is_found_again():
    for scale in (*SCALES, *CYCLES):
        words = tuple(step[-1] for step in scale)
        assert resolved_order("y", set(words)) == words


def test_an_order_given_by_the_user():
    order = ("red", "amber", "absent", "green")
    assert resolved_order("y", {"green", "red", "amber"}, order) == (
        *("red", "amber", "green"),
    )
    assert resolved_order("y", {1, 2}, ("2", "1")) == (2, 1)


@pytest.mark.parametrize(
    ("classes", "order", "words"),
    [
        ({"green", "red"}, (), r"not known.*`order=\['green', 'red'\]` if"),
        ({"low", "high", "blue"}, (), r"not known.*\['blue', 'high', 'low'\]"),
        ({"Q1 2024", "Q4 2023"}, (), "not known"),
        ({"a", "b"}, ("a",), "does not name the class 'b'"),
        ({"a", "b"}, ("a", "b", "a"), "names 'a' twice"),
    ],
)
def test_orders_that_the_user_must_give(classes, order, words):
    with pytest.raises(LabelError, match=words):
        resolved_order("y", classes, order)
