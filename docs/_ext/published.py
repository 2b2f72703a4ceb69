"""Pages of papers, and links out of the documentation, for the site.

In the repository, pages link to ``reports/PAPER/README.md`` and to code. The site has a copy of
each page of a paper, and names the files of code.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
REPORT = re.compile(r"\]\(\.\./((?:\.\./)*)reports/([\w-]+)/README\.md")
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
CODE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:plugins|orthobench|benchmarks|tests)/[^)#]+)\)")


def copied(app: Any) -> None:
    """Copy the published pages below ``docs/papers``."""
    del app
    for page in (DOCS.parent / "reports").glob("*/README.md"):
        shutil.copytree(page.parent, DOCS / "papers" / page.parent.name, dirs_exist_ok=True)


def rewritten(app: Any, name: str, source: list[str]) -> None:
    """Let the links of a page lead to what the site has."""
    del app
    text = source[0]
    for anchor in ANCHOR.findall(text):  # Sphinx knows targets, which are of the whole site
        target = f"{Path(name).parent.name}-{anchor}"
        text = text.replace(f'<a id="{anchor}"></a>', f"({target})=")
        text = text.replace(f"](#{anchor})", f"](#{target})")
    text = REPORT.sub(r"](\1papers/\2/README.md", text).replace("](../../docs/", "](../../")
    source[0] = CODE.sub(r"\1, `\2`,", text)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", copied)
    app.connect("source-read", rewritten)
    return {"parallel_read_safe": True}
