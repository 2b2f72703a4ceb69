"""Pages of real runs of every family and of made records, and a browser that opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from browser import PATIENCE

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State
from orthobench.harness.suite import SuiteSolver
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table
from orthobench.report.page import write_page
from orthobench.results.results import Results

HOSTILE = (
    '<img src=x onerror="window.hacked=1"> </script><script>window.hacked=1</script> %{x} <b>b</b>'
)

SUITE: dict[str, Any] = {
    "description": f"All families, small {HOSTILE}",
    "seeds": 3,
    "budget": {"samples": 300, "steps": 40},
    "problem": [
        {"name": "spiked-covariance", "n": 10, "k": [1, 2]},
        {"name": "planted-sparse", "m": 2, "d": 20, "samples": 30, "nonzeros": 4, "test": 50,
         "levels": {}},
        {"name": "odeco", "d": 5},
        {"name": "gaussian-factor", "n": 8, "rank": 2, "true_rank": 2, "samples": 100,
         "test": 100, "validation": 50, "label": f"factors {HOSTILE}"},
        {"name": "procrustes", "n": 4, "rows": 8},
    ],
    "solver": [
        {"name": "batch-pca"},
        {"name": "oja", "step": {"tune": [0.5, 2.0, 8.0]}},
        {"name": "oja", "label": f"oja {HOSTILE}", "step": 4.0},
        {"name": "gpower"},
        {"name": "givens-sparse-pca"},
        {"name": "givens-tensor"},
        {"name": "tensor-power"},
        {"name": "givens"},
        {"name": "hooi"},
    ],
}  # fmt: skip


@dataclass(kw_only=True, slots=True)
class FailingState(State):
    U: np.ndarray


@dataclass(frozen=True)
class Failing(Solver[SampleOracle, FailingState]):
    """Breaks in its third step."""

    name: ClassVar[str] = "failing"

    def init(self, oracle, rng):
        return FailingState(U=oracle.start.copy())

    def step(self, oracle, state):
        state.work.steps += 1
        if state.work.steps == 3:
            raise ZeroDivisionError(f"broken {HOSTILE}")

    def solution(self, state):
        return Solution(state.U.copy())


@dataclass(frozen=True)
class Made(Results):
    """Results of made records, without a store."""

    facts: dict[str, Any] = field(default_factory=dict)
    load: Callable[..., Any] | None = None

    def exhibits(self, records):
        return self.load(records) if self.load else {record.key: {} for record in records}

    def session(self):
        return {
            "text": f"description = '{HOSTILE}'", "command": "/home/me/bin/orthobench run it",
            "started": "2026-01-02T03:04:05+00:00", "ended": None,
            "environment": {"orthobench": "0.1.0", "cpu": HOSTILE, "cores": 2, "git": None},
            **self.facts,
        }  # fmt: skip


@pytest.fixture(scope="session")
def every(tmp_path_factory) -> Results:
    """Real runs of all families, one solver of which fails and one is refused."""
    suite = from_table(SUITE, "every family", catalogue())
    failing = SuiteSolver(Failing(), "failing", {}, ("orthobench", "0"))
    suite = replace(suite, solvers=(*suite.solvers, failing))
    return ob.run(
        suite, tmp_path_factory.mktemp("every") / "results.sqlite", executor="inline", quiet=True
    )


@pytest.fixture(scope="session")
def every_page(every, tmp_path_factory) -> Path:
    return write_page(every, tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def made() -> Callable[..., Results]:
    """Return a maker of results from records: ``made(records, load, text=...)``."""
    return lambda records, load=None, **facts: Made(
        "suite", Path("results.sqlite"), records, facts, load
    )


@dataclass
class Watched:
    """A page in the browser, and all that it should not have done."""

    page: Any
    troubles: list[str]

    def first_plot(self) -> Any:
        """Bring the first curves into view, and return their figure once they are drawn."""
        figure = self.page.locator("figure[data-kind=convergence]").first
        figure.scroll_into_view_if_needed()
        figure.locator(".chart").wait_for(state="attached")
        return figure


@pytest.fixture(scope="session")
def opened(chromium) -> Iterator[Callable[..., Watched]]:
    """Return what opens a page from disk: ``opened(path, width=1440, before="script")``."""
    contexts = []

    def opening(
        path: Path, width: int = 1440, before: str = "", fragment: str = "", **options: Any
    ) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page, troubles = context.new_page(), []
        page.set_default_timeout(PATIENCE)
        page.add_init_script(before)
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda m: troubles.append(f"{m.type}: {m.text}"))
        page.on("request", lambda r: note(r.url))
        url = path.as_uri()

        def note(asked: str) -> None:
            if asked.split("#")[0] != url and not asked.startswith(("blob:", "data:")):
                troubles.append(f"request: {asked}")

        page.goto(url + fragment)
        return Watched(page, troubles)

    yield opening
    for context in contexts:
        context.close()
