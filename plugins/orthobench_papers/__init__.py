"""Claims of the papers whose methods come with orthobench.

The sentences of a claim are in the .toml file of its paper, with the name of its check.
"""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.contract import hookimpl
from orthobench_papers.reproduce import Paper, papers_of


@hookimpl
def orthobench_claims() -> Iterable[Paper]:
    """Return the papers."""
    return papers_of(__name__)
