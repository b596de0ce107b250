"""Messy tables, each beside the same table as a careful person would write it.

Three classes follow from a number x and a little from z. In most tables x alone is
written in a messy way, so that the difference between the two accuracies is what the
mess costs. Some tables have no clean twin: then the claims are all there is to check.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.everyday.tables import Everyday, a_few_of_each, some, table

__all__ = ["MESSY", "PAIRS"]

ROWS, LABELS = 300, 40


def measured(seed):
    """Make a number x from 0 to 1, a number z, a color and three classes."""
    rng = np.random.default_rng(seed)
    x, z = rng.random(ROWS), rng.normal(size=ROWS)
    score = 3 * x + 0.25 * z + 0.1 * rng.normal(size=ROWS)
    y = np.array(["low", "middle", "high"])[np.searchsorted([1.0, 2.0], score)]
    color = rng.choice(["red", "green", "blue"], ROWS)
    return pd.DataFrame({"x": x, "z": z.round(3), "color": color}), y, rng


def column(write: Callable, clean: Callable | None = None):
    """Return two functions of a seed: the table with x written so, and the clean one.

    ``write(x, rng)`` returns a cell; ``clean(x)`` what a careful person would write.
    """

    def made(seed, how):
        frame, y, rng = measured(seed)
        frame["x"] = [how(x, rng) for x in frame["x"]]
        return table(frame, "kind", y, some(ROWS, LABELS, seed))

    def messy(seed):
        return made(seed, write)

    def plain(seed):
        return made(seed, lambda x, rng: clean(x) if clean else round(float(x), 4))

    return messy, plain


def pick(rng, *ways):
    return ways[rng.integers(len(ways))]


# Numbers


def text_range(x, rng, sign="-", about=100):
    middle, half = 20 + about * x, int(rng.integers(1, 6))
    return f"{middle - half:.0f}{sign}{middle + half:.0f}"


def band(x, rng):
    at = 5 * int(18 + 50 * x) // 5 // 7 * 7
    return pick(rng, f"{at}-{at + 6}", f"{at} - {at + 6}", f"{at}–{at + 6}")


def fraction(x, rng):
    whole, part = divmod(int(32 * x), 8)
    if part == 0:
        return str(whole)
    text = {2: "1/4", 4: "1/2", 6: "3/4"}.get(part, f"{part}/8")
    return f"{whole} {text}" if whole else text


def sign_fraction(x, rng):
    whole, part = divmod(int(16 * x), 4)
    return f"{whole or ''}{['', '¼', '½', '¾'][part]}" or "0"


def code_for_missing(code, share=0.1):
    return lambda x, rng: code if rng.random() < share else round(100 * x, 1)


def two_currencies(x, rng):
    dollars = 100 + 900 * x
    return pick(rng, f"${dollars:.2f}", f"€{dollars / 1.1:.2f}")


def currency_codes(x, rng):
    dollars = 100 + 900 * x
    return pick(rng, f"{dollars:,.2f} USD", f"{dollars / 1.1:,.2f} EUR")


def weight(x, rng):
    kg = 40 + 60 * x
    return pick(rng, f"{kg:.1f} kg", f"{kg / 0.4536:.0f} lb")


def length(x, rng):
    cm = 150 + 50 * x
    return pick(rng, f"{cm:.0f} cm", f"{cm / 100:.2f} m")


def height(x, rng):
    feet, inches = divmod(round(48 + 36 * x), 12)
    return pick(rng, f"{feet}'{inches}\"", f"{feet}' {inches}\"")


def temperature(x, rng):
    celsius = -5 + 35 * x
    return pick(rng, f"{celsius:.1f}°C", f"{celsius * 9 / 5 + 32:.1f}°F")


def place(x, rng):
    degrees, minutes = divmod(int(60 * (40 + 20 * x)), 60)
    return f"{degrees}°{minutes:02d}'N"


def place_sides(x, rng):
    minutes = int(60 * (60 * x - 30))
    side = "N" if minutes >= 0 else "S"
    degrees, minutes = divmod(abs(minutes), 60)
    return f"{degrees}°{minutes:02d}'{rng.integers(60):02d}\"{side}"


def power(x, rng):
    return (
        f"{10 ** (3 * x):.3f} x 10^3"
        if rng.random() < 0.5
        else f"{10 ** (3 * x):.3f}×10³"
    )


def in_digits(digits):
    return lambda x, rng: f"{1000 * x:.1f}".translate(
        str.maketrans("0123456789", digits)
    )


def footnote(x, rng):
    return f"{1000 * x:.1f}" + pick(rng, "", "", "[1]", "[a]", " [note 2]")


def share_in_brackets(x, rng):
    return f"{300 * x:.0f} ({100 * x:.1f}%)"


def ordinal(x, rng):
    n = int(1 + 60 * x)
    end = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{end}"


def plus_minus(x, rng):
    return f"{100 * x:.1f} ± {rng.random() * 3:.1f}"


# Dates


def moment(x):
    return pd.Timestamp("2020-01-01") + pd.Timedelta(days=int(1000 * x))


def quarter(x, rng):
    at = moment(x)
    return pick(rng, f"Q{at.quarter} {at.year}", f"{at.year}-Q{at.quarter}")


def zoned(x, rng):
    at = moment(x).tz_localize("UTC")
    return at.tz_convert(
        pick(rng, "America/New_York", "Asia/Tokyo", "Europe/Paris")
    ).isoformat()


def excel_or_date(x, rng):
    at = moment(x)
    serial = (at - pd.Timestamp("1899-12-30")).days
    return pick(rng, str(serial), str(serial), at.strftime("%Y-%m-%d"))


# Words


LIKERT = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]


def likert(x, rng):
    word = LIKERT[min(4, int(5 * x))]
    return pick(rng, word, word.lower(), word + " ")


def many_choices(x, rng):
    words = ["mail", "phone", "shop", "web", "friend", "radio", "poster"]
    chosen = {words[int(6.99 * x)], *rng.choice(words[:3], 2)}
    return "; ".join(rng.permutation(sorted(chosen)))


def truth(x, rng):
    if x > 0.5:
        return pick(rng, "Y", "yes", "TRUE", "1", "Yes", "true", "y")
    return pick(rng, "N", "no", "FALSE", "0", "No", "false", "n")


def hidden_signs(x, rng):
    return pick(rng, "", "\u200b", "\ufeff", "\u200e") + f"{100 * x:.2f}"


NUMBERS = {
    "ranges 94-102": column(text_range),
    "ranges 18 to 25": column(lambda x, rng: text_range(x, rng, " to ")),
    "age bands 25-31": column(band),
    "ranges in dollars": column(lambda x, rng: "$" + text_range(x, rng, "-$")),
    "fractions 1/2, 2 3/4": column(fraction),
    "fractions 2½": column(sign_fraction),
    "scores 7/10": column(lambda x, rng: f"{int(10.99 * x)}/10"),
    "-999 for missing": column(code_for_missing("-999")),
    "9999 for missing": column(code_for_missing("9999")),
    "99 for missing, 0 to 9": column(
        lambda x, rng: "99" if rng.random() < 0.1 else str(int(9.99 * x))
    ),
    "two currencies $ and €": column(two_currencies),
    "two currencies, codes": column(currency_codes),
    "kg and lb": column(weight),
    "cm and m": column(length),
    "feet and inches": column(height),
    "°C and °F": column(temperature),
    "coordinates 48°51'N": column(place),
    "coordinates, both sides": column(place_sides),
    "ratios 3:1": column(lambda x, rng: f"{x * 10:.1f}:1"),
    "scientific 1.2E+03": column(lambda x, rng: f"{10 ** (4 * x):.2E}"),
    "1.2 x 10^3": column(power),
    "apostrophes 1'234": column(lambda x, rng: f"{5e4 * x:,.0f}".replace(",", "’")),
    "Arabic digits": column(in_digits("٠١٢٣٤٥٦٧٨٩")),
    "Devanagari digits": column(in_digits("०१२३४५६७८९")),
    "full-width digits": column(in_digits("０１２３４５６７８９")),
    "footnotes 12[1]": column(footnote),
    "count (percent)": column(share_in_brackets),
    "ordinals 1st, 2nd": column(ordinal),
    "5.2 ± 0.3": column(plus_minus),
    "hidden characters": column(hidden_signs),
    "numbers in quotes": column(lambda x, rng: f'"{100 * x:.2f}"'),
    "versions 1.10.2": column(
        lambda x, rng: f"{int(3 * x)}.{int(30 * x) % 10}.{rng.integers(20)}"
    ),
    "blood pressures 120/80": column(
        lambda x, rng: f"{90 + 80 * x:.0f}/{rng.integers(50, 100)}"
    ),
    "dimensions 10 x 12 cm": column(
        lambda x, rng: f"{10 + 30 * x:.0f} x {rng.integers(10, 30)} cm"
    ),
    "coordinates 48.85, 2.35": column(
        lambda x, rng: f"{40 + 20 * x:.4f}, {2 + 3 * rng.random():.4f}"
    ),
    "percent beside shares": column(
        lambda x, rng: pick(rng, f"{100 * x:.1f}%", f"{x:.3f}")
    ),
    "debit and credit": column(
        lambda x, rng: f"{abs(2_000 * x - 1_000):,.2f} {'DR' if x < 0.5 else 'CR'}"
    ),
    "dates as JavaScript": column(
        lambda x, rng: moment(x).strftime("%a %b %d %Y 00:00:00 GMT+0100 (CET)"),
        lambda x: moment(x).date(),
    ),
    "Excel serial dates": column(excel_or_date, lambda x: moment(x).date()),
    "epoch seconds": column(
        lambda x, rng: str(int(moment(x).timestamp())), lambda x: moment(x).date()
    ),
    "time zones": column(zoned, lambda x: moment(x).date()),
    "quarters Q1 2024": column(quarter, lambda x: moment(x).date()),
    "months Jan 24, 2024-02": column(
        lambda x, rng: moment(x).strftime(pick(rng, "%b %y", "%Y-%m", "%m/%Y")),
        lambda x: moment(x).date(),
    ),
    "Likert words": column(likert, lambda x: min(4, int(5 * x))),
    "several choices a; b": column(many_choices, lambda x: int(6.99 * x)),
    "truths in many spellings": column(truth, lambda x: int(x > 0.5)),
    "postal codes": column(
        lambda x, rng: f"{int(10 * x)}{rng.integers(1e4):04d}", lambda x: int(10 * x)
    ),
    "phone numbers": column(
        lambda x, rng: f"+1 ({200 + int(9 * x)}) 555-{rng.integers(1e4):04d}",
        lambda x: int(9 * x),
    ),
    "stars ★★★": column(
        lambda x, rng: "★" * int(1 + 4.99 * x) + "☆" * (5 - int(1 + 4.99 * x)),
        lambda x: int(1 + 4.99 * x),
    ),
    "right to left words": column(
        lambda x, rng: ["قليل", "متوسط", "كثير"][int(2.99 * x)] + pick(rng, "", " "),
        lambda x: int(2.99 * x),
    ),
}


# Whole files


def with_lines(change, above=0, below=0):
    """Change the lines of the clean table, and add lines that are not rows to it."""

    def messy(seed):
        made = clean(seed)
        lines = made.content.decode().splitlines()
        changed = "\n".join(change(lines, made)) + "\n"
        truth = np.pad(made.truth, (above, below), constant_values="")
        blank = np.pad(made.blank, (above, below), constant_values=False)
        return Everyday(changed.encode(), made.target, truth, blank)

    def clean(seed):
        frame, y, _ = measured(seed)
        frame["x"] = frame["x"].round(4)
        return table(frame, "kind", y, some(ROWS, LABELS, seed))

    return messy, clean


def shorter(lines, made):
    """Leave out the delimiter before a blank last cell."""
    return [line.rstrip(",") for line in lines]


def notes_below(lines, made):
    return [*lines, "", "Source: own survey", "Note: x was measured twice, see page 3"]


def units_below_header(lines, made):
    return [lines[0], "mm,kg,-,", *lines[1:]]


def two_header_lines(lines, made):
    return ["Measures,,Other,", *lines]


def trailing_spaces(lines, made):
    return [line + "  " if i % 3 else line for i, line in enumerate(lines)]


def typos(lines, made):
    """Misspell one label in ten."""
    labeled = 1 + np.flatnonzero(~made.blank)[::10]
    return [
        line.replace("middle", "midle").replace("high", "hihg")
        if i in labeled
        else line
        for i, line in enumerate(lines)
    ]


def empty_columns(lines, made):
    return [line + ",,," if i else line + ",a,b,c" for i, line in enumerate(lines)]


FILES = {
    "short rows": with_lines(shorter),
    "notes below": with_lines(notes_below, below=2),
    "a row of units": with_lines(units_below_header, above=1),
    "two header lines": with_lines(two_header_lines),
    "spaces after labels": with_lines(trailing_spaces),
    "misspelled labels": with_lines(typos),
    "empty columns": with_lines(empty_columns),
}


# Targets and shapes


def numbers_of(seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    level = X[:, 0] + 0.5 * X[:, 1] ** 2
    return pd.DataFrame(X.round(3), columns=list("abcd")), level, rng


def target(make, labels=60, write=None):
    """Return a table whose numbers are ``make(level, rng)``, written by ``write``."""

    def made(seed):
        frame, level, rng = numbers_of(seed)
        truth = np.asarray(make(level, rng), dtype=float)
        written = None if write is None else [write(v, rng) for v in truth]
        labeled = some(ROWS, labels, seed)
        return table(frame, "amount", truth, labeled, written=written)

    return made


def counts(level, rng):
    return rng.poisson(np.exp(1 + 0.6 * level))


def many_zeros(level, rng):
    return np.where(level > 0.8, np.round(100 * (level - 0.8), 1), 0.0)


def bounded(level, rng):
    return np.clip(np.round(50 + 30 * level + 5 * rng.normal(size=len(level))), 0, 100)


def outliers(level, rng):
    values = 100 + 20 * level + rng.normal(size=len(level))
    values[::29] = 1e12
    return values.round(2)


def bracketed(value, rng):
    return f"({-value:,.0f})" if value < 0 else f"{value:,.0f}"


def rare(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(1_500) < 0.01, "fraud", "fine")
    X = rng.normal(size=(1_500, 5)) + 2.5 * (y == "fraud")[:, None]
    frame = pd.DataFrame(X.round(3), columns=list("abcde"))
    labeled = np.union1d(np.flatnonzero(y == "fraud")[:3], some(1_500, 200, seed))
    return table(frame, "verdict", y, labeled)


def sixty_classes(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 60, 1_200)
    X = 3 * rng.normal(size=(60, 8))[y] + rng.normal(size=(1_200, 8))
    names = np.array([f"type {c:02d}" for c in y])
    frame = pd.DataFrame(X.round(3), columns=[f"f{i}" for i in range(8)])
    return table(frame, "type", names, a_few_of_each(names, 2, seed))


def very_wide(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 2_000))
    X[:, :60] += 0.6 * (2 * y[:, None] - 1)
    frame = pd.DataFrame(X.round(3), columns=[f"g{i}" for i in range(2_000)])
    return table(frame, "group", np.array(["a", "b"])[y], some(200, 40, seed))


def long_texts(seed):
    frame, y, rng = measured(seed)
    topics = {
        "low": "rain river boat",
        "middle": "road car tire",
        "high": "sun sand sea",
    }
    filler = ["the", "of", "and", "to", "in", "is", "it", "was", "for", "on", "are"]
    frame["story"] = [
        " ".join(
            np.where(
                rng.random(1_500) < 0.02,
                rng.choice(topics[c].split(), 1_500),
                rng.choice(filler, 1_500),
            )
        )
        for c in y
    ]
    return table(frame.drop(columns="x"), "kind", y, some(ROWS, LABELS, seed))


def repeated_rows(seed):
    frame, y, _ = measured(seed)
    twice = np.repeat(np.arange(ROWS), 3)
    labeled = np.isin(twice, some(ROWS, LABELS, seed)).nonzero()[0]
    frame = frame.iloc[twice].reset_index(drop=True)
    return table(frame, "kind", y[twice], labeled)


def groups(seed):
    """Five visits of each patient: whole patients are labeled, others are not."""
    rng = np.random.default_rng(seed)
    patients = 80
    own = rng.normal(size=(patients, 3))
    y = np.where(own[:, 0] + 0.7 * rng.normal(size=patients) > 0, "ill", "well")
    visit = np.repeat(np.arange(patients), 5)
    X = own[visit] + 0.1 * rng.normal(size=(len(visit), 3))
    frame = pd.DataFrame(X.round(3), columns=["a", "b", "c"])
    frame.insert(0, "patient", [f"P{i:03d}" for i in visit])
    labeled = np.flatnonzero(np.isin(visit, some(patients, 16, seed)))
    return table(frame, "state", y[visit], labeled)


def hashed(seed):
    frame, y, rng = measured(seed)
    frame.insert(0, "token", [rng.bytes(16).hex() for _ in range(ROWS)])
    frame["x"] = frame["x"].round(4)
    return table(frame, "kind", y, some(ROWS, LABELS, seed))


def few_strays(seed):
    made = target(lambda level, rng: (50 + 9 * level).round(1), 100)(seed)
    lines = made.content.decode().splitlines()
    at = 1 + int(np.flatnonzero(~made.blank)[3])
    lines[at] = lines[at].rsplit(",", 1)[0] + ",see note"
    return Everyday("\n".join(lines).encode(), made.target, made.truth, made.blank)


def one_line_frame(text, target_name):
    """A table that must be refused."""
    return lambda seed: Everyday(
        text.encode(), target_name, np.array([""]), np.array([True])
    )


TARGETS = {
    "counts": target(counts),
    "percents 12.5%": target(
        lambda level, rng: (100 / (1 + np.exp(-level))).round(1),
        write=lambda v, rng: f"{v}%",
    ),
    "bounded 0 to 100": target(bounded),
    "many zeros": target(many_zeros),
    "losses in brackets": target(
        lambda level, rng: (2_000 * level).round(), write=bracketed
    ),
    "outliers of 1e12": target(outliers),
    "1 % strays": few_strays,
    "ranges as target": target(
        lambda level, rng: (60 + 10 * level).round(),
        write=lambda v, rng: f"{v - 2:.0f}-{v + 2:.0f}",
    ),
    "$ and € as target": target(
        lambda level, rng: (600 + 90 * level).round(2),
        write=lambda v, rng: pick(rng, f"${v:.2f}", f"€{v / 1.1:.2f}"),
    ),
    "99 to 1": rare,
    "60 classes, 2 labels each": sixty_classes,
    "2,000 columns": very_wide,
    "texts of 1,500 words": long_texts,
    "rows three times": repeated_rows,
    "patients with five visits": groups,
    "hashed tokens": hashed,
    "header only": one_line_frame("a,b,kind\n", "kind"),
    "one label": one_line_frame("a,kind\n1,x\n2,\n3,\n", "kind"),
    "equal labels": one_line_frame("a,kind\n1,x\n2,x\n3,\n", "kind"),
    "a long row": one_line_frame("a,kind\n1,x\n2,y,z\n3,\n", "kind"),
}

PAIRS = NUMBERS | FILES
MESSY = {name: messy for name, (messy, _) in PAIRS.items()} | TARGETS
