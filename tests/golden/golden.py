"""Golden values: what all solvers and problems gave at a commit, to be compared bit for bit.

A cell is known by the names and parameters that its suite says, and by its seed: by no label, key
or digest, so that values outlive whatever becomes of these.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import tomllib
import warnings
from contextlib import chdir
from importlib import metadata
from itertools import product
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import orthobench as ob

FOLDER = Path(__file__).parent
SUITES = sorted((FOLDER / "suites").glob("*.toml"))
VALUES = FOLDER / "values.json.xz"

LIBRARIES = (
    "dask", "llvmlite", "numba", "numpy", "pymanopt", "python-picard", "pyttb", "scikit-learn",
    "scipy", "tensorly",
)  # fmt: skip
"""Distributions whose versions bits may depend on."""

EARLY = 3
"""How many checkpoints are compared with other kernels."""

CHAOTIC = {
    ("subspace-power",): 0,  # fills up with singular vectors of equal values
    ("samples=6", "aman-pg"): 0,  # six components of centred samples, whose rank is 5
    ("pitprops", "tpower"): 0,  # all rows have the same norm: supports tie
    ("spectrum=deficient",): 0,  # singular vectors of the value zero
    ("pymanopt-steepest-descent",): 1,  # its line search halves by differences of values
}
"""How many of them instead, by words that the name of a cell has."""

ROUNDED, SINGLE, LEAST = 1e-6, 1e-3, 1e-3
"""Parts of a metric's scale that it may differ by there, in double and in single precision; and
the least scale."""

KINDS = ("problem", "solver")

NOT_PARAMETERS = {"name", "budget"}
"""Keys of a problem or solver in a suite that are none of its parameters."""


def environment():
    """Return what bits may depend on beside the code: processors, their kernels and versions."""
    import llvmlite.binding as llvm
    import numba
    import scipy.linalg  # noqa: F401 - loads its own BLAS
    import sklearn.decomposition  # noqa: F401 - and OpenMP
    from threadpoolctl import threadpool_info

    blas = {
        f"{pool['internal_api']} {pool['version']} {pool['architecture']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        "processor": numba.config.CPU_NAME or llvm.get_host_cpu_name(),
        "blas": ", ".join(sorted(blas)),
        **{name: _version(name) for name in LIBRARIES},
    }


def _version(distribution):
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "missing"


def run(suite, only=()):
    """Run a suite in this process, and return its cells.

    Parameters
    ----------
    suite : Path
    only : collection of str
        Names of solvers; empty for all.
    """
    tables = tomllib.loads(suite.read_text(encoding="utf-8"))
    if only:
        tables["solver"] = [table for table in tables["solver"] if table["name"] in only]
    if not tables["solver"]:
        return []
    said = {kind: list(_entries(tables[kind])) for kind in KINDS}
    for kind in KINDS:
        tables[kind] = [
            {**kept, **values, "label": str(i)} for i, (kept, values) in enumerate(said[kind])
        ]
    with TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries warn of runs that are as short as these
        write_data()
        records = ob.run(tables, "store.sqlite", executor="inline", quiet=True).records
    return [
        {
            "suite": suite.stem,
            "problem": record.problem.name,
            "problem_parameters": said["problem"][int(record.problem.label)][1],
            "solver": record.solver.name,
            "solver_parameters": said["solver"][int(record.solver.label)][1],
            "seed": record.seed,
            "ended": record.stop.status.value,
            "why": record.stop.reason,
            "checkpoints": [_checkpoint(mark) for mark in record.trace],
        }
        for record in records
    ]


def write_data():
    """Write the files that problems in the suites name into the current folder.

    All numbers are multiples of a power of two, so that no sum or product is rounded.
    """
    rng = np.random.default_rng(0)
    samples = rng.integers(-9, 10, (40, 12)) + 4.0 * rng.integers(-3, 4, (40, 1))
    symmetric = rng.integers(-9, 10, (3, 4, 4)) / 1024
    symmetric += symmetric.transpose(0, 2, 1)
    U = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    np.save("samples.npy", samples)
    np.save("others.npy", samples[:, :3] + rng.integers(-3, 4, (40, 3)))
    np.save("symmetric.npy", symmetric[0] * 1024)
    np.save("commuting.npy", (U * rng.integers(1, 9, (3, 1, 4))) @ U.T + symmetric)
    np.save("tensor.npy", np.einsum("ia,ja,ka,a->ijk", U, U, U, np.arange(4.0, 0, -1)))


def _entries(tables):
    """Yield each combination of the values that tables list, each with a label that finds it."""
    for table in tables:
        kept = {key: value for key, value in table.items() if key in NOT_PARAMETERS}
        said = {key: value for key, value in table.items() if key not in NOT_PARAMETERS}
        lists = [value if isinstance(value, list) else [value] for value in said.values()]
        for values in product(*lists):
            yield kept, dict(zip(said, values, strict=True))


def _checkpoint(mark):
    """Return steps, samples, flops and metrics at a checkpoint: no times, no memory."""
    names = [name for name in mark.metrics if not name.endswith(("_seconds", "_bytes"))]
    metrics = {name: float(mark.metrics[name]).hex() for name in names}
    work = mark.work
    return {"step": work.steps, "samples": work.samples, "flops": work.flops, **metrics}


def name_of(cell):
    """Return what tells a cell from all others: names, parameters that its suite says, seed."""
    problem, solver = (
        " ".join([cell[kind], *(f"{k}={v}" for k, v in cell[f"{kind}_parameters"].items())])
        for kind in KINDS
    )
    return f"{problem}; {solver}; seed {cell['seed']} ({cell['suite']}.toml)"


def first_difference(golden, found, exact=True):
    """Return the first difference of a cell from its golden values as a sentence, or None.

    Parameters
    ----------
    golden : dict
    found : dict or None
        The same cell as it is now; None if its suite has it no more.
    exact : bool
        Whether to compare bits. Otherwise the first checkpoints are compared, up to a part of the
        largest value that the metric has there.
    """
    if found is None:
        return "no suite has it"
    if not exact and found["ended"] == "refused":
        return None  # its library is not here
    if not found["checkpoints"]:
        return f"it has no checkpoint, and ended as {found['ended']!r}: {found['why']}"
    compared = len(golden["checkpoints"]) if exact else _compared_elsewhere(golden)
    for i, before in enumerate(golden["checkpoints"][:compared]):
        if i == len(found["checkpoints"]):
            break
        now = found["checkpoints"][i]
        for name, value in before.items():
            slack = 0.0 if exact else _slack(golden, name, compared)
            if not _same(value, now.get(name), slack):
                return (
                    f"at step {before['step']} {name} is {_shown(now.get(name))}, and was "
                    f"{_shown(value)} at {golden['commit']}"
                )
    ends = [
        f"{len(cell['checkpoints'])} checkpoints, {cell['ended']!r}" for cell in (found, golden)
    ]
    if exact and ends[0] != ends[1]:
        return f"it ended after {ends[0]}, and after {ends[1]} at {golden['commit']}"
    return None


def _compared_elsewhere(cell):
    """Return how many checkpoints of a cell are compared with other kernels."""
    name = name_of(cell)
    return next((n for words, n in CHAOTIC.items() if all(w in name for w in words)), EARLY)


def _slack(cell, name, compared):
    """Return by how much a metric may differ with other kernels."""
    values = [mark.get(name) for mark in cell["checkpoints"][:compared]]
    sizes = [abs(float.fromhex(value)) for value in values if isinstance(value, str)]
    single = "float32" in name_of(cell)
    return (SINGLE if single else ROUNDED) * max([LEAST, *filter(isfinite, sizes)])


def _same(before, now, slack):
    """Return whether two values have equal bits, or differ by no more than the slack."""
    if before == now or not (slack and isinstance(before, str) and isinstance(now, str)):
        return before == now
    return abs(float.fromhex(before) - float.fromhex(now)) <= slack


def _shown(value):
    return f"{value} ({float.fromhex(value):.8g})" if isinstance(value, str) else str(value)


def commit():
    """Return the commit of the code that runs."""
    folder = str(Path(ob.__file__).parent)
    command = ["git", "-C", folder, "describe", "--always", "--dirty", "--exclude=*", "--abbrev=8"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def read():
    """Return the golden values: the environment in which they were made, and the cells."""
    return json.loads(lzma.decompress(VALUES.read_bytes()))


def write(solvers=()):
    """Write the golden values of the code that runs; equal ones keep the commit that they are of.

    Parameters
    ----------
    solvers : collection of str
        Names of those whose values are written; those of others stay as they are. Empty for all.

    Returns
    -------
    list of str
        What was written, and is not what was there.
    """
    here, stored = environment(), read() if VALUES.exists() else {"environment": None}
    same = stored["environment"] == here
    if solvers and not same:
        raise SystemExit(f"other values are of {stored['environment']}: write all, or there")
    before = {name_of(cell): cell for cell in stored["cells"]} if same else {}
    kept = [cell for cell in before.values() if solvers and cell["solver"] not in solvers]
    made = [cell for suite in SUITES for cell in run(suite, solvers) if cell["checkpoints"]]
    by, new = commit(), []
    for cell in made:
        there = before.get(name_of(cell), {})
        if all(there.get(key) == cell[key] for key in ("checkpoints", "ended")):
            kept.append(there)
        else:
            kept.append({**cell, "commit": by})
            new.append(name_of(cell))
    values = {"environment": here, "cells": sorted(kept, key=name_of)}
    text = json.dumps(values, separators=(",", ":"))
    VALUES.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return new
