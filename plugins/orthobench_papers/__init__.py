"""Claims of the papers whose methods come with orthobench; it imports no solver or problem."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.contract import hookimpl
from orthobench.reproduce import Paper


@hookimpl
def orthobench_claims() -> Iterable[Paper]:
    """Return the papers."""
    from orthobench_papers.givens_2014 import GIVENS_2014
    from orthobench_papers.msg_2013 import MSG_2013
    from orthobench_papers.tucker_2022 import TUCKER_2022

    return [MSG_2013, GIVENS_2014, TUCKER_2022]
