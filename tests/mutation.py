"""Mutation testing: how many small changes of the code do the tests notice?

    python tests/mutation.py [--sample 150] [--seed 0] [--out FILE] [MODULE...]

Draws a random sample of the changes that Cosmic Ray can make in all rooms. Tests each in a copy of
the project, up to the first failure: by the tests of the module, or of its importers if it has
none, then for a while by the others of its room. Prints the scores, and the survivors as diffs.
Each of these needs a test, or is equivalent. Needs the extra: mutation.

The sample leaves out most replacements of an arithmetic operator, which would crowd out the rest
(`ONE_EACH`). It leaves out equivalent changes: comparisons that are the same for names (`EQUAL`);
numbers next to a `LARGE` one, such as bounds of 5,000 and 5,001 files; caches that keep less or
nothing (`KEPT`). Changes that leave the same syntax tree are left out as well, such as 1e150 + 1.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from difflib import unified_diff
from functools import cache
from importlib import import_module
from itertools import chain, count, islice
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_code, use_mutation
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]

ROOMS = {
    "orthobench/api.py": ("tests/test_api.py",),
    "orthobench/atlas": ("tests/atlas", "tests/cli/test_atlas.py", "tests/cli/test_advising.py"),
    "orthobench/cli": ("tests/cli",),
    "orthobench/compare": ("tests/compare", "tests/cli/test_comparing.py"),
    "orthobench/contract": ("tests/contract", "tests/harness", "tests/testing", "tests/registry"),
    "orthobench/decide": ("tests/decide", "tests/report", "tests/atlas/test_answers.py"),
    "orthobench/execute": ("tests/execute", "tests/test_api.py"),
    "orthobench/harness/executors": (
        "tests/test_api.py", "tests/faults/test_local.py", "tests/faults/test_exploits.py",
        "tests/faults/test_dask.py", "tests/harness",
    ),
    "orthobench/harness": (
        "tests/harness", "tests/registry/test_preflight.py", "tests/test_api.py",
        "tests/faults/test_blocks_on_dask.py",
    ),
    "orthobench/racing": ("tests/racing",),
    "orthobench/registry": ("tests/registry", "tests/cli/test_plugins.py"),
    "orthobench/report": ("tests/report", "tests/cli/test_reporting.py"),
    "orthobench/results": ("tests/results", "tests/verify"),
    "orthobench/stats": ("tests/stats",),
    "orthobench/testing": ("tests/testing",),
    "orthobench/tools": ("tests/tools", "tests/harness", "tests/results"),
    "orthobench/verify": ("tests/verify", "tests/cli/test_verifying.py"),
    **{
        f"plugins/orthobench_{name}": (
            f"tests/plugins/{name}", "tests/plugins/problems", "tests/plugins/peers",
            "tests/plugins/test_conformance.py",
        )
        for name in (
            "bridges", "cca", "givens", "gpower", "kit", "orthogonal_tensor", "papers", "pca",
            "polar", "sparse_pca", "stiefel", "stochastic_pca", "tensor_power", "tucker",
        )
    },
}  # fmt: skip
"""The tests of each room."""

EVERYWHERE = ("tests/test_boundary.py", "tests/plugins/test_settings.py")
"""Tests of every room, which take two seconds."""

ONE_EACH = "Add_Sub|Sub_Add|Mul_Div|Div_Mul|Pow_Mul|FloorDiv_Div|Mod_Mul|BitAnd_BitOr|LShift_Add"
"""Replacements of an arithmetic operator: one of eleven others, or they were most of a sample.
Those of ``|`` are annotations."""

EQUAL = "Is_Eq|IsNot_NotEq|Eq_Is|NotEq_IsNot"
"""Comparisons that give the same for None, members of enumerations and small numbers."""

LEFT_OUT = re.compile(
    rf"core/ReplaceBinaryOperator_(?!({ONE_EACH})$)|core/ReplaceComparisonOperator_({EQUAL})$"
)

KEPT = re.compile(r"\s*@(lru_)?cache\b")
"""A decorator that saves time, and changes nothing else."""

LARGE = 50
"""From here on a number is a bound or a size, and one more or less of it is the same."""

TIMES = count(1)
"""When mutants are said to be written, in seconds: of two sources of the same size that were
written in the same second, Python takes the bytecode of one for that of the other."""

NO_TESTS = 5
"""The exit code of pytest if all selected tests are slow."""

LOADED = (
    "click.testing", "hypothesis", "matplotlib.figure", "numba", "numpy", "pytest", "rich.table",
    "scipy.linalg", "scipy.optimize", "scipy.stats", "sklearn.decomposition",
)  # fmt: skip
"""Modules that tests import and no mutant changes, loaded once."""

PATIENCE = 45
"""CPU seconds after which a test hangs."""

ENOUGH = 40
"""CPU seconds of the nearest tests, and of the others, after which none is begun."""

DIGESTED = '(*shared, *sorted(here.rglob("*.py")))'
"""Files whose digest `orthobench_kit.compiled` takes: if it changes, kernels compile again."""

OF_A_MUTANT = 'map(Path, __import__("os").environ.get("KERNELS", "").split())'
"""The input of the digest here: a mutant of kernels, or nothing."""

DEFAULT = "not slow and not wide and not faults and not papers and not cuda"

HUNG = 900
"""Seconds after which what waits is killed."""


def main():
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=[*ROOMS], help="files or folders of rooms")
    parser.add_argument("--sample", type=int, default=150, help="mutants over all rooms (150)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    parser.add_argument("--out", type=Path, help="lines of JSON: what is there is not done again")
    asked = parser.parse_args()
    for name in LOADED:
        import_module(name)
    out = asked.out and asked.out.resolve()
    known = [*map(json.loads, out.read_text().splitlines())] if out and out.exists() else []
    with TemporaryDirectory() as folder:
        copy_project(Path(folder))
        os.chdir(folder)
        sys.path[:0] = paths = [folder, f"{folder}/plugins"]
        os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        keep_kernels()
        for mutation in islice(drawn(asked.modules, asked.seed), len(known), asked.sample):
            known.append(outcome(mutation))
            if out:
                with out.open("a") as lines:
                    lines.write(json.dumps(known[-1]) + "\n")
    for room in ROOMS:
        if found := [one["noticed"] for one in known if room_of(Path(one["module"])) == room]:
            say(f"{room}: {score(found)}")
    every = [one["noticed"] for one in known]
    say(score(every))
    sys.exit(not all(every))


def copy_project(folder):
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def keep_kernels():
    """Let kernels be compiled again where a module of kernels is changed, and nowhere else."""
    path = Path("plugins/orthobench_kit/compiled.py")
    begin, found, end = path.read_text().partition(DIGESTED)
    assert found
    path.write_text(f"{begin}{OF_A_MUTANT}{end}")


class Mutation(NamedTuple):
    """The change that an operator makes to its i-th place in a module."""

    module: Path
    operator: str
    i: int
    line: int


def drawn(modules, seed):
    """Yield random mutations for ever: of a module drawn by its size, one of its changes."""
    draw = random.Random(seed)  # noqa: S311
    paths = sorted(set(find_modules([Path(module) for module in modules])))
    weights = [path.stat().st_size for path in paths]
    done = set()
    while True:
        (module,) = draw.choices(paths, weights)
        found = mutations(module)
        mutation = draw.choice(found) if found else None
        if mutation and mutation not in done and is_possible(mutation):
            done.add(mutation)
            yield mutation


@cache
def mutations(module):
    """Return the changes that Cosmic Ray can make to a module, in a fixed order."""
    nodes = [*ast_nodes(get_ast_from_path(module))]
    return [
        Mutation(module, name, i, place[0][0])
        for name, operator in operators().items()
        for i, place in enumerate(chain.from_iterable(map(operator.mutation_positions, nodes)))
    ]


@cache
def operators():
    kept = (name for name in sorted(operator_names()) if not LEFT_OUT.match(name))
    return {name: get_operator(name)() for name in kept if not get_operator(name).arguments()}


def room_of(module):
    return next(room for room in ROOMS if module.is_relative_to(room))


def is_possible(mutation):
    """Return whether Cosmic Ray makes another program.

    It fails on an exception with a dotted name, and takes `**` within braces for a power.
    """
    module, operator, i, _ = mutation
    before = module.read_text()
    try:
        after = mutate_code(before, get_operator(operator)(), i) or before
        trees = [ast.parse(code) for code in (before, after)]
    except (AttributeError, SyntaxError):
        return False
    if ast.dump(trees[0]) == ast.dump(trees[1]) or is_next_to_large(*trees):
        return False
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="")
    return not any(line[0] == "-" and KEPT.match(line[1:]) for line in lines)


def is_next_to_large(before, after):
    """Return whether all that differs is a large number."""
    nodes = [list(ast.walk(tree)) for tree in (before, after)]
    if [*map(type, nodes[0])] != [*map(type, nodes[1])]:
        return False
    numbers = [
        one.value
        for one, other in zip(*nodes, strict=True)
        if isinstance(one, ast.Constant) and one.value != other.value
    ]
    return bool(numbers) and all(isinstance(n, int | float) and abs(n) >= LARGE for n in numbers)


def outcome(mutation):
    """Return the verdict of the tests on a mutant; print it if they notice nothing."""
    module, operator, i, line = mutation
    written, begin = module.stat().st_mtime, time.monotonic()
    os.environ["KERNELS"] = str(module.resolve()) if "compiled import" in module.read_text() else ""
    with use_mutation(module, get_operator(operator)(), i) as (before, after):
        os.utime(module, 2 * (next(TIMES),))
        # the second time with kernels that the first has compiled, which may have taken long enough
        survived = all(exit_code(module) == 0 for _ in range(1 + (module.parts[0] == "plugins")))
    os.utime(module, 2 * (written,))
    say(f"{module}:{line} {'survived' if survived else 'noticed'}")
    diff = "\n".join(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))
    if survived:
        say(diff)
    seconds = round(time.monotonic() - begin, 1)
    return {"module": str(module), "line": line, "noticed": not survived, "seconds": seconds,
            "diff": diff}  # fmt: skip


def exit_code(module):
    """Return the exit code of the nearest tests, those of all rooms, and others of the room."""
    near = nearest(module)
    room = [*ROOMS[room_of(module)], *(f"--ignore={path}" for path in near)]
    return (near and exit_code_of(near)) or exit_code_of(EVERYWHERE) or exit_code_of(room)


def nearest(module):
    """Return the files of a room with a module's tests, or with those of the modules that use it.

    The files of its name come first, then those that import it.
    """
    homes = [Path(home) for home in ROOMS[room_of(module)]]
    files = [home for home in homes if home.is_file()]
    files += sorted(path for home in homes for path in home.rglob("test_*.py"))
    users = importing(module, sorted(Path(room_of(module)).rglob("*.py")))
    for one in ([module], users):
        named = [path for path in files if path.stem in {f"test_{each.stem}" for each in one}]
        near = [*named, *(path for each in one for path in importing(each, files))]
        if near:
            return [*dict.fromkeys(map(str, near))]
    return []


def importing(module, files):
    """Return which files import a module."""
    name = ".".join(module.with_suffix("").parts).removeprefix("plugins.")
    room, _, stem = name.rpartition(".")
    of_room = rf"{re.escape(room)} import (.*|\([^)]*)\b{stem}\b"
    imports = re.compile(rf"from ({re.escape(name)} import|{of_room})")
    return [path for path in files if imports.search(path.read_text())]


def exit_code_of(tests):
    """Return the exit code of some tests; what hangs is killed, with what it started."""
    process = get_context("fork").Process(target=run_tests, args=(tests,))
    process.start()
    process.join(HUNG)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return 0 if process.exitcode == NO_TESTS else process.exitcode


class Patience:
    """Kills a test that computes for too long, and begins none after enough of them."""

    @staticmethod
    def pytest_runtest_logstart():
        if time.process_time() > ENOUGH:
            os._exit(0)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)


def run_tests(tests):
    """Run tests up to the first that fails."""
    import pytest

    os.setsid()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", DEFAULT]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded before
    sys.exit(pytest.main([*options, *tests], plugins=[Patience()]))


def score(noticed):
    """Return which share was noticed, with Wilson's 95 % interval."""
    n, share, z = len(noticed), sum(noticed) / len(noticed), 1.96
    weight, middle = 1 + z * z / n, share + z * z / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = (middle - reach) / weight, (middle + reach) / weight
    return f"{sum(noticed)} of {n} mutants noticed: {share:.1%} ({low:.1%} to {high:.1%})"


def say(text):
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
