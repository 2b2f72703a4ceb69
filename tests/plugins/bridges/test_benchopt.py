"""Ports of benchopt: the original classes are called, and their results judged by their own."""

import importlib
import sys
import types

import numpy as np
import pytest
from click.testing import CliRunner

import orthobench as ob
from orthobench.cli.main import main
from orthobench.contract import solver as contract
from orthobench.registry.plugins import Plugin, Registry
from orthobench.registry.suite_file import load

BENCHMARK = {
    "objective.py": """
import numpy as np
from benchopt import BaseObjective
from benchmark_utils import squared
class Objective(BaseObjective):
    name = "Least squares"
    parameters = {"scale": [1.0, 2.0]}
    def set_data(self, A, b): self.A, self.b = A, b
    def get_objective(self): return dict(A=self.A, b=self.b, scale=self.scale)
    def get_one_result(self): return dict(x=np.zeros(self.A.shape[1]))
    def evaluate_result(self, x):
        return dict(value=self.scale * squared(self.A @ x - self.b), none=None, size=x.size)
""",
    "benchmark_utils.py": "def squared(r): return float(r @ r)\n",
    "datasets/simulated.py": """
import numpy as np
from benchopt import BaseDataset
class Dataset(BaseDataset):
    name = "Simulated"
    parameters = {"n, d": [(6, 3), (8, 2)], "kind": ["plain", None]}
    def get_data(self):
        rng = np.random.default_rng(self.get_seed())
        return dict(A=rng.standard_normal((self.n, self.d)), b=rng.standard_normal(self.n))
""",
    "solvers/gd.py": """
import numpy as np
from benchopt import BaseSolver
class Solver(BaseSolver):
    name = "G D"
    parameters = {"step": [0.01, 0.02]}
    def skip(self, A, b, scale): return scale == 2.0, "scale 2 is too large"
    def set_objective(self, A, b, scale): self.A, self.b = A, b
    def run(self, n):
        self.x = np.zeros(self.A.shape[1])
        for _ in range(n): self.x = self.x - self.step * self.A.T @ (self.A @ self.x - self.b)
    def get_result(self): return dict(x=self.x)
""",
    "solvers/called.py": """
from benchopt import BaseSolver
import numpy as np
class Solver(BaseSolver):
    name = "called"
    sampling_strategy = "callback"
    def set_objective(self, A, b, scale): self.A, self.b = A, b
    def run(self, callback):
        self.x = np.zeros(self.A.shape[1])
        while callback(): self.x = self.x - 0.01 * self.A.T @ (self.A @ self.x - self.b)
    def get_result(self): return dict(x=self.x)
""",
    "solvers/near.py": """
from benchopt import BaseSolver
import numpy as np
class Solver(BaseSolver):
    name = "near"
    sampling_strategy = "tolerance"
    requirements = ["pip:numpy>=1", "conda-forge::scipy"]
    def set_objective(self, A, b, scale): self.A, self.b = A, b
    def run(self, tolerance):
        self.x = np.linalg.lstsq(self.A, self.b, rcond=None)[0] + min(tolerance, 7.0)
    def get_result(self): return dict(x=self.x)
""",
    "solvers/once.py": """
from benchopt import BaseSolver
import numpy as np
class Solver(BaseSolver):
    name = "once"
    sampling_strategy = "run_once"
    def set_objective(self, A, b, scale): self.A, self.b = A, b
    def run(self, _): self.x = np.linalg.lstsq(self.A, self.b, rcond=None)[0]
    def get_result(self): return dict(x=self.x)
""",
}


class Base:
    """The base classes of benchopt 1.10, as far as a port calls them."""

    @classmethod
    def get_instance(cls, **values):
        made = cls()
        vars(made).update(values)
        return made

    def get_seed(self):
        return self._run_context.get_seed()

    def skip(self, **_):
        return False, None

    def pre_run_hook(self, _):
        pass


