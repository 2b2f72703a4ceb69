"""All that a plugin derives from and calls.

Most plugins import this module and the package of their family, and nothing else.

- A **solver** derives from `Solver`, keeps what changes during a run in a `State`, and returns a
  `Solution`.
- A **problem** derives from `Problem`, or from the base class of its family, and builds an
  `Instance` with an `Oracle`, such as `SampleOracle`.
- A solver written against the array API standard derives from `ArraySolver`, and computes wherever
  users say. One that makes summaries of blocks of samples derives from `SummarySolver`, and goes
  through data larger than a machine, on many workers.
- A black box is a function ``run(problem, steps, rng)``, which may `skip` a problem.
- Both declare their parameters with `parameter`. Functions marked with `hookimpl` return them, or
  those that `discovered` makes for the folders of a package.
- Errors for users are a `UsageError` or a `DataError`, with what is wrong and what to do.
- `flops` has closed formulae to count work by; `orthonormalize`, `polar` and the other functions
  are the geometry that most solvers need.

What few plugins need is in the modules of this package: `exhibits` to show what a solution looks
like, `panel` for the figures of papers, `placed_solvers` for ends that only a device knows.
Kernels are compiled with `orthobench.tools.compiled`, which is apart because it loads numba.
"""

from orthobench.contract.black_boxes import black_box, skip
from orthobench.contract.hooks import discovered, hookimpl
from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.placed_solvers import ArraySolver, BlockOracle, Summary, SummarySolver
from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Oracle, Problem, Solution
from orthobench.contract.result import Result
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import AnySolver, Solver, State, Status
from orthobench.errors import DataError, UsageError
from orthobench.tools import flops
from orthobench.tools.arrays import Array, copied, identity, is_plain, namespace
from orthobench.tools.geometry import complete, orthonormalize, polar, random_point, unit_columns

__all__ = [
    "AnyInstance",
    "AnyProblem",
    "AnySolver",
    "Array",
    "ArraySolver",
    "BlockOracle",
    "DataError",
    "Instance",
    "Oracle",
    "ParameterError",
    "Problem",
    "Result",
    "SampleOracle",
    "Solution",
    "Solver",
    "State",
    "Status",
    "Summary",
    "SummarySolver",
    "UsageError",
    "black_box",
    "complete",
    "copied",
    "discovered",
    "flops",
    "hookimpl",
    "identity",
    "is_plain",
    "namespace",
    "orthonormalize",
    "parameter",
    "polar",
    "random_point",
    "skip",
    "unit_columns",
]
