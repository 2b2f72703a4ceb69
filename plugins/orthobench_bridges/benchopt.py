"""Plugins from benchmarks of benchopt, which are read and copied, but not executed."""

from __future__ import annotations

import ast
import itertools
import json
import keyword
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from orthobench.contract.problem import Problem
from orthobench.contract.solver import Solver
from orthobench.errors import UsageError
from orthobench.registry.scaffold import names_of, render, write

BASES = {
    "iteration": "BenchoptSolver", "tolerance": "ToleranceSolver", "callback": "CallbackSolver",
    "run_once": "OnceSolver",
}  # fmt: skip
"""The base class for each sampling strategy, of `orthobench_kit.benchopt`."""

RESERVED = {
    *dir(Solver), *dir(Problem), *keyword.kwlist, "name", "needs", "family", "primary", "tuned_by",
    "package", "file", "original", "literals", "of_data", "of_objective", "call", "rerun",
    "prepared", "made",
}  # fmt: skip
"""Names that no field of a class can have."""

COPIED = ("objective.py", "datasets", "solvers", "benchmark_utils", "benchmark_utils.py", "utils")
"""The files and folders of a benchmark that its classes need."""

ENDINGS = (".py", ".jl", ".R")
"""The endings of files that are copied."""


@dataclass(frozen=True)
class Original:
    """A class of a benchmark, as read from its file.

    `parameters` has values by names, which commas may separate. `strategy` may be empty.
    """

    file: str
    name: str
    parameters: Mapping[str, list[Any]]
    requirements: tuple[str, ...]
    strategy: str

    @property
    def values(self) -> dict[str, list[Any]]:
        """The values of each parameter, the default first."""
        found: dict[str, list[Any]] = {}
        for names, values in self.parameters.items():
            for name, own in _columns(names, values):
                found[name] = [v for i, v in enumerate(own) if v not in own[:i]]
        return found

    @property
    def fields(self) -> dict[str, str]:
        """The names of the fields, with those of the parameters."""
        return {f"{n}_" if n in RESERVED else n: n for n in self.values}


def port(
    benchmark: Path, name: str | None, folder: Path | None, author: str | None
) -> tuple[Path, str, list[str]]:
    """Write a plugin of a benchmark; return its folder, what is in it, and what to type next."""
    chosen = objective, data, solvers = originals(benchmark)
    of_folder = benchmark.resolve().name.removeprefix("benchmark_").replace("_", "-")
    names = names_of(name or f"orthobench-{of_folder}")
    target = folder or Path(names["distribution"])
    texts = {**render(names, None, author), **files_of(benchmark, names, chosen)}
    needs = re.compile(r"(dependencies = \[.*)\]")
    texts["pyproject.toml"] = needs.sub(r'\1, "benchopt>=1.7"]', texts["pyproject.toml"], count=1)
    write(texts, target)
    summary = f"{len(data)} data sets and {len(solvers)} solvers of {objective.name}"
    needed = sorted({one for read in (objective, *data, *solvers) for one in read.requirements})
    steps = [f"python -m pip install {shlex.join(needed)}"] if needed else []
    return target, summary, [*steps, f"orthobench run {names['plugin']}-comparison"]


def originals(folder: Path) -> tuple[Original, list[Original], list[Original]]:
    """Return the objective of a benchmark, its data sets and its solvers."""
    if not (folder / "objective.py").is_file():
        raise UsageError(f"{folder} is no benchmark of benchopt: it has no objective.py")
    objective = _original(folder, folder / "objective.py", "Objective")
    if objective is None:
        raise UsageError(f"{folder / 'objective.py'} has no class Objective")
    data, solvers = (
        [one for file in sorted((folder / part).glob("*.py"))
         if (one := _original(folder, file, kind))]
        for part, kind in (("datasets", "Dataset"), ("solvers", "Solver"))
    )  # fmt: skip
    if not data or not solvers:
        raise UsageError(f"{folder} has no class Dataset in datasets/, or no Solver in solvers/")
    return objective, data, solvers


def _original(folder: Path, file: Path, kind: str) -> Original | None:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(f"{file} cannot be read as Python: {error}") from None
    classes = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == kind)
    for found in classes:
        assigned = {
            target.id: statement.value
            for statement in found.body if isinstance(statement, ast.Assign)
            for target in statement.targets if isinstance(target, ast.Name)
        }  # fmt: skip
        parameters = _literal(assigned.get("parameters"), {})
        requirements = _literal(assigned.get("requirements"), [])
        return Original(
            file.relative_to(folder).as_posix(), str(_literal(assigned.get("name"), file.stem)),
            parameters if _is_grid(parameters) else {},
            tuple(_distribution(str(one)) for one in requirements), _strategy(assigned),
        )  # fmt: skip
    return None


def _literal(node: ast.expr | None, default: Any) -> Any:
    """Return the value of an expression; the default if there is none, or it needs code."""
    try:
        return default if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return default


def _is_grid(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(own, (list, tuple)) and own
        for name, own in value.items()
    )


def _strategy(assigned: Mapping[str, ast.expr]) -> str:
    """Return the sampling strategy that a class names, or its stopping criterion does."""
    named = assigned.get("sampling_strategy", assigned.get("stopping_strategy"))
    criterion = assigned.get("stopping_criterion")
    if named is None and isinstance(criterion, ast.Call):
        named = next((k.value for k in criterion.keywords if k.arg == "strategy"), None)
    return str(_literal(named, "")).lower()


