"""Equations as MathML, made when the pages are built, so that readers need no network.

Browsers draw MathML themselves. Sphinx's own ways need a network (MathJax from a
server) or a LaTeX installation (pictures).
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

__all__ = ["setup"]

# Commands that the converter draws wrongly, and what it can draw instead.
PLAINER = (
    (re.compile(r"\\(?:bigl|bigr|Bigl|Bigr|big|Big)\b\s*"), ""),
    (re.compile(r"\\mathbb\{1\}"), r"\\mathbf{1}"),
)


def as_mathml(latex: str, display: str) -> str:
    """An equation as a `math` element.

    Parameters
    ----------
    latex : str
    display : "inline" or "block"
    """
    for pattern, plain in PLAINER:
        latex = pattern.sub(plain, latex)
    return str(convert(latex, display=display))


def visit_inline(translator: Any, node: Any) -> None:
    """Draw an equation within a sentence."""
    from docutils.nodes import SkipNode

    translator.body.append(as_mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Draw an equation on lines of its own."""
    from docutils.nodes import SkipNode

    translator.body.append(translator.starttag(node, "div", CLASS="equation"))
    for line in node.astext().split("\n\n"):
        if line.strip():
            translator.body.append(as_mathml(_aligned(line), "block"))
    translator.body.append("</div>\n")
    raise SkipNode


def _aligned(latex: str) -> str:
    """Stack lines that are separated by two backslashes."""
    if "\\\\" in latex and "\\begin" not in latex:
        return f"\\begin{{aligned}}{latex}\\end{{aligned}}"
    return latex


def setup(app: Any) -> dict[str, Any]:
    """Replace MathJax."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
