"""Draw Matplotlib figures as SVG images, for light and dark pages.

Figures are made without pyplot, so the user's Matplotlib settings neither matter nor
change. Text stays text: the reader's fonts cover every script. The layout is computed
with DejaVu, which is wider than most fonts. The same input gives the same bytes.

Pictures are drawn in the light colors. `with_dark` turns each color of an SVG into a
variable of its style sheet, which a browser in dark mode sets to the counterpart. A
picture within an <img> follows the color scheme of its page, so it prints light.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from halfmoon._report.safe_text import safe_text

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
    "Picture",
    "draw",
    "legend_above",
    "short",
    "short_names",
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


WIDTH = 4.2  # inches: 403 pixels, so that 10 points are legible on a phone
MAX_NAME = 18  # characters of a name at an axis

SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GRAY,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 12,
    "axes.unicode_minus": True,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "grid.color": LINE,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "halfmoon",
    "text.color": INK,
    "text.parse_math": False,  # a $ in a name is a $
    "text.usetex": False,
    "xtick.color": INK,
    "xtick.labelsize": 10,
    "xtick.major.size": 0,
    "ytick.color": INK,
    "ytick.labelsize": 10,
    "ytick.major.size": 0,
}
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """An image, its alternative text and its caption."""

    uri: str  # the SVG as a data URI
    alt: str
    width: int  # pixels
    height: int
    caption: str


def draw(
    paint: Callable[..., None],
    *,
    height: float,
    alt: str,
    caption: str = "",
    width: float = WIDTH,
    parts: Sequence[float] = (1.0,),
) -> Picture:
    """Return a picture of what `paint` draws on new axes; sizes are in inches.

    Several `parts`, given by their relative heights, are axes above each other.
    """
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message=".*constrained_layout not applied")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not supp")
        figure = Figure(figsize=(width, height), layout="constrained")
        canvas = FigureCanvasSVG(figure)
        ratios = {"height_ratios": parts}
        axes = figure.subplots(len(parts), 1, sharex=True, gridspec_kw=ratios)
        paint(*([axes] if len(parts) == 1 else axes))
        out = io.StringIO()
        # `savefig` would draw twice: once only to compute the layout.
        canvas.print_svg(out, metadata={"Date": None, "Creator": None})
    svg = with_dark(_slim(out.getvalue()))
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    size = round(96 * width), round(96 * height)
    return Picture(f"data:image/svg+xml;base64,{data}", alt, *size, caption)


def legend_above(ax: Any, **options: Any) -> None:
    """Put the legend above the axes, in two columns."""
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.0}
    ax.legend(ncols=2, **place, **options)


def short(name: str, max_length: int = MAX_NAME) -> str:
    """Return a name that fits next to an axis."""
    text = safe_text(name, 10 * max_length)
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def short_names(names: Sequence[str], max_length: int = MAX_NAME) -> list[str]:
    """Shorten names; those that differ stay different if their beginning is cut.

    Examples
    --------
    >>> short_names(["district 1", "district 2"], 8)
    ['…1', '…2']
    >>> short_names(["kind of bird no. 1", "kind of bird no. 22"], 12)
    ['…bird no. 1', '…bird no. 22']
    >>> short_names(["theft", "hacking at home", "hacking at work"], 10)
    ['theft', 'hack… home', 'hack… work']
    """
    texts = [short(name, max_length) for name in names]
    if len(set(texts)) == len(set(names)):
        return texts
    whole = [safe_text(name, 10 * max_length) for name in names]
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*whole, strict=False))
    start = len([*alike])
    if start == 0:
        common = Counter(texts)
        return [
            _without_middle(text, max_length) if common[cut] > 1 else cut
            for text, cut in zip(whole, texts, strict=True)
        ]
    # As many whole words of the common beginning as fit.
    words = (i for i in range(start) if whole[0][:i].endswith(" "))
    longest = max(map(len, whole))
    start = next((i for i in words if longest - i < max_length), start)
    return ["…" + short(text[start:], max_length - 1) for text in whole]


def _without_middle(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    start = (max_length - 1) // 2
    return f"{text[:start]}…{text[start + 1 - max_length :]}"


def _slim(svg: str) -> str:
    """Remove the preamble, comments and digits that cannot be seen."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(?<= [xy]=")-?\d+\.\d+(?=")', lambda m: f"{float(m[0]):.1f}", svg)
    svg = re.sub(
        r"(?<=font: )([^\"]*?)'DejaVu Sans'(, sans-serif)?", rf"\1{FONTS}", svg
    )
    return re.sub(r">\s+<(?!/text|/tspan)", "><", svg)
