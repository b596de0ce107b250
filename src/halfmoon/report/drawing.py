"""Drawing: a Matplotlib figure as an SVG image within the page.

Figures are made directly, without pyplot, so that nothing of the user's own settings
changes or is changed. Text stays text: the reader's fonts have the letters of every
script, and the figure is laid out with DejaVu, which is wider than most. The same
findings give the same bytes.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from halfmoon.report.colors import GRAY, INK, LINE, PAPER, with_dark

__all__ = ["SHAPES", "Picture", "draw"]

WIDTH = 4.2  # inches: 403 pixels, so that 10 points are legible on a phone
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")

SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GRAY,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
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
    "ytick.color": INK,
    "ytick.labelsize": 10,
}
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """An image, and the sentence that says what it shows.

    Attributes
    ----------
    uri : str
        The SVG itself, as a data URI.
    alt : str
    width, height : int
        In pixels.
    """

    uri: str
    alt: str
    width: int
    height: int


def draw(
    paint: Callable[[Any], None], *, height: float, alt: str, width: float = WIDTH
) -> Picture:
    """Paint on new axes, and keep the result.

    Parameters
    ----------
    paint : callable
        Given a figure.
    height, width : float
        In inches.
    alt : str
    """
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


def _slim(svg: str) -> str:
    """Without the preamble, and with no more digits than can be seen."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(?<= [xy]=")-?\d+\.\d+(?=")', lambda m: f"{float(m[0]):.1f}", svg)
    svg = re.sub(r"(?<=font: )([^\"]*?)'DejaVu Sans'(, sans-serif)?", _fonts, svg)
    return re.sub(r">\s+<(?!/text|/tspan)", "><", svg)


def _fonts(match: re.Match[str]) -> str:
    return f"{match[1]}{FONTS}"
