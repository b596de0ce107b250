"""Everyday tables: CSV files as people save them, and the true labels.

A table is made from a seed alone. Packages that carry data (palmerpenguins,
vega_datasets) are in the dependency group ``everyday``.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as toy

__all__ = ["TABLES", "Everyday"]


@dataclass(frozen=True)
class Everyday:
    """A table to fill.

    Attributes
    ----------
    content : bytes
        The file.
    target : str
    truth : ndarray of shape (n,)
        Classes as text, or numbers, of every row.
    blank : ndarray of bool of shape (n,)
        Rows whose label is to be filled in.
    options : tuple of str
        Of the command.
    """

    content: bytes
    target: str
    truth: np.ndarray
    blank: np.ndarray
    options: tuple[str, ...] = field(default=())

    @property
    def numbers(self) -> bool:
        return self.truth.dtype.kind == "f"


def table(frame, target, truth, labeled, *, written=None, encoding="utf-8", sep=","):
    """Blank the target of a frame in all but some rows."""
    truth = np.asarray(truth)
    cells = np.full(len(truth), "", dtype=object)
    written = truth if written is None else np.asarray(written, dtype=object)
    cells[labeled] = [str(value) for value in written[labeled]]
    text = io.StringIO()
    frame.assign(**{target: cells}).to_csv(text, index=False, sep=sep)
    blank = np.ones(len(truth), dtype=bool)
    blank[labeled] = False
    return Everyday(text.getvalue().encode(encoding), target, truth, blank)


def some(n, count, seed):
    return np.sort(np.random.default_rng(seed).permutation(n)[:count])


def a_few_of_each(y, count, seed):
    """Draw some rows of each class."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(y == c))[:count] for c in np.unique(y)]
    return np.sort(np.concatenate(rows))


# Well-formed tables


def scikit(name):
    bunch = getattr(toy, f"load_{name}")()
    names = [str(each) for each in bunch.feature_names]
    return pd.DataFrame(bunch.data, columns=names), bunch.target_names[bunch.target]


def wines(seed):
    frame, y = scikit("wine")
    return table(frame, "cultivar", y, some(len(y), 18, seed))


def penguin_frame():
    with (files("palmerpenguins") / "data" / "penguins.csv").open() as file:
        return pd.read_csv(file)


def penguins(seed):
    frame = penguin_frame()
    y = frame.pop("species").to_numpy(str)
    return table(frame, "species", y, some(len(y), 30, seed))


def penguin_mass(seed):
    frame = penguin_frame().dropna(subset=["body_mass_g"]).reset_index(drop=True)
    y = frame.pop("body_mass_g").to_numpy(float)
    return table(frame, "body_mass_g", y, some(len(y), 60, seed))


def car_frame():
    cars = files("vega_datasets") / "_data" / "cars.json"
    return pd.DataFrame(json.loads(cars.read_text()))


def car_origin(seed):
    frame = car_frame()
    y = frame.pop("Origin").to_numpy(str)
    return table(frame, "Origin", y, some(len(y), 40, seed))


def car_mileage(seed):
    frame = car_frame().dropna(subset=["Miles_per_Gallon"]).reset_index(drop=True)
    y = frame.pop("Miles_per_Gallon").to_numpy(float)
    return table(frame, "Miles_per_Gallon", y, some(len(y), 60, seed))


def hundred_classes(seed):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(100, 10)) * 4
    y = rng.integers(0, 100, 3_000)
    X = centers[y] + rng.normal(size=(3_000, 10))
    frame = pd.DataFrame(X, columns=[f"measure {i}" for i in range(10)])
    names = np.array([f"kind {c:02d}" for c in y])
    return table(frame, "kind", names, some(len(y), 400, seed))


def genes(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3_000))
    X[:, :40] += 0.5 * (2 * y[:, None] - 1)
    frame = pd.DataFrame(X.round(4), columns=[f"gene {i}" for i in range(3_000)])
    return table(frame, "group", np.array(["a", "b"])[y], some(120, 30, seed))


def digits(count):
    def made(seed):
        X, y = toy.load_digits(return_X_y=True)
        frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
        names = np.array([f"digit {c}" for c in y])
        return table(frame, "digit", names, a_few_of_each(names, count, seed))

    return made


def iris_one(seed):
    frame, y = scikit("iris")
    return table(frame, "species", y, a_few_of_each(y, 1, seed))


def three_rows(seed):
    frame = pd.DataFrame({"size": [1.0, 9.0, 8.5], "color": ["red", "blue", "blue"]})
    return table(frame, "kind", ["a", "b", "b"], [0, 1])