def _distribution(requirement: str) -> str:
    name = re.sub(r"^[\w-]+::?(?!//)", "", requirement.strip())
    if of_url := re.search(r"://[^/]+/[^/]+/([^/@#]+)", name):
        name = of_url[1].removesuffix(".git")
    return re.split(r"[\s\[<>=!~;@]", name.strip("'"))[0]


def _columns(names: str, values: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield each of the names of a parameter, with its values."""
    parts = [name.strip() for name in names.split(",")]
    if len(parts) == 1:
        yield parts[0], list(values)
    else:
        rows = [tuple(row) for row in values]
        yield from ((name, [row[i] for row in rows]) for i, name in enumerate(parts))


def files_of(
    folder: Path, names: Mapping[str, str], chosen: tuple[Original, list[Original], list[Original]]
) -> dict[str, str]:
    """Return the text of each file of the benchmark, by its path in the plugin's folder."""
    objective, data, solvers = chosen
    package, plugin = f"src/{names['package']}", names["plugin"]
    found = {
        f"{package}/benchmark/{file.relative_to(folder).as_posix()}": file.read_text("utf-8")
        for part in COPIED
        for file in sorted([folder / part, *(folder / part).rglob("*")])
        if file.suffix in ENDINGS and file.is_file()
    }
    for part, classes in (("problems", data), ("solvers", solvers)):
        found[f"{package}/{part}/__init__.py"] = f'"""The {part}: a module for each."""\n'
        for one in classes:
            module = re.sub(r"\W+", "_", Path(one.file).stem).lower()
            found[f"{package}/{part}/{module}.py"] = _module(part, one, objective, names)
    found[f"{package}/suites/{plugin}-comparison.toml"] = _suite(objective, data, solvers, plugin)
    found[f"{package}/__init__.py"] = _template("init")
    found["tests/test_plugin.py"] = _template("test_plugin", plugin=plugin)
    return found


def _template(name: str, /, **values: object) -> str:
    text = (files("orthobench_bridges") / f"templates/{name}.py.in").read_text("utf-8")
    return re.sub("@([a-z]+)@", lambda match: str(values[match[1]]), text)


def _called(one: Original, plugin: str) -> str:
    return f"{plugin}-{re.sub(r'[^a-z0-9]+', '-', one.name.lower()).strip('-')}"


def _kind(values: Iterable[Any]) -> str:
    """Return the type of a parameter; empty if its values are literals in texts."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return "float"
    return kinds.pop().__name__ if len(kinds) == 1 and kinds <= {bool, int, float, str} else ""


def _module(part: str, one: Original, objective: Original, names: Mapping[str, str]) -> str:
    """Return the module of a data set with its objective, or of a solver."""
    shared = {n: own for n, own in objective.values.items() if n not in one.values}
    more = replace(objective, parameters=shared if part == "problems" else {})
    lines, literals = [], []
    for owner in (one, more):
        for field, name in owner.fields.items():
            values = owner.values[name]
            kind = _kind(values)
            literals += [] if kind else [field]
            default = values[0] if kind else repr(values[0])
            renamed = f', name="{name}"' if field != name else ""
            lines.append(
                f'    {field}: {kind or "str"} = parameter({default!r}, help="as in {owner.file}"'
                f"{renamed})"
            )
    strategy = one.strategy or objective.strategy
    return _template(
        part.removesuffix("s"), title=one.name, path=one.file, name=_called(one, names["plugin"]),
        data=one.fields, objective=more.fields, literals=tuple(literals), fields="\n".join(lines),
        base=BASES.get(strategy, BASES["iteration"]), packages=("benchopt", *one.requirements),
        **names,
    )  # fmt: skip


def _suite(objective: Original, data: list[Original], solvers: list[Original], plugin: str) -> str:
    """Return a suite of all solvers on simulated data; on all data if none are simulated."""
    simulated = [one for one in data if one.name.lower() == "simulated"] or data
    tables = []
    for one in simulated:
        grid = {**objective.parameters, **one.parameters}
        tables += [f"[[problem]]\n{t}" for t in _tables(_called(one, plugin), one, objective, grid)]
    for one in solvers:
        tables += [
            f"[[solver]]\n{t}" for t in _tables(_called(one, plugin), one, one, one.parameters)
        ]
    head = (
        f'description = "{plugin}, ported from benchopt"\nseeds = 5\n\n'
        "[budget]\nsteps = 1000\nseconds = 10\n"
    )
    return "\n".join([head, *tables])


def _tables(
    name: str, one: Original, other: Original, grid: Mapping[str, list[Any]]
) -> Iterator[str]:
    """Yield a table for each combination of parameters that are given together."""
    known = {**other.values, **one.values}
    together = [[*_columns(names, own)] for names, own in grid.items() if "," in names]
    alone = {names: known[names] for names in grid if "," not in names}
    for rows in itertools.product(*(range(len(columns[0][1])) for columns in together)):
        chosen = {
            column: [own[row]] for row, columns in zip(rows, together, strict=True)
            for column, own in columns
        }  # fmt: skip
        lines = [f'name = "{name}"']
        for column, own in {**alone, **chosen}.items():
            kind = _kind(known[column])
            values = [json.dumps(v if kind else repr(v)) for v in own]
            lines.append(
                f"{column} = {values[0] if len(own) == 1 else '[' + ', '.join(values) + ']'}"
            )
        yield "\n".join(lines) + "\n"
