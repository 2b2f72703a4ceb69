"""Benchmarks of benchopt as problems and solvers, which call the original classes.

`orthobench plugin new --from-benchopt` copies the files of a benchmark (Moreau et al. 2022,
"Benchopt: reproducible, efficient and collaborative optimization benchmarks", NeurIPS 35) and
writes a class for each.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import (
    AnyProblem,
    Array,
    Instance,
    Oracle,
    Problem,
    Solution,
    Solver,
    State,
    Status,
    UsageError,
)

START, RATIO, SMALLEST = 1e38, 1.5, 1e-15
"""First tolerance, the factor to the next, and the last."""

ONCE = 1
"""Argument of a solver that is run once."""


class BenchoptOracle(Oracle):
    """The view of solvers.

    Parameters
    ----------
    told : mapping
        The result of `get_objective`.
    example : mapping or None
        The result of `get_one_result`, for the objective.
    """

    n = k = 1

    def __init__(self, told: Mapping[str, Any], example: Mapping[str, Any] | None) -> None:
        self.told, self.example = told, example


@dataclass(frozen=True)
class Result(Solution):
    """The result of a solver: `values` by argument of `evaluate_result`."""

    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Any) -> Result:
        """Return a result as a solution, whose point is all numbers of its arrays.

        Raises
        ------
        UsageError
            If it is not a mapping, as before version 1.5 of benchopt.
        """
        if not isinstance(values, Mapping):
            raise UsageError(
                f"get_result returned a {type(values).__name__}: since benchopt 1.5 it has to "
                "return a dict"
            )
        parts = [np.ravel(value) for value in values.values() if isinstance(value, np.ndarray)]
        real = [np.real(part).astype(float) for part in parts if part.dtype.kind in "biufc"]
        point: Array = np.concatenate(real or [np.zeros(1)])[:, None]
        return cls(point, values=dict(values))


class SkippedError(UsageError):
    """The original solver skips a problem."""


class Seed:
    """Adds `get_seed` to the original classes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.seed = int(rng.integers(2**32))

    def get_seed(self, **_: Any) -> int:
        """Return the seed of the run."""
        return self.seed


