"""Make the tables of the cookbook: `python examples/tables/make_tables.py`.

They are drawn at random, and numbers and dates are written as people write them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parent

MESSAGES = {
    "billing": (
        "my card was declined",
        "the invoice shows a wrong amount",
        "I have not received my refund",
        "you charged me twice for one order",
    ),
    "bug": (
        "it freezes when I save a file",
        "the app crashes on start",
        "error 500 when uploading a picture",
        "the screen stays blank",
    ),
    "account": (
        "I forgot my password",
        "I cannot log in any more",
        "please delete my profile",
        "the login code never arrives",
    ),
    "delivery": (
        "my parcel has not arrived",
        "the tracking number is invalid",
        "it was delivered to a wrong address",
        "the box arrived damaged",
    ),
}
ENDINGS = ("", ", please help", "!!", " - urgent", ", thanks", " since yesterday")


def survey(rng: np.random.Generator) -> pd.DataFrame:
    """Answers of guests; a few said whether they would come again."""
    n = 300
    scores = np.clip(rng.normal(3.4, 1.0, (n, 3)).round(), 1, 5).astype(int)
    frame = pd.DataFrame(scores, columns=["food", "service", "room"])
    frame["nights"] = rng.integers(1, 9, n)
    frame["came_by"] = rng.choice(["train", "car", "plane"], n)
    frame["paid"] = [f"€ {x:,.2f}" for x in np.exp(rng.normal(5.5, 0.6, n))]
    liked = scores @ [0.5, 0.35, 0.15] + rng.normal(0, 0.3, n)
    ways = {True: ("Yes", "yes", "YES"), False: ("No", "no", "NO")}
    again = [rng.choice(ways[bool(x > 3.3)]) for x in liked]
    frame["again"] = blanked(again, 60, rng)
    unknown = rng.permutation(np.flatnonzero(frame["again"] == ""))[:12]
    frame.loc[unknown, "again"] = rng.choice(["?", "don't know"], 12)
    frame["grade"] = blanked(np.clip(liked.round(), 1, 5).astype(int), 60, rng)
    return frame


def houses(rng: np.random.Generator) -> pd.DataFrame:
    """Houses; a few were sold."""
    n = 400
    area = np.exp(rng.normal(7.3, 0.4, n))
    year = rng.integers(1900, 2024, n)
    district = rng.choice(["north", "south", "center"], n)
    factor = pd.Series(district).map({"north": 0.9, "south": 1.0, "center": 1.3})
    price = 140 * area * factor * (1 + (year - 1900) / 300)
    price = price * np.exp(rng.normal(0, 0.08, n))
    sold = [f"${x:,.0f}" for x in price.round(-3)]
    return pd.DataFrame(
        {
            "area_sqft": [f"{x:,.0f}" for x in area],
            "year": year,
            "district": district,
            "tax": [f"{x:.1f}%" for x in rng.uniform(0.6, 1.4, n)],
            "price": blanked(sold, 60, rng),
        }
    )


def tickets(rng: np.random.Generator) -> pd.DataFrame:
    """Messages to a help desk; a few have a category."""
    n = 300
    kinds = rng.choice(list(MESSAGES), n)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    forms = rng.choice(["%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y"], n)
    names = rng.choice(["ann", "bob", "cy", "dee", "eli", "flo"], n)
    return pd.DataFrame(
        {
            "created": [d.strftime(f) for d, f in zip(days, forms, strict=True)],
            "from": [f"{name}{rng.integers(1, 999)}@mail.example" for name in names],
            "message": [rng.choice(MESSAGES[k]) + rng.choice(ENDINGS) for k in kinds],
            "priority": rng.choice(["low", "high"], n),
            "category": blanked(kinds, 36, rng),
        }
    )


def blanked(labels, kept: int, rng: np.random.Generator) -> list[str]:
    """Keep some labels and blank the others."""
    shown = set(rng.permutation(len(labels))[:kept].tolist())
    return [str(x) if i in shown else "" for i, x in enumerate(labels)]


if __name__ == "__main__":
    for number, make in enumerate((survey, houses, tickets)):
        frame = make(np.random.default_rng(number))
        frame.to_csv(FOLDER / f"{make.__name__}.csv", index=False)
