"""Formulas as MathML, which browsers set by themselves: no script, no font, no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

ALIGNED = re.compile(r"\\begin\{aligned\}(.*)\\end\{aligned\}", re.DOTALL)

SYMBOL = "(<m([ion])[^>]*>[^<]*</m\\2>)"
PRIMED = re.compile(f"<msup>{SYMBOL}<mi>&#x02032;</mi></msup>")
PRIMED_INDEX = re.compile(r"<msubsup>((?:(?!<msu).)+?)<mi>&#x02032;</mi></msubsup>")
PRIME = "<mo lspace='0' rspace='0'>′</mo></mrow>"


def inner(latex: str) -> str:
    """Return the content of a formula; a prime is no superscript, tiny in some fonts."""
    content = convert(latex).partition(">")[2].removesuffix("</math>") if latex.strip() else ""
    content = PRIMED.sub(rf"<mrow>\1{PRIME}", content)
    return PRIMED_INDEX.sub(rf"<mrow><msub>\1</msub>{PRIME}", content)


def block(latex: str) -> str:
    """Return a formula of one line or of several, aligned in columns."""
    aligned = ALIGNED.fullmatch(latex.strip())
    if aligned is None:
        content = inner(latex)
    else:
        rows = [re.split(r"(?<!\\)&", row) for row in aligned[1].strip().split("\\\\\n")]
        cells = ["".join(f"<mtd>{inner(cell)}</mtd>" for cell in row) for row in rows]
        table = "".join(f"<mtr>{row}</mtr>" for row in cells)
        content = f'<mtable class="aligned" displaystyle="true">{table}</mtable>'
    return f'<math displaystyle="true">{content}</math>'


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula in a sentence."""
    translator.body.append(f"<math>{inner(node.astext())}</math>")
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write a formula that stands by itself."""
    translator.body.append(f'<div class="math">{block(node.astext())}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
