"""What the README and docstrings show works."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
from fences import texts
from orthobench_sparse_pca import maker as sparse_pca
from orthobench_stiefel import maker as stiefel
from orthobench_stiefel import orthogonal_group
from orthobench_stochastic_pca import maker as stochastic_pca

import orthobench
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import requested_suite

README = Path(__file__).parents[2] / "README.md"


def solving():
    """The block that solves a problem, and leaves its solution as U."""
    (code,) = [code for code in texts(README, "python") if "ob.solve(" in code]
    return code


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_python_runs():
    names = {}
    exec(solving(), names)  # noqa: S102 - the README's own code
    U = names["U"]
    assert U.shape == (50, 8)
    np.testing.assert_allclose(U.T @ U, np.eye(8), atol=1e-12)


COMPARISON = """
seeds = 2
[budget]
samples = 100
[[problem]]
name = "digits"
k = 4
passes = 4
[[solver]]
name = "oja"
[[solver]]
name = "incremental-pca"
"""


@pytest.mark.skipif(
    not hasattr(orthobench, "plots"), reason="there is no orthobench.report.notebook"
)
def test_the_comparison_is_a_frame_and_a_plot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    path = tmp_path / "quickstart.toml"
    path.write_text(COMPARISON)
    orthobench.run(path, executor="inline", quiet=True)
    (code,) = [code for code in texts(README, "python") if code != solving()]
    names = {}
    exec(code, names)  # noqa: S102 - the README's own code
    names["plt"].close("all")
    assert names["table"].shape == (2, 2)
    assert names["table"].notna().all(axis=None)
    assert len(names["ax"].lines) >= 2


def test_the_command_on_your_own_data_is_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.eye(20))
    text = README.read_text(encoding="utf-8")
    (specification,) = re.findall(r'orthobench race -p "(.*)" --', text)
    suite = requested_suite(problems=[specification])
    offers = suite.problems[0].problem.offers
    known = (p.item for named in catalogue().solvers.values() for p in named.all)
    able = {solver.name for solver in known if issubclass(offers, solver.needs)}
    assert {s.solver.name for s in suite.solvers} == able


@pytest.mark.parametrize(
    "module", [orthobench, stochastic_pca, sparse_pca, orthogonal_group, stiefel]
)
def test_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
