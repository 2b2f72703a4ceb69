"""The interface of plugins: most import this module and the package of their family only.

- A **solver** derives from `Solver`. It has a `State`, and returns a `Solution`.

- A **problem** derives from `Problem`, or from the base class of its family. It builds an
  `Instance` with an `Oracle`, such as `SampleOracle`.

- An `ArraySolver` is written against the array API standard, and computes at any place. A
  `SummarySolver` summarizes blocks of samples, on many workers.

- A black box is a function ``run(problem, steps, rng)``, which may `skip` a problem.
- Solvers and problems declare parameters with `parameter`. Functions marked with `hookimpl` return
  them; `discovered` makes these functions for the folders of a package.
- Errors for users are a `UsageError` or a `DataError`, with the fault and the remedy.
- `flops` has closed formulae to count work.

The modules have more: `exhibits` for pictures of solutions, `panel` for figures of papers. In
`orthobench_kit`, `compiled` has kernels, `reading` data of users, `ending` ends of runs on devices.
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
    "AnyInstance", "AnyProblem", "AnySolver", "Array", "ArraySolver", "BlockOracle", "DataError",
    "Instance", "Oracle", "ParameterError", "Problem", "Result", "SampleOracle", "Solution",
    "Solver", "State", "Status", "Summary", "SummarySolver", "UsageError", "black_box", "complete",
    "copied", "discovered", "flops", "hookimpl", "identity", "is_plain", "namespace",
    "orthonormalize", "parameter", "polar", "random_point", "skip", "unit_columns",
]  # fmt: skip
