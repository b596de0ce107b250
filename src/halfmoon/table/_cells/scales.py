"""Words in an order, such as never, rarely, often; or strongly disagree to agree.

A word of degree before the same words makes a step: *not at all likely* is below
*somewhat likely*, *slightly dissatisfied* is above *very dissatisfied* and below
*satisfied*. Other scales are listed. Words may have numbers, as in *1 - never*. If some
numbers have none, as in *0 (worst), 1, 2, 3 (best)*, any words will do; otherwise they
must be a scale, for *1 - red, 2 - green, 3 - blue* is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from halfmoon.table._cells.cell_values import looks_blank

__all__ = ["CYCLES", "SCALES", "folded", "in_known_order", "steps_of"]

KNOWN = """
none < very low|lowest < low < medium|mid|middle|moderate|normal|average
    < high < very high|highest
low < medium|normal < high < critical|urgent
never < rarely|seldom < sometimes|occasionally < about half the time
    < often|frequently|most of the time < usually < always
terrible|awful < very bad|very poor < bad|poor < fair
    < neutral|ok|okay|average|medium < good < very good < excellent < outstanding
very negative < negative < neutral < positive < very positive
very small < small < medium < large < very large
tiny < small < medium < large < huge
xxs < xs < s < m < l < xl < xxl|2xl < xxxl|3xl
none|no < mild|minor|slight < moderate < severe|major < critical|extreme
trivial < minor < normal|medium < major < critical < blocker
very easy < easy < medium|moderate < hard|difficult < very hard|very difficult
very cold < cold < cool < mild|warm < hot < very hot
beginner|novice < intermediate < advanced < expert
bronze < silver < gold < platinum < diamond
f < e < d- < d < d+ < c- < c < c+ < b- < b < b+ < a- < a < a+
i < ii < iii < iv < v < vi < vii < viii < ix < x
worse < same|unchanged < better
none|none at all|nothing < a little < a moderate amount < a lot < a great deal
"""
#: In these the last is also before the first.
KNOWN_CYCLES = """
mon|monday < tue|tuesday < wed|wednesday < thu|thursday < fri|friday < sat|saturday
    < sun|sunday
jan|january < feb|february < mar|march < apr|april < may < jun|june < jul|july
    < aug|august < sep|september < oct|october < nov|november < dec|december
"""
Scales = tuple[tuple[tuple[str, ...], ...], ...]


def _scales(known: str) -> Scales:
    return tuple(
        tuple(tuple(step.strip().split("|")) for step in scale.split("<"))
        for scale in known.strip().replace("\n    ", " ").splitlines()
    )


#: Known scales from low to high; synonyms are one step.
SCALES: Scales = _scales(KNOWN)
CYCLES: Scales = _scales(KNOWN_CYCLES)

DEGREES = (  # from weak to strong
    "slightly|a little|a bit",
    "somewhat|rather",
    "moderately|fairly|generally|mostly",
    "",
    "quite|definitely",
    "very|strongly|highly",
    "extremely|completely|totally|fully|absolutely",
)
DENIED = (  # from strong to weak
    "not at all",
    "not very|not so|not too|not really|not particularly|not",
)
ADVERBS = [
    (place, adverb)
    for start, rows in ((-len(DENIED), DENIED), (1, DEGREES))
    for place, row in enumerate(rows, start)
    for adverb in row.split("|")
]
PLAIN_DEGREE = 1 + DEGREES.index("")
OPPOSITES = ("dis", "un", "in", "im")
NEUTRAL = re.compile("neutral|undecided|neither(?: .*)?|no (?:opinion|preference)")
NUMBERED = re.compile(r"[(\[]?([0-9]{1,2})[)\]]?(?: ?[-–—=:.)(] ?| )?([^0-9]*?)\)?")
LETTERS = frozenset("abcdef")  # alone they are names of groups as often as grades
MIN_STEPS = 3


def folded(text: object) -> str:
    """Return a text in lower case, with single spaces instead of - and _ in words."""
    words = re.sub(r"(?<=\w)-(?=\w)", " ", str(text).casefold().replace("_", " "))
    return " ".join(words.split())


def steps_of(texts: Collection[str]) -> list[str]:
    """Return the folded texts of a scale from low to high; empty if it is none.

    A scale has three steps or more. Months and weekdays are none, as they go round.

    Examples
    --------
    >>> steps_of(["Agree", "Disagree", "neutral", "agree"])
    ['disagree', 'neutral', 'agree']
    >>> steps_of(["3 (best)", "2", "1 (worst)", "9 - don't know"])
    ['1 (worst)', '2', '3 (best)']
    """
    words = {folded(text) for text in texts}
    order = in_known_order(words) or _by_number(words)
    return order if len(order) >= MIN_STEPS and not LETTERS.issuperset(order) else []


def _by_number(words: Collection[str]) -> list[str]:
    """Return numbered words by their numbers; empty if they need not be a scale."""
    found = {word: NUMBERED.fullmatch(word) for word in words}
    parts = {word: (int(each[1]), each[2]) for word, each in found.items() if each}
    known = {word: part for word, part in parts.items() if not looks_blank(part[1])}
    numbers = {number: word for word, (number, _) in known.items()}
    names = {name: word for word, (_, name) in known.items()}
    if len(parts) < len(words) or len(numbers) < len(known):
        return []
    if len(names) == len(known) and (order := in_known_order(names)):
        return [names[name] for name in order]
    return [numbers[number] for number in sorted(numbers)] if "" in names else []


def in_known_order(words: Collection[str], scales: Scales = SCALES) -> list[str]:
    """Return folded words from low to high; empty if their order is not known.

    Examples
    --------
    >>> in_known_order({"not at all likely", "very likely", "somewhat likely"})
    ['not at all likely', 'somewhat likely', 'very likely']
    """
    for scale in scales:
        steps = [[word for word in step if word in words] for step in scale]
        if sum(map(len, steps)) == len(words) and max(map(len, steps)) == 1:
            return [step[0] for step in steps if step]
    return _by_degree(words)


def _by_degree(words: Collection[str]) -> list[str]:
    """Return words of degree before the same stem, or its opposite, in their order."""
    neutral = [word for word in words if NEUTRAL.fullmatch(word)]
    parts = {word: found for word in words if (found := _parts(word))}
    stems = sorted({stem for stem, _ in parts.values()}, key=len)
    if len(parts) + len(neutral) < len(words) or not 1 <= len(stems) <= 2:
        return []
    opposites = {prefix + stems[0] for prefix in OPPOSITES}
    if len(stems) == 2 and stems[1] not in opposites:
        return []
    places = dict.fromkeys(neutral, 0)
    for word, (stem, degree) in parts.items():
        places[word] = degree if stem == stems[0] else -degree
    if len(set(places.values())) < len(places):
        return []
    return sorted(places, key=places.__getitem__)


def _parts(word: str) -> tuple[str, int] | None:
    """Return the stem of a word and its degree, below 0 if denied; None if neutral."""
    if NEUTRAL.fullmatch(word):
        return None
    for degree, adverb in ADVERBS:
        if adverb and (word == adverb or word.startswith(f"{adverb} ")):
            return word.removeprefix(adverb).strip(), degree
    return word, PLAIN_DEGREE
