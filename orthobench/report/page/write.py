"""Writing of the page: template, style sheet, script and data in one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench._version import __version__
from orthobench.decide.wording import MARKS, factor_text
from orthobench.report.page.content import cell, code, page_content
from orthobench.report.style import REFERENCES, Style
from orthobench.results.results import Results
from orthobench.stats.costs import COSTS, cost_of
from orthobench.tools.files import atomic_write, make_folder
from orthobench.tools.formatting import assignments, clean, count, duration, number, plural, si

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("state.js", "elements.js", "chart.js", "plots.js", "reading.js", "page.js")
"""The parts of the script of a page, each after those that it uses."""


def write_page(results: Results, folder: Path) -> Path:
    """Write the interactive page about some results to ``folder/index.html``, and return its path.

    It needs no other file and no network; equal results give equal bytes.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    return saved(rendered(page_content(results)), folder)


def saved(page: str, folder: Path) -> Path:
    """Write HTML to ``folder/index.html``, and return its path."""
    path = make_folder(folder, "the page") / "index.html"
    with atomic_write(path) as file:
        file.write(page.encode())
    return path


def rendered(content: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    return framed(
        "page.html", content["counts"], content["styles"], content["plot_data"],
        page=content, cell=cell, code=code, marks=MARKS, costs=COSTS, cost_of=cost_of,
    )  # fmt: skip


def framed(
    template: str, counts: Iterable[str], styles: Mapping[str, Style], data: str, **own: Any
) -> str:
    """Return a page with plots as HTML: whatever the data contain, only its own script runs.

    `template` extends ``frame.html`` and has the variables `own`; `data` are of `plot_data`.
    """
    script = "\n".join(map(resource, SCRIPTS))
    digest = hashlib.sha256(f"\n{script}\n".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return environment().get_template(template).render(
        own, counts=counts, styles=styles, data=data, script=script, allowed=allowed,
        style=resource("page.css"), references=REFERENCES, version=__version__,
    )  # fmt: skip


@cache
def environment(package: str = __package__) -> Environment:
    """Return the environment for the templates of a package."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(lambda name: resource(name, package)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    filters = (assignments, clean, count, duration, factor_text, number, plural, si)
    environment.filters |= {each.__name__: each for each in filters}
    return environment


def resource(name: str, package: str = __package__) -> str:
    """Return a file of the folder of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
