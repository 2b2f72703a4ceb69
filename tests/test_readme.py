"""What the README and docstrings show works."""

import doctest
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import orthobench
from orthobench.adhoc import changed
from orthobench.families import orthogonal_group, stochastic_pca
from orthobench.registry import catalogue
from orthobench.samples import SampleOracle
from orthobench.suite_file import from_table

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_python_runs():
    (code,) = blocks("python")
    names = {}
    exec(code, names)  # noqa: S102 - the README's own code
    np.testing.assert_allclose(names["U"].T @ names["U"], np.eye(8), atol=1e-12)


def test_the_suite_is_valid():
    (text,) = blocks("toml")
    suite = from_table(tomllib.loads(text), "readme", catalogue())
    assert len(suite.problems) == 3
    assert {s.label for s in suite.solvers} == {"msg", "incremental-pca"}


def test_the_command_on_your_own_data_is_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.eye(20))
    (specification,) = re.findall(r'orthobench run -p "(.*)"', README.read_text(encoding="utf-8"))
    suite = changed("quickstart", problems=[specification])
    able = {n for n, p in catalogue().solvers.items() if issubclass(SampleOracle, p.item.needs)}
    assert {s.solver.name for s in suite.solvers} == able


@pytest.mark.parametrize("name", ["msg", "capped-msg", "meg", "warmuth-kuzmin", "incremental-pca",
                                  "grassmannian-sgd", "oja", "batch-pca"])  # fmt: skip
def test_every_solver_has_its_row(name):
    assert f"| `{name}` |" in README.read_text(encoding="utf-8")
    assert name in catalogue().solvers


@pytest.mark.parametrize("module", [orthobench, stochastic_pca, orthogonal_group])
def test_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
