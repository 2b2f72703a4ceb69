"""Write the answers at the top of README: `python docs/answers.py [ATLAS]`.

They are those of the atlas that comes with the package, unless another file is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

from orthobench.atlas.answers import markdown, opened
from orthobench.atlas.table import Atlas

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- answers: python docs/answers.py -->\n", "<!-- end of answers -->\n"


def with_answers(text: str, atlas: Atlas) -> str:
    """Return README with the answers of an atlas between its two marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{markdown(atlas)}\n{END}{after}"


if __name__ == "__main__":
    named = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    text = README.read_text(encoding="utf-8")
    README.write_text(with_answers(text, opened(named)), encoding="utf-8")