def fraud(seed):
    rng = np.random.default_rng(seed)
    y = np.array(["fine"] * 1_980 + ["fraud"] * 20)
    X = rng.normal(size=(2_000, 6))
    X[1_980:] += 2.2
    order = rng.permutation(2_000)
    frame = pd.DataFrame(X[order], columns=[f"signal {i}" for i in range(6)])
    y = y[order]
    frauds, fine = np.flatnonzero(y == "fraud"), np.flatnonzero(y == "fine")
    labeled = np.sort(np.concatenate([frauds[:4], fine[:396]]))
    return table(frame, "verdict", y, labeled)


def stars(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 4))
    score = X[:, 0] + 0.6 * X[:, 1] + 0.4 * rng.normal(size=400)
    y = 1 + np.searchsorted([-1.2, -0.4, 0.4, 1.2], score)
    names = ["food", "service", "noise", "price"]
    return table(
        pd.DataFrame(X.round(3), columns=names),
        "stars",
        y.astype(str),
        some(400, 60, seed),
    )


# Numbers as people write them


def house_frame(seed):
    """Make four hundred houses with their prices in thousands."""
    rng = np.random.default_rng(seed)
    area = np.exp(rng.normal(7.2, 0.45, 400)).round()
    rooms = np.clip((area / 350 + rng.normal(0, 1, 400)).round(), 1, 12)
    year = rng.integers(1900, 2024, 400)
    district = rng.choice(["north", "south", "center"], 400)
    factor = pd.Series(district).map({"north": 0.9, "south": 1.0, "center": 1.3})
    price = 0.2 * area * factor.to_numpy() * (1 + (year - 1900) / 400)
    price = price * np.exp(rng.normal(0, 0.08, 400))
    tax = (0.6 + 0.4 * rng.random(400)) * 10
    frame = pd.DataFrame(
        {
            "area_sqft": area,
            "rooms": rooms,
            "year": year,
            "district": district,
            "tax": tax,
        }
    )
    return frame, price.round(2)


def houses(seed):
    frame, price = house_frame(seed)
    return table(frame, "price", price, some(400, 60, seed))


def houses_with_commas(seed):
    frame, price = house_frame(seed)
    frame["area_sqft"] = [f"{x:,.0f}" for x in frame["area_sqft"]]
    frame["tax"] = [f"{x:.1f}%" for x in frame["tax"]]
    return table(frame, "price", price, some(400, 60, seed))


def houses_in_dollars(seed):
    frame, price = house_frame(seed)
    written = [f"${x:,.0f}" for x in price]
    return table(frame, "price", price.round(), some(400, 60, seed), written=written)


def houses_in_euros(seed):
    """Houses as a German spreadsheet saves them: a byte order mark, semicolons."""
    frame, price = house_frame(seed)
    frame["area_sqft"] = [_german(x) for x in frame["area_sqft"] * 0.0929]
    written = [_german(x) for x in price]
    return table(
        *(frame, "price", price, some(400, 60, seed)),
        written=written,
        encoding="utf-8-sig",
        sep=";",
    )


def _german(x):
    return f"{x:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def penguins_with_words(seed):
    frame = penguin_frame()
    rng = np.random.default_rng(seed + 100)
    for column, word in (("bill_length_mm", "n.a."), ("flipper_length_mm", "unknown")):
        cells = frame[column].astype(object)
        cells[rng.permutation(len(frame))[:12]] = word
        frame[column] = cells
    y = frame.pop("species").to_numpy(str)
    return table(frame, "species", y, some(len(y), 30, seed))


# Labels and columns that are not what they seem


def only_where_labeled(seed):
    """Iris with two columns that only labeled rows have."""
    frame, y = scikit("iris")
    labeled = some(len(y), 30, seed)
    rng = np.random.default_rng(seed)
    frame["reviewed_by"], frame["species_code"] = "", ""
    frame.loc[labeled, "reviewed_by"] = rng.choice(["ann", "bob"], 30)
    codes = {"setosa": "S1", "versicolor": "V2", "virginica": "V3"}
    frame.loc[labeled, "species_code"] = [codes[c] for c in y[labeled]]
    return table(frame, "species", y, labeled)


