"""Formatting of numbers, names, lists and budgets as text for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MISSING = "-"


def printable(line: str) -> str:
    """Return a line with spaces in place of control characters."""
    return "".join(c if c.isprintable() else " " for c in line)


def clean(text: str) -> str:
    """Return `text` on one line, without control characters."""
    return " ".join(printable(text).split())


def short(value: Any) -> str:
    """Return the value of a parameter: ``2`` for 2.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def assignments(values: Mapping[str, Any], between: str = ", ") -> str:
    """Return parameters with their values: ``step=2, K=9``."""
    return clean(between.join(f"{name}={short(value)}" for name, value in values.items()))


def number(value: float) -> str:
    """Return a number to three digits: ``0.0123``, ``1.23e-3``, ``inf``; a dash for NaN."""
    if math.isnan(value):
        return MISSING
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    if 1e-2 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        whole = float(value).is_integer()
        return f"{value:.0f}" if whole else f"{value:.{digits}f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(ratio: float) -> str:
    """Return a ratio as a change in percent, with its sign; from tenfold on as a factor."""
    if math.isnan(ratio):
        return ""
    if ratio >= 10:
        return "never" if math.isinf(ratio) else f"x {ratio:.3g}"
    change = 100 * (ratio - 1)
    digits = ".1f" if abs(change) >= 0.05 or change == 0 else ".1g"
    return f"{change:+{digits}} %"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 seed``, ``5 seeds``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names as an enumeration: ``a, b and c``, ``a, b, c, d, e and 7 others``."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} others"]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def count(value: float) -> str:
    """Return a whole number with separators: ``20,000``."""
    return MISSING if math.isnan(value) else f"{value:,.0f}"


def budget_text(budget: Mapping[str, float]) -> str:
    """Return a budget as text: ``budget 2,000 samples``; empty without limits."""
    formats: Mapping[str, Callable[[float], str]] = {
        "seconds": duration, "flops": lambda value: f"{si(value)} flops",
    }  # fmt: skip
    parts = [
        formats[name](value) if name in formats else plural(round(value), name.removesuffix("s"))
        for name, value in budget.items()
    ]
    return f"budget {', '.join(parts)}" if parts else ""


def duration(seconds: float) -> str:
    """Return seconds with a suitable unit: ``124 µs``, ``12.3 ms``, ``1.23 s``, ``2 min 5 s``."""
    if math.isnan(seconds):
        return MISSING
    if seconds >= 99.95:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    return _scaled(seconds, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")))


def si(value: float) -> str:
    """Return a large count with an SI prefix: ``1.24 G``."""
    if math.isnan(value):
        return MISSING
    if value < 999.5:
        return f"{value:.0f}"
    return _scaled(value, ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")))


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return a value to three digits, in the largest unit that it reaches."""
    size, unit = next((u for u in units if value >= 0.9995 * u[0]), units[-1])
    scaled = value / size
    digits = 2 if scaled < 9.995 else 1 if scaled < 99.95 else 0
    return f"{scaled:.{digits}f} {unit}"
