"""Draw Matplotlib figures as SVG images for the page.

Figures are made without pyplot, so the user's Matplotlib settings neither matter nor
change. Text stays text: the reader's fonts cover every script. The layout is computed
with DejaVu, which is wider than most fonts. The same input gives the same bytes.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from halfmoon._report.colors import GRAY, INK, LINE, PALETTE, PAPER, with_dark
from halfmoon._report.safe_text import safe_text

__all__ = ["Picture", "draw", "legend_above", "short", "short_names"]

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
    """An image and its alternative text."""

    uri: str  # the SVG as a data URI
    alt: str
    width: int  # pixels
    height: int


def draw(
    paint: Callable[[Any], None], *, height: float, alt: str, width: float = WIDTH
) -> Picture:
    """Return a picture of what `paint` draws on a new figure; sizes are in inches."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message=".*constrained_layout not applied")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not supp")
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = with_dark(_slim(out.getvalue()))
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    size = round(96 * width), round(96 * height)
    return Picture(f"data:image/svg+xml;base64,{data}", alt, *size)


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
    """
    texts = [short(name, max_length) for name in names]
    if len(set(texts)) == len(set(names)):
        return texts
    whole = [safe_text(name, 10 * max_length) for name in names]
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*whole, strict=False))
    start = len([*alike])
    return ["…" + short(text[start:], max_length - 1) for text in whole]


def _slim(svg: str) -> str:
    """Remove the preamble, comments and digits that cannot be seen."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(?<= [xy]=")-?\d+\.\d+(?=")', lambda m: f"{float(m[0]):.1f}", svg)
    svg = re.sub(r"(?<=font: )([^\"]*?)'DejaVu Sans'(, sans-serif)?", _fonts, svg)
    return re.sub(r">\s+<(?!/text|/tspan)", "><", svg)


def _fonts(match: re.Match[str]) -> str:
    return f"{match[1]}{FONTS}"
