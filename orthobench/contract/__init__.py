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

from orthobench.contract.array_solver import ArraySolver
from orthobench.contract.blocks import BlockSource
from orthobench.contract.ending import EndingState, ends, read_end, unless_ended
from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.hooks import hookimpl
from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.contract.parameters import Parameter, ParameterError, parameter, parameters_of
from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Oracle, Problem
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solution import Solution
from orthobench.contract.solver import (
    AnySolver,
    OracleT_contra,
    Solver,
    State,
    StateT,
    Status,
    Work,
)
from orthobench.contract.sources import ArraySource
from orthobench.contract.streams import Sampler
from orthobench.contract.summaries import BlockOracle, Summary, SummarySolver, SummaryT
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

__all__ = [
    "AnyInstance",
    "AnyProblem",
    "AnySolver",
    "Array",
    "ArraySolver",
    "ArraySource",
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
    "Sampler",
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
    "ends",
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
