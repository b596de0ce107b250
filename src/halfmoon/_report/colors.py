"""Colors of the pictures, each with a counterpart for a dark page.

Pictures are drawn in the light colors. `with_dark` turns each color of an SVG into a
variable of its style sheet, which a browser in dark mode sets to the counterpart. A
picture within an <img> follows the color scheme of its page, so it prints light.
"""

from __future__ import annotations

import re

import matplotlib
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_hex

__all__ = [
    "DARK",
    "DOUBT",
    "FAINT",
    "GRAY",
    "INK",
    "LEVELS",
    "LINE",
    "ON_SHARE",
    "PALETTE",
    "PAPER",
    "SHARE",
    "SOFT",
    "VALUE",
    "with_dark",
]

PAPER, INK, SOFT, GRAY = "#ffffff", "#22262b", "#5b6570", "#9aa3ad"
FAINT, LINE = "#b9c0c8", "#d5dae0"
ON_SHARE = "#fefefe"  # numbers on the strong colors of SHARE
LEVELS = 24  # colors of a scale; few, since marks of one color share their outline

# Okabe and Ito's colors, then some of Tol's: color-blind people can tell them apart.
# Yellow is too light on white.
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"),
    *("#332288", "#882255", "#999933", "#44474d"),
)

DARK = {
    PAPER: "#1c2027",  # the background of the page's sections
    INK: "#e7e9ec",
    SOFT: "#a8b1bb",
    GRAY: "#7b8591",
    FAINT: "#59626d",
    LINE: "#343a44",
    ON_SHARE: "#0f1216",
}
DARK_PALETTE = (
    *("#3f97d6", "#f08344", "#35bd95", "#dd9cc1", "#a3d8f8", "#f0b840"),
    *("#9a90ee", "#d96f9f", "#c2c25a", "#ccd1d8"),
)
DARK.update(zip(PALETTE, DARK_PALETTE, strict=True))


def _scale(light: list[str], dark: list[str]) -> ListedColormap:
    """Return a scale of LEVELS colors and add their counterparts to `DARK`."""
    maps = (LinearSegmentedColormap.from_list("", x, LEVELS) for x in (light, dark))
    first, second = ([to_hex(c) for c in each(range(LEVELS))] for each in maps)
    DARK.update(zip(first, second, strict=True))
    return ListedColormap(first)


def _viridis(low: float) -> list[str]:
    colors = matplotlib.colormaps["viridis"]
    return [to_hex(colors(low + (1 - low) * i / 8)) for i in range(9)]


# A share from 0 to 1: from near the background to a strong blue.
SHARE = _scale(
    ["#f4f8fc", "#c6dbef", "#6baed6", "#2171b5", "#0b4a8f"],
    ["#222932", "#22384f", "#2a5680", "#4a93cf", "#86c2f2"],
)
# Faint for sure predictions, strong for doubtful ones.
DOUBT = _scale(
    ["#cfdbe6", "#e9b45c", "#cc5a1e", "#6d1010"],
    ["#3a4654", "#80602e", "#e0883a", "#ffdfb0"],
)
VALUE = _scale(_viridis(0.0), _viridis(0.3))

_COLOR = re.compile(r"(?<=(?:ll|ke): )#[0-9a-f]{6}\b")  # after fill and stroke


def with_dark(svg: str) -> str:
    """Make the colors of an SVG follow the color scheme of the page.

    Examples
    --------
    >>> print(with_dark('<svg><path style="fill: #22262b"/></svg>'))
    ... # doctest: +NORMALIZE_WHITESPACE
    <svg><style>svg{--c0:#22262b}@media(prefers-color-scheme:dark){svg{--c0:#e7e9ec}}</style><path
    style="fill: var(--c0)"/></svg>
    """
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        color = match[0]
        if color not in DARK:
            return color
        return f"var(--{names.setdefault(color, f'c{len(names)}')})"

    start = svg.index(">") + 1
    body = _COLOR.sub(name, svg[start:])
    light = ";".join(f"--{name}:{color}" for color, name in names.items())
    dark = ";".join(f"--{name}:{DARK[color]}" for color, name in names.items())
    style = (
        f"<style>svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
        "</style>"
    )
    return f"{svg[:start]}{style}{body}"
