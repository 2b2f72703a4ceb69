"""Which planted changes `orthobench compare` finds, how it exits, and how long it takes.

    python benchmarks/planted_changes.py                 # all; a second call goes on
    python benchmarks/planted_changes.py docstring first # those with these names
    python benchmarks/planted_changes.py --smoke         # one, in some seconds

Each change is one commit in the plugin that `orthobench plugin new` writes, with a suite of one
solver on two problems and three seeds. Each comparison is a line of the output file. The test
`tests/compare/test_planted.py` runs all of them too, once a week.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

SOLVER, INIT, GATE = ("src/my_method/solver.py", "src/my_method/__init__.py",
                      "src/my_method/gate.toml")  # fmt: skip

SUITE = """
seeds = 3
budget = { samples = 2000 }
[[problem]]
name = "spiked-covariance"
n = 50
k = 3
[[problem]]
name = "digits"
k = 4
[[solver]]
name = "my-method"
"""

STEP = "        X = oracle.take(self.batch)\n"
LAST = "flops.qr(n, k)\n"
CLASS = "@dataclass(frozen=True)\nclass MyMethod"
SAMPLED = "self.step_size / state.work.steps**0.5"
SPIN = "{}        end = time.process_time_ns() + {}\n        while time.process_time_ns() < end:\n            pass\n"  # noqa: E501
IMPORTS = "import numpy as np\n"

Edits = Mapping[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Planted:
    """A change that is planted.

    Attributes
    ----------
    name : str
    exits : tuple of int
        The exit codes that are right.
    edits : mapping
        Pairs of old and new text, by file; an empty old text is the end of the file.
    said : tuple of str
        Texts in the report.
    options : tuple of str
        More options of the command.
    """

    name: str
    exits: tuple[int, ...]
    edits: Edits = field(default_factory=dict)
    said: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def slower(microseconds: float) -> Edits:
    """Return the edits that make a step so much slower, in processor time."""
    spin = SPIN.format(STEP, int(1000 * microseconds))
    return {SOLVER: ((STEP, spin), (IMPORTS, f"import time\n\n{IMPORTS}"))}


def step(before: str, top: str = "", solver: tuple[tuple[str, str], ...] = ()) -> Edits:
    """Return the edits that add a statement to each step, and code before the class."""
    return {SOLVER: ((STEP, f"{STEP}        {before}\n"), (CLASS, f"{top}\n\n{CLASS}"), *solver)}


POOL = """
import concurrent.futures
POOL = concurrent.futures.ThreadPoolExecutor(2)
def busy(seed):
    return sum(i * i for i in range(2000))
"""

NUMBA = """
import numba
@numba.njit(parallel=True)
def busy(n):
    total = 0.0
    for i in numba.prange(n):
        total += np.sqrt(i)
    return total
"""

WRAPPED = """

def _wrapped(step):
    def slow(self, oracle, state):
        step(self, oracle, state)
        for _ in range(1500):
            pass

    return slow