@cache
def loaded(package: str, file: str) -> ModuleType:
    """Return a module of the folder ``benchmark`` of a package.

    Raises
    ------
    UsageError
        If an import of it is missing.
    """
    folder = Path(str(import_module(package).__file__)).parent / "benchmark"
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # for its own helpers, as benchopt does
    spec = spec_from_file_location(f"{package}.benchmark.{Path(file).stem}", folder / file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{folder / file} is no module")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise UsageError(f"{file} of the benchmark cannot be imported: {error}") from error
    for guarded in vars(module).values():
        if getattr(guarded, "failed_import", False):
            raise UsageError(f"{file} of the benchmark needs more packages: {guarded.import_error}")
    return module


def _made(package: str, file: str, name: str, values: Mapping[str, Any], seed: Seed) -> Any:
    made = getattr(loaded(package, file), name).get_instance(**values)
    vars(made)["_run_context"] = seed  # as benchopt's runner does
    return made


def _values(item: BenchoptProblem | BenchoptSolver, names: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters by the names of the original; text may be a literal."""
    return {
        original: ast.literal_eval(getattr(item, own))
        if own in item.literals
        else getattr(item, own)
        for own, original in names.items()
    }


@dataclass(frozen=True)
class BenchoptProblem(Problem[BenchoptOracle]):
    """A data set with the objective.

    Class attributes
    ----------------
    package, file : str
        The package with the folder ``benchmark``, and its file with the data set.
    of_data, of_objective : mapping
        Names of fields, and of the original's parameters.
    literals : tuple of str
        Fields with Python literals as text.
    """

    offers: ClassVar[type[BenchoptOracle]] = BenchoptOracle
    primary: ClassVar[str] = "value"
    tuned_by: ClassVar[str] = "value"
    package: ClassVar[str]
    file: ClassVar[str]
    of_data: ClassVar[Mapping[str, str]] = {}
    of_objective: ClassVar[Mapping[str, str]] = {}
    literals: ClassVar[tuple[str, ...]] = ()

    def build(self, rng: np.random.Generator) -> Instance[BenchoptOracle]:
        seed = Seed(rng)
        data = _made(self.package, self.file, "Dataset", _values(self, self.of_data), seed)
        values = _values(self, self.of_objective)
        objective = _made(self.package, "objective.py", "Objective", values, seed)
        found = data.get_data()
        skips, reason = objective.skip(**found)
        if skips:
            raise UsageError(f"the objective skips {self.name}: {reason}")
        objective.set_data(**found)

        def measure(solution: Solution) -> Mapping[str, float]:
            values = solution.values if isinstance(solution, Result) else oracle.example
            return _numbers(objective.evaluate_result(**(values or {})))

        oracle = BenchoptOracle(objective.get_objective(), objective.get_one_result())
        return Instance(oracle, measure, violation=lambda _: 0.0, nearest=lambda same: same)


def _numbers(found: Any) -> dict[str, float]:
    if isinstance(found, list):
        found = found[0]
    metrics = found if isinstance(found, Mapping) else {"value": found}
    numbers = {
        str(name).replace(" ", "_"): float(value)
        for name, value in metrics.items()
        if isinstance(value, (bool, int, float, np.generic)) and np.isreal(value)
    }
    return {n: value for n, value in numbers.items() if n == "value" or math.isfinite(value)}


@dataclass(slots=True, kw_only=True)
class Rerun(State):
    """The solver's seed, and the last result."""

    seed: Seed
    result: Result


@dataclass(frozen=True)
class BenchoptSolver(Solver[BenchoptOracle, Rerun]):
    """A solver whose original is re-run for each number of iterations.

    `package`, `file` and `literals` are as in `BenchoptProblem`; `original` maps names of fields to
    those of the original's parameters.
    """

    reruns: ClassVar[bool] = True
    package: ClassVar[str]
    file: ClassVar[str]
    original: ClassVar[Mapping[str, str]] = {}
    literals: ClassVar[tuple[str, ...]] = ()

    def refuses(self, problem: AnyProblem) -> str | None:
        if (reason := super().refuses(problem)) or not isinstance(problem, BenchoptProblem):
            return reason
        try:
            self.made(_oracle(problem), Seed(np.random.default_rng(0)))
        except SkippedError as skipped:
            return str(skipped)
        except Exception:
            return None  # the run says it
        return None

    def init(self, oracle: BenchoptOracle, rng: np.random.Generator) -> Rerun:
        state = Rerun(seed=Seed(rng), result=Result.of({}))
        self.rerun(oracle, state)
        return state

    def advance(self, oracle: BenchoptOracle, state: Rerun, count: int) -> None:
        state.work.steps += count
        self.rerun(oracle, state)

    def rerun(self, oracle: BenchoptOracle, state: Rerun) -> None:
        """Run the original for the steps of the state."""
        self.call(self.prepared(oracle, state.seed), state.work.steps, state)

    def prepared(self, oracle: BenchoptOracle, seed: Seed) -> Any:
        """Return the original, ready to run."""
        made = self.made(oracle, seed)
        made.set_objective(**oracle.told)
        return made

    def made(self, oracle: BenchoptOracle, seed: Seed) -> Any:
        """Return the original.

        Raises
        ------
        SkippedError
            If it skips the problem.
        """
        made = _made(self.package, self.file, "Solver", _values(self, self.original), seed)
        skips, reason = made.skip(**oracle.told)
        if skips:
            raise SkippedError(f"the original skips it: {reason}")
        return made

    def call(self, made: Any, steps: int, state: Rerun) -> None:
        """Run the original for a number of steps."""
        _run(made, steps, state)

    def solution(self, state: Rerun) -> Result:
        return state.result


@lru_cache(maxsize=1)
def _oracle(problem: BenchoptProblem) -> BenchoptOracle:
    return problem.build(np.random.default_rng(0)).oracle


def _run(made: Any, value: Any, state: Rerun) -> None:
    made.pre_run_hook(value)
    made.run(value)
    state.result = Result.of(made.get_result())


@dataclass(frozen=True)
class ToleranceSolver(BenchoptSolver):
    """A solver whose original takes a tolerance, 1 at first, then 1.5 times smaller each step."""

    converges: ClassVar[bool] = True

    def call(self, made: Any, steps: int, state: Rerun) -> None:
        tolerance = START if steps == 0 else RATIO ** (1 - steps)
        if tolerance < SMALLEST:
            state.status = Status.COMPLETE
        _run(made, max(tolerance, SMALLEST), state)


@dataclass(frozen=True)
class CallbackSolver(BenchoptSolver):
    """A solver whose original calls back after each iteration."""

    converges: ClassVar[bool] = True

    def call(self, made: Any, steps: int, state: Rerun) -> None:
        calls = 0

        def callback() -> bool:
            nonlocal calls
            calls += 1
            return calls <= steps

        _run(made, callback, state)
        if calls <= steps:
            state.status = Status.COMPLETE


@dataclass(frozen=True)
class OnceSolver(BenchoptSolver):
    """A solver whose original is run once; before, it has the example."""

    converges: ClassVar[bool] = True

    def rerun(self, oracle: BenchoptOracle, state: Rerun) -> None:
        if state.work.steps:
            self.call(self.prepared(oracle, state.seed), ONCE, state)
            state.work.steps, state.status = 1, Status.COMPLETE
        elif oracle.example is None:
            raise UsageError(
                f"{self.name} is run once, and the objective shows no result to begin with: write "
                "its get_one_result"
            )
        else:
            state.result = Result.of(oracle.example)