@pytest.fixture
def port(tmp_path, monkeypatch):
    """Return the catalogue of a ported benchmark, and its suite."""
    for name, text in BENCHMARK.items():
        file = tmp_path / "benchmark_squares" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    out = ["plugin", "new", "--from-benchopt", str(tmp_path / "benchmark_squares")]
    done = CliRunner().invoke(main, [*out, "-o", str(tmp_path / "port")])
    assert done.exit_code == 0, done.output
    assert "1 data sets and 4 solvers of Least squares" in done.output
    kinds = {f"Base{kind}": Base for kind in ("Objective", "Dataset", "Solver")}
    monkeypatch.setitem(sys.modules, "benchopt", types.SimpleNamespace(**kinds))
    monkeypatch.setattr(contract, "version", lambda name: "1")
    monkeypatch.syspath_prepend(str(tmp_path / "port" / "src"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    registry = Registry()
    module = importlib.import_module("orthobench_squares")
    registry.add(module, Plugin("squares", "orthobench-squares", "0.1"))
    yield registry, load(registry.suite("squares-comparison"), registry)
    for name in [n for n in sys.modules if n.startswith(("orthobench_squares", "benchmark_utils"))]:
        del sys.modules[name]


def solved(registry, name, steps, seed=0, **values):
    """Return metrics along a run, A and b of its data, and how it ended."""
    problem = registry.problem("squares-simulated", values)
    instance = ob.instance(problem, seed)
    solver = registry.solver(name, {}, problem.offers)
    outcome = ob.solve(solver, instance, ob.Budget(steps=steps), seed, curve=True)
    told = instance.oracle.told
    return [m.metrics for m in outcome.trace], told["A"], told["b"], outcome.stop.status.value


def descent(A, b, steps):
    x = np.zeros(A.shape[1])
    for _ in range(steps):
        x -= 0.01 * A.T @ (A @ x - b)
    return ((A @ x - b) ** 2).sum()


@pytest.mark.parametrize("name", ["squares-g-d", "squares-called"])
def test_iterations_and_callbacks_run_as_many_steps_as_asked(port, name):
    found, A, b, _ = solved(port[0], name, 16)
    assert [m["value"] for m in found] == pytest.approx([descent(A, b, n) for n in (0, 1, 4, 16)])
    assert found[-1]["size"] == 3
    assert "none" not in found[-1]


def test_run_once_begins_at_the_example_and_is_complete(port):
    found, A, b, status = solved(port[0], "squares-once", 9)
    best = np.linalg.lstsq(A, b, rcond=None)[1][0]
    assert [m["value"] for m in found] == pytest.approx([b @ b, best])
    assert status == "done"


def test_skip_refuses_the_problem_with_the_reason_of_the_original(port):
    registry, _ = port
    problem = registry.problem("squares-simulated", {"scale": 2.0})
    solver = registry.solver("squares-g-d", {}, problem.offers)
    assert "scale 2 is too large" in solver.refuses(problem)
    assert registry.solver("squares-called", {}, problem.offers).refuses(problem) is None


def test_suite_has_each_combination_of_the_grids(port):
    registry, suite = port
    sizes = [(p.problem.n, p.problem.d, p.problem.scale, p.problem.kind) for p in suite.problems]
    grid = {
        (n, d, s, k) for n, d in ((6, 3), (8, 2)) for s in (1.0, 2.0) for k in ("'plain'", "None")
    }
    assert len(sizes) == 8
    assert {*sizes} == grid
    assert sorted(s.solver.name for s in suite.solvers) == [
        "squares-called", "squares-g-d", "squares-g-d", "squares-near", "squares-once",
    ]  # fmt: skip
    assert (
        registry.solver("squares-g-d", {"step": 0.5}, suite.problems[0].problem.offers).step_ == 0.5
    )
    assert registry.solvers["squares-near"].all[0].item.packages == ("benchopt", "numpy", "scipy")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("objective.py", None, "no objective.py"),
        ("objective.py", "class Objective(:", "cannot be read as Python"),
        ("objective.py", "x = 1", "no class Objective"),
        ("solvers/s.py", "x = 1", "no Solver"),
    ],
)
def test_folder_that_is_no_benchmark_is_refused(tmp_path, name, text, said):
    files = {"objective.py": "class Objective: pass", "datasets/d.py": "class Dataset: pass",
             "solvers/s.py": "class Solver: pass", name: text}  # fmt: skip
    for path, content in files.items():
        if content is not None:
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(content)
    done = CliRunner().invoke(main, ["plugin", "new", "x-y", "--from-benchopt", str(tmp_path)])
    assert done.exit_code == 2
    assert said in done.output