MyMethod.step = _wrapped(MyMethod.step)
"""

BEGIN = "        return Iterate(U=oracle.start.copy())\n"
NOISY = "state.U = state.U + 1e-3 * np.random.default_rng().standard_normal(state.U.shape)"
TIMID = (SAMPLED, "0.01 / state.work.steps**0.5")

PLANTED = (
    Planted("docstring", (0,), {SOLVER: (('"""Take one mini-batch."""', '"""Take a batch."""'),)},
            ("its code is the same",)),
    Planted("refactored", (0,), {SOLVER: (("(X.T @ (X @ state.U))", "moved"), (STEP, f"{STEP}        moved = X.T @ (X @ state.U)\n"))}),  # noqa: E501
    Planted("20 % slower", (1,), slower(5)),
    Planted("5 % slower", (1, 2), slower(1.5)),
    Planted("100 % slower", (1,), slower(30)),
    Planted("100 % slower, budget 3", (1, 2), slower(30), options=("--budget", "3")),
    Planted("300 % slower, budget 12", (1,), slower(100), options=("--budget", "12")),
    Planted("faster", (0,), {SOLVER: (("orthonormalize(state.U + ", "np.linalg.qr(state.U + "), ("state.U)))\n", "state.U)))[0]\n"))}),  # noqa: E501
    Planted("other schedule", (0, 1), {SOLVER: (("steps**0.5", "steps**0.6"),)}),
    Planted("another QR and its flops", (1,), {SOLVER: ((LAST, f"2 * {LAST}        state.U = orthonormalize(state.U)\n"),)}, ("flops",)),  # noqa: E501
    Planted("half the flops", (0,), {SOLVER: (("state.work.flops += 4 *", "state.work.flops += 2 *"),)}, ("better", "flops")),  # noqa: E501
    Planted("NaN on one seed", (1,), {SOLVER: ((BEGIN, BEGIN.replace("copy()", "copy() * (np.nan if oracle.start[0, 0] > 0 else 1)")),)}),  # noqa: E501
    Planted("not repeatable", (1,), step(NOISY), ("of HEAD with the same seed differ",)),
    Planted("not repeatable and ruined", (1,), step(NOISY, solver=(TIMID,)), ("of HEAD with the",)),
    Planted("requirement", (0,), {"pyproject.toml": (("numpy>=1.26", "numpy>=1.27"),)},
            ("numpy>=1.27", "installed is the same")),
    Planted("memory 320 MB", (1,), {SOLVER: ((BEGIN, f"        np.ones(40_000_000).sum()\n{BEGIN}"),)}, ("of memory",)),  # noqa: E501
    Planted("memory 8 MB", (1,), {SOLVER: ((BEGIN, f"        np.ones(1_000_000).sum()\n{BEGIN}"),)}, ("of memory",)),  # noqa: E501
    Planted("import 3 s", (1,), {INIT: (("", "\nimport time\ntime.sleep(3)\n"),)}, ("import",)),
    Planted("wrapped at import", (1,), {INIT: (("", WRAPPED),)}, ("runs at import",)),
    Planted("slower for n > 300", (0,), step("if len(state.U) > 300:\n            self.later()", solver=(("    def solution(", "    def later(self) -> None:\n        for _ in range(5000):\n            pass\n\n    def solution("),))),  # noqa: E501
    Planted("first call 1.5 s", (1,), {SOLVER: ((BEGIN, f"        compiled()\n{BEGIN}"), (CLASS, f"import functools\nimport time\n\n\n@functools.cache\ndef compiled() -> None:\n    time.sleep(1.5)\n\n\n{CLASS}"))}, ("first",)),  # noqa: E501
    Planted("renamed, suite too", (2,), {SOLVER: (('"my-method"', '"my-other"'),), GATE: (('"my-method"', '"my-other"'),)}),  # noqa: E501
    Planted("renamed, suite not", (1,), {SOLVER: (('"my-method"', '"my-other"'),)}),
    Planted("default 8 -> 4", (1,), {SOLVER: (("8.0,\n", "4.0,\n"),)}, ("step 8.0 -> 4.0",)),
    Planted("suite emptied, 100 % slower", (1,), {**slower(30), GATE: (("2000", "200"),)}, ("gate.toml",)),  # noqa: E501
    Planted("thread pool", (1,), step("list(POOL.map(busy, range(2)))", POOL), ("time",)),
    Planted("numba parallel", (1,), step("busy(20_000)", NUMBA), ("time",)),
    Planted("numba parallel, wall", (1,), step("busy(20_000)", NUMBA), ("time",), ("--clock", "wall")),  # noqa: E501
    Planted("sleep", (1,), step("__import__('time').sleep(0.0005)")),
    Planted("data file", (1,), {"src/my_method/factor.csv": (("1.0", "0.1"),)}, ("factor.csv",)),
    Planted("library 20 times slower", (1,), {"lib/mylib.py": (("range(1)", "range(20_000)"),)},
            ("mylib.py",), ("--with", "lib")),
    Planted("syntax error", (2,), {SOLVER: (("", "\ndef broken(:\n"),)}),
    Planted("missing import", (2,), {SOLVER: ((IMPORTS, f"import no_such_module\n{IMPORTS}"),)}),
    Planted("build broken", (2,), {"pyproject.toml": (("hatchling.build", "hatchling.nothing"),)}),
)  # fmt: skip

LIBRARY = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "mylib"
version = "1.0"
[tool.hatch.build.targets.wheel]
only-include = ["mylib.py"]
"""


