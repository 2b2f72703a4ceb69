"""Pages for coding agents: the solver of AGENTS.md keeps the contract, and links exist."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
from fences import texts

import orthobench as ob
from orthobench.testing import check_solver

ROOT = Path(__file__).parents[2]
AGENTS, LLMS = ROOT / "AGENTS.md", ROOT / "docs" / "llms.txt"


def test_solver_of_the_page_keeps_the_contract_and_gets_better(tmp_path, monkeypatch):
    (tmp_path / "agents_page.py").write_text("\n".join(texts(AGENTS, "python")))
    monkeypatch.syspath_prepend(str(tmp_path))
    solver = import_module("agents_page").MyMethod(batch=5)
    X = np.random.default_rng(0).standard_normal((600, 8)) * np.linspace(3, 1, 8)
    instance = ob.stochastic_pca(X, k=2)
    check_solver(solver, instance)
    trace = ob.solve(solver, instance).trace
    assert trace[-1].metrics["suboptimality"] < trace[0].metrics["suboptimality"] / 2


def test_pages_that_are_listed_exist_and_both_texts_are_short():
    listed = re.findall(r"\]\((.+?)\)", LLMS.read_text())
    assert len(listed) > 10
    assert [page for page in listed if not (LLMS.parent / page).is_file()] == []
    assert all(len(file.read_text().splitlines()) < 60 for file in (AGENTS, LLMS))
