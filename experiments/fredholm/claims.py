"""Verdicts that S0's tables 1 to 4 share, beside those of `Comparison`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.choice import Chosen
from experiments.fredholm.comparison import OURS, Comparison
from experiments.page import Claim

__all__ = [
    "complete",
    "honest_level",
    "learned",
    "level",
    "near",
    "no_worse",
    "own_claims",
]

Pair = tuple[float, float]


def complete(seen: Comparison, row: str, *methods: str) -> bool:
    """All of the methods have been run, and on the same splits."""
    if not set(methods) <= set(seen.methods(row)):
        return False
    return len({len(seen.tuned(row, method).errors) for method in methods}) == 1


def difference(a: Chosen, b: Chosen) -> Pair:
    """Mean of a - b over the splits, and its standard error."""
    each = a.errors - b.errors
    error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.inf
    return float(each.mean()), float(error)


def no_worse(seen: Comparison, row: str, method: str, other: str, says: str) -> Claim:
    """A method is comparable to another or better, by our tuned errors.

    Reproduced where the mean of paired differences is not above 0, in part where it is
    above by no more than two standard errors, else not. One split cannot tell.
    """
    mean, error = difference(seen.tuned(row, method), seen.tuned(row, other))
    if not np.isfinite(error):
        verdict = "not testable"
    elif mean <= 0:
        verdict = "reproduced"
    else:
        verdict = "reproduced in part" if mean <= 2 * error else "not reproduced"
    return Claim(says, verdict, _because(seen, row, method, other, mean, error))


def near(seen: Comparison, row: str, method: str, other: str, says: str) -> Claim:
    """A method gains little over another: less than a fifth of its error, tuned.

    Reproduced where it does not gain by two standard errors, in part where it gains
    less than a fifth, else not. One split cannot tell.
    """
    mean, error = difference(seen.tuned(row, method), seen.tuned(row, other))
    if not np.isfinite(error):
        verdict = "not testable"
    elif mean >= -2 * error:
        verdict = "reproduced"
    else:
        small = -mean < 0.2 * seen.tuned(row, other).mean
        verdict = "reproduced in part" if small else "not reproduced"
    return Claim(says, verdict, _because(seen, row, method, other, mean, error))


def level(seen: Comparison, row: str, method: str, says: str) -> Claim:
    """The printed number itself.

    Reproduced where our tuned error is within a printed deviation of it or below, in
    part where it is within two, else not.
    """
    ours, (mean, deviation) = seen.tuned(row, method), seen.printed[row][method]
    above = (ours.mean - mean) / deviation
    if above <= 1:
        verdict = "reproduced"
    else:
        verdict = "reproduced in part" if above <= 2 else "not reproduced"
    because = f"{row}: {method} {ours} (tuned), printed {mean:.1f} ± {deviation:.1f}"
    return Claim(says, verdict, because)


def honest_level(seen: Comparison, row: str, method: str) -> Claim:
    """Beyond the paper: is a method, chosen honestly, at the best printed number?"""
    ours = seen.honest(row, method)
    best, (mean, _) = min(seen.printed[row].items(), key=lambda item: item[1][0])
    return Claim(
        f"(ours) {row}: {method}, its settings chosen honestly, is at or below the "
        f"best printed number, {mean:.1f} ({best})",
        "reproduced" if ours.mean <= mean else "not reproduced",
        f"{ours} against {mean:.1f}",
    )


def own_claims(seen: Comparison, row: str) -> list[Claim]:
    """Beyond the paper: Halfmoon, and the best of the paper's methods, honestly."""
    claims = [seen.ours(row)] if complete(seen, row, OURS) else []
    theirs = [
        m for m in seen.methods(row) if m.startswith("Fred") and m in seen.printed[row]
    ]
    if theirs:
        best = min(theirs, key=lambda method: seen.honest(row, method).mean)
        claims.append(honest_level(seen, row, best))
    others = [m for m in seen.methods(row) if m.startswith("FredholmClassifier")]
    claims += [honest_level(seen, row, method) for method in others]
    return claims


def learned(seen: Comparison, row: str, methods: Sequence[str], says: str) -> Claim:
    """The best method, tuned, errs less than the constant answer.

    Reproduced where it does by two standard errors, in part where it does, else not.
    """
    constant = seen.constant[row]
    best = min(methods, key=lambda method: seen.tuned(row, method).mean)
    chosen = seen.tuned(row, best)
    error = chosen.deviation / np.sqrt(len(chosen.errors))
    if chosen.mean < constant - 2 * error:
        verdict = "reproduced"
    else:
        verdict = "reproduced in part" if chosen.mean < constant else "not reproduced"
    because = (
        f"{row}: constant {constant:.1f}, the best is {best} with {chosen} (tuned)"
    )
    return Claim(says, verdict, because)


def _because(
    seen: Comparison, row: str, method: str, other: str, mean: float, error: float
) -> str:
    a, b = seen.tuned(row, method), seen.tuned(row, other)
    return (
        f"{row}: {method} {a.mean:.1f}, {other} {b.mean:.1f}, difference {mean:+.1f} "
        f"± {error:.1f} (tuned); honest {seen.honest(row, method).mean:.1f} and "
        f"{seen.honest(row, other).mean:.1f}"
    )
