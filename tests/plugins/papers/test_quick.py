"""Each paper at the quick size, as a person runs it: the exit code is that of what is published."""

import json
import os
import subprocess
import sys

import pytest
from orthobench_papers.reproduce.check import missing_data

from orthobench.registry.plugins import catalogue

PAPERS = [
    pytest.param(
        paper, id=paper.name,
        marks=[pytest.mark.papers] if any(c.suites for c in paper.claims)
        else [pytest.mark.papers, pytest.mark.wide],
    )
    for paper in (provided.item for provided in catalogue().papers.values())
]  # fmt: skip


@pytest.mark.parametrize("paper", PAPERS)
def test_all_claims_are_as_published(paper, tmp_path):
    data = {name for claim in paper.claims for name in claim.data}
    if missing := missing_data(sorted(data)):
        pytest.skip(f"{', '.join(missing)} is not in the data folder")
    done = subprocess.run(
        [sys.executable, "-m", "orthobench", "reproduce", paper.name, "--quick", "--json"],
        cwd=tmp_path, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert [(one["claim"], one["verdict"], one["text"]) for one in found if one["red"]] == []
    assert done.returncode == 0, done.stderr
