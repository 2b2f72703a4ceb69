"""What a plugin derives from and calls.

Most plugins import this module and `orthobench.families`, and nothing else of orthobench: a solver
derives from `Solver` and keeps what changes in a `State`, a problem derives from `Problem` and
builds an `Instance` with an `Oracle`; `hookimpl` marks the hooks that return them. Kernels are
compiled with `orthobench.tools.compiled`, which is apart because it loads numba.
"""

from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.hooks import hookimpl
from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.contract.parameters import Parameter, ParameterError, parameter, parameters_of
from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Oracle, Problem
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solution import Solution
from orthobench.contract.solver import AnySolver, O_contra, S, Solver, State, Status, Work
from orthobench.contract.sources import (
    ArraySource,
    IteratorSource,
    Sampler,
    SamplerSource,
    SampleSource,
)
from orthobench.errors import DataError, OrthobenchError, UsageError
from orthobench.tools import flops
from orthobench.tools.arrays import Array, check_rows, matrix
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
    "ArraySource",
    "Axis",
    "Curve",
    "DataError",
    "Exhibit",
    "Image",
    "Instance",
    "IteratorSource",
    "Key",
    "O_contra",
    "Oracle",
    "OrthobenchError",
    "Panel",
    "Parameter",
    "ParameterError",
    "Plot",
    "Problem",
    "S",
    "SampleOracle",
    "SampleSource",
    "Sampler",
    "SamplerSource",
    "Series",
    "Solution",
    "Solver",
    "State",
    "Status",
    "UsageError",
    "Work",
    "check_rows",
    "complete",
    "drift",
    "flops",
    "hookimpl",
    "matrix",
    "orthonormalize",
    "parameter",
    "parameters_of",
    "polar",
    "random_point",
    "rotate",
    "subspace_error",
    "unit_columns",
]
