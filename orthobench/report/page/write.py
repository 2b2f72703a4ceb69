"""Writing the page: the template, the style, the script and the data in one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from orthobench.errors import UsageError
from orthobench.report.findings import Family
from orthobench.report.page.content import Page, page
from orthobench.report.page.looks import REFERENCES
from orthobench.report.page.pack import packed
from orthobench.report.ranking import Ranked
from orthobench.report.words import clean
from orthobench.results.results import Results
from orthobench.tools.files import make_folder, replacing

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("words.js", "load.js", "traces.js", "plots.js", "tables.js", "page.js")
"""The parts of the page's script, in the order in which they need each other."""


def write_page(
    results: Results,
    folder: Path,
    *,
    ranked: Sequence[Ranked] | None = None,
    found: Sequence[Family] | None = None,
) -> Path:
    """Write the interactive page of some results: all of it, or nothing.

    Parameters
    ----------
    results : Results
    folder : Path
        Made where it does not exist.
    ranked : sequence of Ranked, optional
        The entries, ranked, where that is done already: it takes a while.
    found : sequence of Family, optional
        What was found in each family, likewise.

    Returns
    -------
    Path
        ``folder/index.html``, which needs nothing beside it, and no network. Equal results give
        equal files, byte for byte.

    Raises
    ------
    UsageError
        Where jinja2 or plotly is missing, or the file cannot be written.
    """
    text = rendered(page(results, ranked, found), _plotly())
    path = make_folder(folder, "the page") / "index.html"
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


def rendered(content: Page, plotly: str) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    content : Page
    plotly : str
        The source of plotly.js.
    """
    script = "\n".join(_own(name) for name in SCRIPTS)
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=content,
            references=REFERENCES,
            style=_own("page.css"),
            script=script,
            # only these two may run, whatever a name may hold
            allowed=" ".join(map(_hash, (f"\n{script}\n", plotly))),
            plotly=packed(plotly),
        )
    )


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise _missing(error) from None
    made = Environment(
        loader=FunctionLoader(_own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["clean"] = clean
    return made


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise _missing(error) from None
    return str(get_plotlyjs())


def _missing(error: ImportError) -> UsageError:
    return UsageError(f"the page needs more packages: pip install 'orthobench[report]' ({error})")


def _own(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
