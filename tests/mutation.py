"""Mutation testing: how many small changes of the code do the tests notice?

    python tests/mutation.py [--sample 30] [--seed 0] [MODULE...]

Draws a random sample of the changes that Cosmic Ray can make in each room, and has each tested in a
copy of the project: by the tests of the module, or of those that import it where it has none, then
by the others of its room, up to the first that fails. Prints as a diff what survives, which needs a
test or is equivalent, and the scores. Needs the extra: mutation.

Left out of the sample are most of the arithmetic operators that another one may become, which
would crowd out the rest (`ONE_EACH`), and what nobody could tell from the original: comparisons
that are the same for names (`EQUAL`), and changes that leave the same syntax tree, as 1e150 + 1 is.
"""

from __future__ import annotations

import ast
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
    "orthobench/stats": ("tests/stats",),
    "plugins/orthobench_gpower": ("tests/plugins/gpower",),
    "orthobench/harness/executors": (
        "tests/test_api.py", "tests/faults/test_local.py", "tests/faults/test_exploits.py",
        "tests/faults/test_dask.py", "tests/harness",
    ),
    "orthobench/harness": (
        "tests/harness", "tests/registry/test_preflight.py", "tests/test_api.py",
        "tests/faults/test_blocks_on_dask.py",
    ),
    "orthobench/results": ("tests/results", "tests/verify/test_check.py"),
    "plugins/orthobench_givens": ("tests/plugins/givens",),
    "orthobench/decide": (
        "tests/decide", "tests/report/terminal", "tests/report/plots/test_pareto.py",
        "tests/atlas/test_answers.py",
    ),
    "orthobench/racing": ("tests/racing", "tests/benchmarks/test_race_replay.py"),
}  # fmt: skip
"""The tests of each room."""

EVERYWHERE = ("tests/test_boundary.py",)
"""Tests of every room."""

ONE_EACH = "Add_Sub|Sub_Add|Mul_Div|Div_Mul|Pow_Mul|FloorDiv_Div|Mod_Mul|BitAnd_BitOr|LShift_Add"
"""What becomes of an arithmetic operator: one of eleven others, or they were most of a sample.
Those of ``|`` are annotations."""

EQUAL = "Is_Eq|IsNot_NotEq|Eq_Is|NotEq_IsNot"
"""Comparisons that give the same for None, members of enumerations and small numbers."""

LEFT_OUT = re.compile(
    rf"core/ReplaceBinaryOperator_(?!({ONE_EACH})$)|core/ReplaceComparisonOperator_({EQUAL})$"
)

TIMES = count(1)
"""When mutants are said to be written, in seconds: of two sources of the same size that were
written in the same second, Python takes the bytecode of one for that of the other."""

NO_TESTS = 5
"""The exit code of pytest where all that was asked for is slow."""

LOADED = ("click.testing", "hypothesis", "numba", "numpy", "pytest", "rich.table", "scipy.linalg")
"""What tests import and no mutant changes, loaded once."""


def main():
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=[*ROOMS], help="files or folders of a room")
    parser.add_argument("--sample", type=int, default=30, help="mutants of each room (30)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    asked = parser.parse_args()
    for name in LOADED:
        import_module(name)
    with TemporaryDirectory() as folder:
        copy_project(Path(folder))
        os.chdir(folder)
        sys.path[:0] = paths = [folder, f"{folder}/plugins"]
        os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        noticed = {
            room: outcomes(room, found, asked.sample, asked.seed)
            for room, found in mutations(asked.modules).items()
        }
    for room, found in noticed.items():
        say(f"{room}: {score(found)}")
    every = [*chain.from_iterable(noticed.values())]
    say(score(every))
    sys.exit(not all(every))


def copy_project(folder):
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Mutation(NamedTuple):
    """The change that an operator makes to its i-th place in a module."""

    module: Path
    operator: str
    i: int
    line: int


def mutations(modules):
    """Return by room the changes that Cosmic Ray can make to some modules, in a fixed order."""
    operators = {name: get_operator(name) for name in sorted(operator_names())}
    kept = {
        name: operator()
        for name, operator in operators.items()
        if not LEFT_OUT.match(name) and not operator.arguments()
    }
    of_room = {room: [] for room in ROOMS}
    for path in sorted(set(find_modules([Path(module) for module in modules]))):
        nodes = [*ast_nodes(get_ast_from_path(path))]
        for name, operator in kept.items():
            places = chain.from_iterable(map(operator.mutation_positions, nodes))
            found = (Mutation(path, name, i, place[0][0]) for i, place in enumerate(places))
            of_room[room_of(path)].extend(found)
    return {room: found for room, found in of_room.items() if found}


def room_of(module):
    return next(room for room in ROOMS if module.is_relative_to(room))


def outcomes(room, found, sample, seed):
    """Return for each mutant of a sample whether the tests notice it; print the others."""
    begin = time.monotonic()
    if code := exit_code_of([*ROOMS[room], *EVERYWHERE]):
        sys.exit(f"the tests of {room} fail without a mutant, with exit code {code}")
    timeout = 30 + 4 * (time.monotonic() - begin)
    shuffled = random.Random(seed).sample(found, len(found))  # noqa: S311
    drawn = [*islice(filter(is_possible, shuffled), sample)]
    say(f"{room}: {len(drawn)} of {len(found):,} mutants")
    return [is_noticed(mutation, timeout) for mutation in drawn]


def is_possible(mutation):
    """Return whether Cosmic Ray makes another program.

    It fails on an exception with a dotted name, and takes `**` within braces for a power.
    """
    module, operator, i, _ = mutation
    before = module.read_text()
    try:
        after = mutate_code(before, get_operator(operator)(), i)
        return after is not None and ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
    except (AttributeError, SyntaxError):
        return False


def is_noticed(mutation, timeout):
    module, operator, i, line = mutation
    written = module.stat().st_mtime
    with use_mutation(module, get_operator(operator)(), i) as (before, after):
        os.utime(module, 2 * (next(TIMES),))
        survived = exit_code(module, timeout) == 0
    os.utime(module, 2 * (written,))
    say(f"{module}:{line} {'survived' if survived else 'noticed'}")
    if survived:
        say("\n".join(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)))
    return not survived


def exit_code(module, timeout):
    """Return the exit code of a module's tests: the nearest, then the others of its room."""
    near = nearest(module)
    room = [*ROOMS[room_of(module)], *EVERYWHERE, *(f"--ignore={path}" for path in near)]
    return (near and exit_code_of(near, timeout)) or exit_code_of(room, timeout)


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
    imports = re.compile(rf"from ({re.escape(name)} import|{re.escape(room)} import .*\b{stem}\b)")
    return [path for path in files if imports.search(path.read_text())]


def exit_code_of(tests, timeout=None):
    """Return the exit code of some tests; what hangs is killed, with what it started."""
    process = get_context("fork").Process(target=run_tests, args=(tests,))
    process.start()
    process.join(timeout)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return 0 if process.exitcode == NO_TESTS else process.exitcode


def run_tests(tests):
    """Run tests up to the first that fails."""
    import pytest

    os.setsid()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded before
    sys.exit(pytest.main([*options, *tests]))


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
