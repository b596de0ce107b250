"""Answers for random rows."""

from halfmoon._label.answers import Answer


def answer(i, value, predicted, labels=100, **more):
    given = {"why": "random", "shown": False, "predicted": predicted, "labels": labels}
    return Answer(f"i{i}", ("h", f"k{i}", i), value, **(given | more))
