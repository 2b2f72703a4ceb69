"""Text in figures: its width, its lines, and numbers as ticks show them."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import lru_cache

from orthobench.tools.formatting import clean

LINE = 1.25
"""The distance from one line of text to the next, in font sizes."""

MOST, LARGE = 1e6, 1e4
"""Ticks below the first are written with all their digits; on axes that extend beyond the first,
only those below the second."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def legend_text(label: str) -> str:
    """Return a label such that matplotlib's legend shows it literally.

    Otherwise matplotlib hides a label with a leading underscore, and reads text between dollar
    signs as a formula.

    Parameters
    ----------
    label : str
    """
    label = label.replace("$", r"\$")
    return f" {label}" if label.startswith("_") else label


@lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text, in inches.

    Parameters
    ----------
    text : str
    size : float
        The font size, in points.
    bold : bool
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    points: float = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return points / 72


def fitted(
    text: str, inches: float, size: float, most: int | None = None, *, bold: bool = False
) -> list[str]:
    """Return `text` in lines that are no wider than so many inches.

    Parameters
    ----------
    text : str
    inches : float
    size : float
        The font size, in points.
    most : int, optional
        The most lines; the last one ends in an ellipsis where text is cut off.
    bold : bool
    """
    lines, line = [], ""
    for word in clean(text).split():
        longer = f"{line} {word}" if line else word
        if width(longer, size, bold) <= inches:
            line = longer
            continue
        parts = [line] if line else []
        *parts, line = [*parts, *_broken(word, inches, size, bold)]
        lines += parts
    lines += [line] if line else []
    if most is None or len(lines) <= most:
        return lines
    return [
        *lines[: most - 1],
        _broken(lines[most - 1], inches - width(" …", size), size, bold)[0] + " …",
    ]


def balanced(text: str, inches: float, size: float) -> list[str]:
    """Return `text` in as few lines as fit, of about the same width.

    Parameters
    ----------
    text : str
    inches : float
    size : float
        The font size, in points.
    """
    lines = fitted(text, inches, size)
    while len(narrower := fitted(text, 0.95 * inches, size)) == len(lines) > 1:
        lines, inches = narrower, 0.95 * inches
    return lines


def _broken(word: str, inches: float, size: float, bold: bool) -> list[str]:
    """Return a word in parts that are no wider than so many inches, of at least one letter."""
    parts = []
    while width(word, size, bold) > inches and len(word) > 1:
        fits = bisect_right(range(1, len(word)), inches, key=lambda n: width(word[:n], size, bold))
        at = max(fits, 1)
        after = max(word.rfind(sign, 1, at) for sign in "-_=/,.:") + 1
        at = after if after > at / 2 else at
        parts.append(word[:at])
        word = word[at:]
    return [*parts, word]


def plain(value: float, most: float = MOST) -> str:
    """Return a number as a tick shows it: ``0.05``, ``20,000``, ``3×10⁸``.

    Parameters
    ----------
    value : float
    most : float
        The largest number on the axis, which decides how all of its numbers are written.
    """
    if value == 0 or 1e-4 <= abs(value) < (MOST if most <= MOST else LARGE):
        text = f"{value:,.6g}"
    else:
        mantissa, exponent = f"{value:.5e}".split("e")
        factor = f"{float(mantissa):g}"
        text = f"{'' if factor == '1' else factor + '×'}10{_superscript(int(exponent))}"
    return text.replace("-", "−")


def power(value: float) -> str:
    """Return a power of ten as a tick shows it: ``10⁻⁸``.

    Parameters
    ----------
    value : float
    """
    return f"10{_superscript(round(math.log10(value)))}"


def _superscript(exponent: int) -> str:
    return str(exponent).translate(_SUPERSCRIPTS)
