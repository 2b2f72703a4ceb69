"""Texts of numbers, names and budgets: those of `orthobench.tools.formatting`."""

from orthobench.tools.formatting import (
    MISSING,
    assignments,
    budget_text,
    clean,
    count,
    duration,
    listed,
    metric_text,
    number,
    plural,
    probability,
    short,
    si,
)

__all__ = [
    "MISSING",
    "assignments",
    "budget_text",
    "clean",
    "count",
    "duration",
    "listed",
    "metric_text",
    "number",
    "plural",
    "probability",
    "short",
    "si",
]
