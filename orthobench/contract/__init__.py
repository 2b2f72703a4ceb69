"""All that a plugin derives from and calls.

Most plugins import this module and `orthobench.families`, and nothing else of orthobench.

- A **solver** derives from `Solver`, keeps what changes during a run in a `State`, and returns a
  `Solution`.
- A **problem** derives from `Problem`, or from the base class of its family, and builds an
  `Instance` with an `Oracle`, such as `SampleOracle`.
- A solver written against the array API standard derives from `ArraySolver`, and computes wherever
  users say. One that makes summaries of blocks of samples derives from `SummarySolver`, and goes
  through data larger than a machine, on many workers.
- Both declare their parameters with `parameter`. Functions marked with `hookimpl` return them.
- Errors for users are a `UsageError` or a `DataError`, with what is wrong and what to do.
- `flops` has closed formulae to count work by; `orthonormalize`, `polar` and the other functions
  are the geometry that most solvers need.
- Papers draw figures as a `Plot` of `Panel`s.

Kernels are compiled with `orthobench.tools.compiled`, which is apart because it loads numba.
"""

import pluggy

from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.contract.parameters import Parameter, ParameterError, parameter, parameters_of
from orthobench.contract.placed_solvers import (
    ArraySolver,
    BlockOracle,
    EndingState,
    Summary,
    SummarySolver,
    SummaryT,
    finish_if,
    read_end,
    unless_ended,
)
from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Oracle, Problem, Solution
from orthobench.contract.samples import BlockSource, SampleOracle
from orthobench.contract.solver import (
    AnySolver,
    OracleT_contra,
    Solver,
    State,
    StateT,
    Status,
    Work,
)
from orthobench.errors import DataError, OrthobenchError, UsageError
from orthobench.tools import flops
from orthobench.tools.arrays import (
    Array,
    check_rows,
    copied,
    identity,
    in_rows,
    is_plain,
    like,
    matrix,
    namespace,
    rows_of,
)
from orthobench.tools.geometry import (
    complete,
    drift,
    orthonormalize,
    polar,
    random_point,
    rotate,
    subspace_error,
    unit_columns,
)

PROJECT = "orthobench"
"""The name of this project for pluggy; the names of all hooks begin with it."""

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator that marks a function as a hook::

    @hookimpl
    def orthobench_solvers():
        return [MySolver]
"""

__all__ = [
    "AnyInstance",
    "AnyProblem",
    "AnySolver",
    "Array",
    "ArraySolver",
    "Axis",
    "BlockOracle",
    "BlockSource",
    "Curve",
    "DataError",
    "EndingState",
    "Exhibit",
    "Image",
    "Instance",
    "Key",
    "Oracle",
    "OracleT_contra",
    "OrthobenchError",
    "Panel",
    "Parameter",
    "ParameterError",
    "Plot",
    "Problem",
    "SampleOracle",
    "Series",
    "Solution",
    "Solver",
    "State",
    "StateT",
    "Status",
    "Summary",
    "SummarySolver",
    "SummaryT",
    "UsageError",
    "Work",
    "check_rows",
    "complete",
    "copied",
    "drift",
    "finish_if",
    "flops",
    "hookimpl",
    "identity",
    "in_rows",
    "is_plain",
    "like",
    "matrix",
    "namespace",
    "orthonormalize",
    "parameter",
    "parameters_of",
    "polar",
    "random_point",
    "read_end",
    "rotate",
    "rows_of",
    "subspace_error",
    "unit_columns",
    "unless_ended",
]
