"""Costs of the site of an atlas: its answers, its pages and its bytes.

Targets for 7 families of 24 problems, 30 solvers and 10 seeds, 50,400 runs: 5 minutes of processor
time, 15 MB in all, and 2 MB for the table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import smoke
from smoke import usually

from orthobench.atlas.site import write_site
from orthobench.atlas.table import Atlas, AtlasRow

FAMILIES, PROBLEMS = usually(7, smoke=1), usually(24, smoke=2)
SOLVERS, SEEDS = usually(30, smoke=3), usually(10, smoke=2)
SECONDS, SITE_BYTES, TABLE_BYTES = 300, 15e6, 2e6


def rows() -> Iterator[AtlasRow]:
    """Yield the runs of solvers that come to an end at their own pace."""
    rng = np.random.default_rng(0)
    for at in np.ndindex(FAMILIES, PROBLEMS, SOLVERS, SEEDS):
        family, problem, solver, seed = at
        steps = round(1.3 ** rng.integers(1, 40)) + 1
        yield AtlasRow(
            suite=f"suite {family}", family=f"family {family}", problem=f"p{problem}",
            name=f"p{problem % 6}", parameters=f'{{"n": {problem}}}', d=10 + problem, k=4, rows=900,
            solver=f"solver {solver}", solver_name=f"solver-{solver}", seed=seed,
            metric="gap", start=1.0, ending="budget",
            value=(1 + solver) * math.exp(0.1 * rng.normal()) * 1e-3, lowest=1e-3,
            seconds=1e-6 * math.exp(rng.normal()) * steps, samples=steps,
            flops=(50 + solver) * steps,
        )  # fmt: skip


def test_a_site(report: Any, tmp_path: Path) -> None:
    atlas = Atlas(tuple(rows()))
    begin = time.process_time()
    site = write_site(atlas, tmp_path / "site").parent
    seconds = time.process_time() - begin
    sizes = {path.name: path.stat().st_size for path in site.iterdir()}
    shape = f"{len(atlas.rows)} runs"
    report("site", shape, "", "", f"{seconds:.1f} s", "", f"{SECONDS} s", "")
    for what, size, most in (
        ("bytes of the site", sum(sizes.values()), SITE_BYTES),
        ("bytes of the table", sizes["atlas.parquet"], TABLE_BYTES),
    ):
        report(what, shape, "", "", f"{size / 1e6:.2f} MB", "", f"{most / 1e6:.0f} MB", "")
        assert size < most
    assert smoke.ON or seconds < SECONDS