def spellings(seed):
    """Yes and no in the spellings of several people."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")
    ways = {"yes": ["Yes", "yes ", " Yes", "YES"], "no": ["No", "no", " no", "NO"]}
    written = [rng.choice(ways[c]) for c in y]
    frame = pd.DataFrame(X.round(3), columns=list("abcd"))
    return table(frame, "answer", y, some(300, 60, seed), written=written)


def spellings_merged(seed):
    made = spellings(seed)
    return Everyday(
        made.content, made.target, made.truth, made.blank, ("--merge-labels",)
    )


def words_for_blanks(seed):
    """A third of the labels are words that mean "blank"."""
    rng = np.random.default_rng(seed)
    frame, y = scikit("iris")
    labeled = some(len(y), 60, seed)
    written = y.astype(object)
    unknown = labeled[rng.permutation(60)[:30]]
    written[unknown] = rng.choice(["unknown", "?", "-", "TBD"], 30)
    made = table(frame, "species", y, labeled, written=written)
    blank = made.blank.copy()
    blank[unknown] = True
    return Everyday(made.content, made.target, made.truth, blank)


def words_for_blanks_told(seed):
    made = words_for_blanks(seed)
    marks = ("--unlabeled", "unknown", "?", "-", "TBD")
    return Everyday(made.content, made.target, made.truth, made.blank, marks)


def mass_with_strays(seed):
    made = penguin_mass(seed)
    rows = made.content.decode().splitlines()
    labeled = np.flatnonzero(~made.blank)
    for row, cell in zip(labeled[:2], ("4500 g", "approx 3900"), strict=True):
        before, _ = rows[row + 1].rsplit(",", 1)
        rows[row + 1] = f"{before},{cell}"
    return Everyday("\n".join(rows).encode(), made.target, made.truth, made.blank)


def totals_row(seed):
    made = wines(seed)
    columns = made.content.split(b"\n", 1)[0].count(b",")
    return Everyday(
        made.content + b"Total" + b"," * columns + b"\n",
        made.target,
        np.append(made.truth, ""),
        np.append(made.blank, False),
    )


WORDS = {
    "billing": "payment failed, card declined|invoice shows wrong amount|refund not "
    "received",
    "bug": "cannot save file, it freezes|app crashes on start|error when uploading",
    "account": "forgot my password|cannot log in any more|please delete my profile",
    "shipping": "parcel has not arrived|tracking number is invalid|box was damaged",
}


def tickets(seed):
    """Informative free text among columns that say nothing."""
    rng = np.random.default_rng(seed)
    y = rng.choice(list(WORDS), 300)
    texts, mails, dates = [], [], []
    forms = ("%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y", "%d.%m.%Y %H:%M")
    for kind in y:
        words = rng.choice(WORDS[kind].split("|"))
        tail = rng.choice(["", " pls", "!!", " asap", " \U0001f621", ", thanks"])
        if rng.random() < 0.3:  # a typing error
            at = rng.integers(1, len(words) - 1)
            words = words[:at] + words[at + 1 :]
        texts.append(words + tail)
        first = rng.choice(["ann", "bob", "cy", "dee", "eli", "flo"])
        mails.append(f"{first}{rng.integers(1, 999)}@{rng.choice(['x', 'y'])}.example")
        day = pd.Timestamp("2024-01-01") + pd.Timedelta(
            hours=int(rng.integers(0, 8_000))
        )
        dates.append(day.strftime(rng.choice(forms)))
    frame = pd.DataFrame(
        {
            "created": dates,
            "customer e-mail": mails,
            "what the customer wrote, in their own words " + "x" * 130: texts,
            "priority": rng.choice(["low", "high", "urgent"], 300),
            "minutes": rng.integers(1, 600, 300),
        }
    )
    return table(frame, "category", y, some(300, 36, seed))


def large(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200_000, 20))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=200_000)
    y = np.where(score > 0, "up", "down")
    frame = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(20)])
    return table(frame, "way", y, some(200_000, 800, seed))


TABLES: dict[str, Any] = {
    "wines": wines,
    "penguins": penguins,
    "penguins, body mass": penguin_mass,
    "cars, origin": car_origin,
    "cars, mileage": car_mileage,
    "100 classes": hundred_classes,
    "3,000 genes": genes,
    "digits, 2 labels a class": digits(2),
    "digits, 1 label a class": digits(1),
    "iris, 1 label a class": iris_one,
    "3 rows": three_rows,
    "fraud, 99 to 1": fraud,
    "stars": stars,
    "houses": houses,
    "houses, 1,053 and 7.6%": houses_with_commas,
    "houses, $1,053 as target": houses_in_dollars,
    "houses, 1.053,20 and semicolons": houses_in_euros,
    "penguins, n.a. and unknown": penguins_with_words,
    "penguins, mass with 2 strays": mass_with_strays,
    "columns of labeled rows only": only_where_labeled,
    "spellings of yes and no": spellings,
    "the same, --merge-labels": spellings_merged,
    "?, unknown, TBD as labels": words_for_blanks,
    "the same, --unlabeled": words_for_blanks_told,
    "a row of totals": totals_row,
    "tickets": tickets,
    "200,000 rows": large,
}
