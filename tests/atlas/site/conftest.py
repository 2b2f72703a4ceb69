"""Sites of made-up atlases."""

import math
from dataclasses import replace

import pytest

from orthobench.atlas.site import write_site
from orthobench.atlas.table import Atlas

HOSTILE = (
    '<img src=x onerror="window.hacked=1"> </script><script>window.hacked=1</script>/../%{x} "'
)
"""A name that would run, or lead elsewhere."""


def hostile(rows):
    """Return rows of which one solver, problem, family and reason have such a name."""
    texts = ("solver", "problem", "family", "reason", "metric", "suite", "parameters", "on")
    named = {name: f"{name} {HOSTILE}" for name in texts}
    failing = {"failed": True, "value": math.inf}
    return [
        replace(r, **named, **(failing if r.seed == 1 else {})) if r.solver == "solver-1" else r
        for r in rows
    ]


@pytest.fixture(scope="session")
def atlas(rows):
    own = [*rows(seeds=8), *rows(problems=1, family="Tucker, of order 3"), *hostile(rows(seeds=3))]
    about = {"date": "2026-01-02", "machines": [HOSTILE], "versions": {HOSTILE: HOSTILE}}
    return Atlas(tuple(own), about)


@pytest.fixture(scope="session")
def site(atlas, tmp_path_factory):
    return write_site(atlas, tmp_path_factory.mktemp("atlas") / "site").parent
