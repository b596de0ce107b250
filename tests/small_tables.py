"""Small tables with blanks, and what commands say of them."""

import csv
import json

import numpy as np


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def two_groups(n=40, labels=10, seed=0):
    """Rows of two far groups, named by their side; the first few have their label."""
    rng = np.random.default_rng(seed)
    side = np.arange(n) % 2
    x = rng.normal(size=(n, 2)) + 8 * side[:, None]
    truth = np.where(side, "right", "left")
    rows = [["x", "note", "z", "side"]]
    for i in range(n):
        given = truth[i] if i < labels else ""
        rows.append([f"{x[i, 0]:.3f}", f"n{i % 3}", f"{x[i, 1]:.3f}", str(given)])
    return rows, truth


def a_line(n=60, labels=30, seed=0):
    """y = 3 x + 1 with little noise; the first few have their label."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    y = 3 * x + 1 + 0.05 * rng.normal(size=n)
    rows = [["x", "y"]]
    for i in range(n):
        rows.append([f"{x[i]:.4f}", f"{y[i]:.4f}" if i < labels else "NA"])
    return rows, y


def error_of(result):
    """The one line that a command that failed has said."""
    assert result.exit_code != 0
    lines = result.stderr.strip().splitlines()
    assert lines[-1].startswith("halfmoon: "), result.stderr
    assert "Traceback" not in result.output
    return lines[-1]


def told_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


WORDS = {
    "billing": (
        "I was charged twice this month",
        "refund for the last invoice",
        "payment failed, card declined",
    ),
    "bug": (
        "app crashes when I open settings",
        "cannot save file, it freezes",
        "error 500 on the dashboard",
    ),
    "account": (
        "forgot my password, cannot log in",
        "please delete my account",
        "change the address of my login",
    ),
    "shipping": (
        "where is my parcel",
        "the package arrived damaged",
        "delivery is late by two weeks",
    ),
}


def tickets(n=300, labels=36, seed=0):
    """A text that tells all among columns that tell nothing."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(WORDS), n)
    tails = ["", " pls", "!!", " asap", " \U0001f621", ", thanks"]
    names, hosts = ["ann", "bob", "cy", "dee", "eli"], ["x", "mail", "web"]
    forms = ("{:04}-{:02}-{:02}", "{2:02}/{1:02}/{0:04}", "{2:02}.{1:02}.{0:04}")
    rows = [["created", "customer e-mail", "subject", "priority", "minutes", "kind"]]
    labeled = set(rng.permutation(n)[:labels].tolist())
    for i in range(n):
        text = str(rng.choice(WORDS[truth[i]]))
        if rng.random() < 0.3:  # a slip of the finger
            at = rng.integers(1, len(text) - 1)
            text = text[:at] + text[at + 1 :]
        day = (2024, int(rng.integers(1, 13)), int(rng.integers(1, 29)))
        mail = f"{rng.choice(names)}{rng.integers(1, 999)}@{rng.choice(hosts)}.example"
        rows.append(
            [
                str(rng.choice(forms)).format(*day),
                mail,
                text + str(rng.choice(tails)),
                str(rng.choice(["low", "high", "urgent"])),
                str(rng.integers(1, 600)),
                str(truth[i]) if i in labeled else "",
            ]
        )
    return rows, truth