def plugin(folder: Path) -> Path:
    """Write the plugin, with a library beside it that it calls, as a repository; return it."""
    run("orthobench", "plugin", "new", "my-method", "-o", str(folder / "plugin"), at=folder)
    root = folder / "plugin"
    (root / GATE).write_text(SUITE)
    (root / "src/my_method/factor.csv").write_text("1.0\n")
    (root / "lib").mkdir()
    (root / "lib/pyproject.toml").write_text(LIBRARY)
    (root / "lib/mylib.py").write_text("def call():\n    for _ in range(1):\n        pass\n")
    path = root / SOLVER
    text = path.read_text().replace(SAMPLED, f"FACTOR * {SAMPLED}").replace(
        CLASS, "import pathlib\n\ntry:\n    from mylib import call\nexcept ImportError:\n    def "
        "call(): pass\n\nFACTOR = float(pathlib.Path(__file__).with_name('factor.csv').read_text())"
        f"\n\n\n{CLASS}").replace(STEP, f"{STEP}        call()\n")  # fmt: skip
    path.write_text(text)
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "tag", "base")
    return root


def plant(root: Path, planted: Planted) -> None:
    """Commit a change on top of the base."""
    git(root, "checkout", "-q", "--detach", "base")
    for name, edits in planted.edits.items():
        text = (root / name).read_text()
        for old, new in edits:
            if old not in text:
                raise SystemExit(f"{name} has no {old!r} any more: plant another change")
            text = text.replace(old, new, 1) if old else text + new
        (root / name).write_text(text)
    commit(root)


def compared(root: Path, planted: Planted) -> dict[str, object]:
    """Plant a change, and return how comparing it with its base ends, and what is said."""
    plant(root, planted)
    begin = time.monotonic()
    words = ("orthobench", "compare", "base", "HEAD", "--suite", "gate", "-q", *planted.options)
    done = run(*words, at=root, check=False)
    said = done.stdout + done.stderr
    return {
        "planted": planted.name, "exit": done.returncode, "right": done.returncode in planted.exits,
        "missing": [text for text in planted.said if text not in " ".join(said.split())],
        "seconds": round(time.monotonic() - begin, 1), "verdict": said.partition("\n")[0],
        "load": round(os.getloadavg()[0], 1), "said": said,
    }  # fmt: skip


def git(root: Path, *words: str) -> None:
    """Call git in a folder."""
    run("git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words, at=root)


def commit(root: Path) -> None:
    """Commit all."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "change")


def run(*words: str, at: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program that lies beside this Python, or git."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.run(
        words, cwd=at, env=os.environ | {"PATH": path}, check=check, text=True, capture_output=True
    )


def main() -> None:
    """Compare the planted changes that are left, and print how each ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="those of them that are compared; all without any")
    parser.add_argument("--smoke", action="store_true", help="one, which is quick")
    parser.add_argument("--out", type=Path, default=Path("planted-changes.jsonl"))
    given = parser.parse_args()
    names = ["docstring"] if given.smoke else given.names
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    done = {json.loads(line)["planted"] for line in lines}
    with tempfile.TemporaryDirectory() as folder:
        root = plugin(Path(folder))
        for planted in PLANTED:
            if planted.name in done or (names and planted.name not in names):
                continue
            row = compared(root, planted)
            click.echo(
                f"{planted.name:28} exit {row['exit']} {'right' if row['right'] else 'WRONG'} "
                f"{row['seconds']:6} s  {row['verdict']} {row['missing'] or ''}"
            )
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
