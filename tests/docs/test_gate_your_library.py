"""The page about gating a library, typed in a repository of a small one with Pymanopt's names."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from orthobench.registry.scaffold import write_ci
from tests.compare.conftest import BACKEND, PROJECT

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "gate-your-library.md"

LIBRARY = {
    "__init__.py": """
        from pymanopt import function

        class Problem:
            def __init__(self, manifold, cost, *, euclidean_gradient):
                self.cost, self.gradient = cost, euclidean_gradient
    """,
    "function.py": """
        def numpy(manifold):
            return lambda function: function
    """,
    "manifolds.py": """
        class Stiefel:
            def __init__(self, n, p):
                self.shape = n, p
    """,
    "optimizers.py": """
        from types import SimpleNamespace
        import numpy as np

        STEP = 0.02

        class SteepestDescent:
            def __init__(self, max_iterations, max_time, verbosity):
                self.iterations = max_iterations

            def run(self, problem, initial_point):
                X = initial_point
                for _ in range(self.iterations):
                    G = problem.gradient(X)
                    inner = X.T @ G
                    X = np.linalg.qr(X - STEP * (G - X @ (inner + inner.T) / 2))[0]
                return SimpleNamespace(point=X)
    """,
}
"""As much of Pymanopt as the page calls."""


def git(folder, *words):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(
        ["git", "-C", folder, *who, *words],  # noqa: S607
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def library(tmp_path):
    """A clone of a library called pymanopt, with what the page says to write, of three commits."""
    text = PAGE.read_text(encoding="utf-8")
    backend = BACKEND.replace("toy_plugin", "pymanopt").replace("toy-plugin", "pymanopt")
    backend = backend.replace('path.name: path.read_text() for path in pathlib.Path(".").glob('
                              '"toy*.py")', 'str(path): path.read_text() for path in '
                              'pathlib.Path("pymanopt").glob("*.py")')  # fmt: skip
    backend = re.sub(r'\n    files\[f"{INFO}/entry_points.*', "", backend)
    (tmp_path / "backend.py").write_text(backend)
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace("toy-plugin", "pymanopt"))
    (tmp_path / "pymanopt").mkdir()
    for name, code in LIBRARY.items():
        lines = [line.removeprefix(" " * 8) for line in code.splitlines()]
        (tmp_path / "pymanopt" / name).write_text("\n".join(lines))
    for language, name in (("python", "descent.py"), ("toml", "gate.toml")):
        (code,) = re.findall(rf"```{language}\n(# {name}\n.*?)```", text, re.DOTALL)
        (tmp_path / name).write_text(code)
    git(tmp_path, "init", "-q")
    optimizers = tmp_path / "pymanopt" / "optimizers.py"
    for subject, step in (("begin", "0.02"), ("comment", "0.02  # small"), ("worse", "0.002")):
        optimizers.write_text(re.sub(r"STEP = .*", f"STEP = {step}", optimizers.read_text()))
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", subject)
    return tmp_path


def typed(beginning):
    """Return the words of the only command of the page with that beginning and the suite."""
    (line,) = re.findall(
        rf"^(orthobench {beginning} .*--suite gate.toml)$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return [sys.executable, "-m", *shlex.split(line)]


def run(words, folder):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, check=False
    )  # fmt: skip


@pytest.mark.slow
def test_the_page_gates_a_library_of_one_commit_that_is_worse(library):
    done = run([*typed("compare"), "--budget", "5"], library)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "worse: pymanopt-descent on stiefel-brockett" in done.stdout
    done = run(typed("history"), library)
    assert done.returncode == 0, done.stdout + done.stderr
    (worst,) = [line for line in done.stdout.splitlines() if line.endswith(" worse")]
    assert re.fullmatch(r"[0-9a-f]{10} worse", worst)
    assert "6 of 9 cells run now" in done.stdout
    assert (library / "orthobench-results" / "gate-history" / "index.html").is_file()


@pytest.mark.slow
def test_the_workflow_of_the_page_is_red_for_the_library(library):
    write_ci(library, "github")
    names = {"BASE": "HEAD~1", "ORTHOBENCH": str(PAGE.parents[2]), "PYTHON": sys.executable}
    done = subprocess.run(
        ["sh", "gate.sh", "--budget", "5"],  # noqa: S607
        cwd=library, env=os.environ | names, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "worse" in (library / "gate" / "comparison.md").read_text(encoding="utf-8")
