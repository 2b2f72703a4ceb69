"""What the README and docstrings show works."""

import doctest
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from fences import texts

import orthobench
from orthobench.cli.adhoc import changed
from orthobench.contract.samples import SampleOracle
from orthobench.families.orthogonal_group import maker as orthogonal_group
from orthobench.families.sparse_pca import maker as sparse_pca
from orthobench.families.stochastic_pca import maker as stochastic_pca
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table

README = Path(__file__).parents[2] / "README.md"


def solving():
    """The blocks that solve a problem; each leaves its solution as U."""
    return [code for code in texts(README, "python") if "ob.solve(" in code]


def test_python_runs():
    names = {}
    sizes = []
    for code in solving():
        exec(code, names)  # noqa: S102 - the README's own code
        U = names["U"]
        sizes.append(U.shape)
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    assert sizes == [(50, 8), (50, 8), (40, 4), (6, 6)]
    assert names["core"].shape == (4, 4, 4)
    centres = names["found"].centres
    nearest = [np.abs(centres - centre).max(axis=1).min() for centre in names["centres"]]
    assert max(nearest) < 0.2
    H = np.diag(np.arange(6.0))
    assert np.trace(U.T @ H @ U @ H) == pytest.approx(np.sum(np.arange(6.0) ** 2))


COMPARISON = """
seeds = 2
[budget]
samples = 100
[[problem]]
name = "digits"
k = 4
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
    orthobench.run(path, quiet=True)
    (code,) = [code for code in texts(README, "python") if code not in solving()]
    names = {}
    exec(code, names)  # noqa: S102 - the README's own code
    names["plt"].close("all")
    assert names["table"].shape == (2, 2)
    assert names["table"].notna().all(axis=None)
    assert len(names["ax"].lines) >= 2


def test_the_suites_are_valid():
    first, second = (
        from_table(tomllib.loads(t), "readme", catalogue()) for t in texts(README, "toml")
    )
    assert len(first.problems) == 3
    assert {s.label for s in first.solvers} == {"msg", "incremental-pca"}
    assert [str(level) for level in second.problems[0].levels] == [
        "density <= 0.05", "density <= 0.1",
    ]  # fmt: skip
    assert all(s.solver.refuses(second.problems[0].problem) is None for s in second.solvers)


def test_the_command_on_your_own_data_is_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.eye(20))
    (specification,) = re.findall(r'orthobench run -p "(.*)"', README.read_text(encoding="utf-8"))
    suite = changed(problems=[specification])
    able = {n for n, p in catalogue().solvers.items() if issubclass(SampleOracle, p.item.needs)}
    assert {s.solver.name for s in suite.solvers} == able


@pytest.mark.parametrize(
    "name", [n for n, p in catalogue().solvers.items() if p.plugin.distribution == "orthobench"]
)
def test_every_solver_has_its_row(name):
    assert f"| `{name}` |" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [orthobench, stochastic_pca, sparse_pca, orthogonal_group])
def test_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
