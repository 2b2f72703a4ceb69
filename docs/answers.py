"""Write the answers on the page of the methods: `python docs/answers.py [ATLAS]`.

They are those of the atlas that comes with the package, unless another file is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

from orthobench.atlas.answers import NOBODY, NUMBERS, VIEWS, opened, origin, short, views
from orthobench.atlas.table import Atlas
from orthobench.decide.answer import Answer
from orthobench.tools.formatting import clean

PAGE = Path(__file__).parent / "methods" / "index.md"
BEGIN, END = "<!-- answers: python docs/answers.py -->\n", "<!-- end of answers -->\n"


def with_answers(text: str, atlas: Atlas) -> str:
    """Return the page with the answers of an atlas between its two marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{markdown(atlas)}\n{END}{after}"


def markdown(atlas: Atlas) -> str:
    """Return the table of the page: for each family, which method to use when.

    Families in which nobody can be named have no row, and what has another metric has none.
    """
    lines = [f"| | {' | '.join(VIEWS)} |", f"|---|{'---|' * len(VIEWS)}"]
    for kind, rows in atlas.kinds.items():
        answers = views(rows)
        cells = [linked(answers[view]) if view in answers else NOBODY for view in VIEWS]
        if kind == rows[0].family and set(cells) != {NOBODY}:
            lines.append(f"| {clean(kind)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{origin(atlas)} {NUMBERS}"])


def linked(one: Answer) -> str:
    """Return who is named, with a link to its page."""
    page = f"[{clean(one.solver)}]({one.use}.md)"
    return short(one).replace(clean(one.solver), page, 1) if one.use else NOBODY


if __name__ == "__main__":
    named = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_answers(text, opened(named)), encoding="utf-8")
