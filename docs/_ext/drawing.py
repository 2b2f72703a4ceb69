"""Pictures of pages, in the style of the figures of reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orthobench.contract.panel import Panel, Plot
from orthobench.report.figures.save import save_plot

DPI = 100
"""Pixels per inch."""


def draw(path: Path, title: str, panels: Sequence[Panel], *about: str) -> None:
    """Draw panels side by side, with a title and a caption, into a PNG file."""
    places = [str(place) for place in range(len(panels))]
    plot = Plot(
        title, "page", {"panel": places}, lambda key: panels[int(key[0])],
        [(place,) for place in places], about,
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    save_plot(plot, path.with_suffix(""), formats=["png"], dpi=DPI)
