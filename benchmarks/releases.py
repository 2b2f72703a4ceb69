"""Whether `orthobench compare` finds what five releases of libraries changed, by version alone.

    python benchmarks/releases.py                 # all; some minutes on a quiet machine
    python benchmarks/releases.py pymanopt        # those whose name begins so

Pip downloads the two wheels of a release into a folder, once. Both sides share all other packages.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

PARAFAC = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.rerun import Rerun, Run
from orthobench_orthogonal_tensor.oracle import TensorOracle
from orthobench_orthogonal_tensor.solvers.libraries import nearest_factors


@dataclass(frozen=True)
class Parafac(Rerun[TensorOracle]):
    """Alternating least squares by Khatri-Rao products."""

    name: ClassVar[str] = "tensorly-parafac"

    def prepare(self, oracle):
        return None, nearest_factors(oracle.T, np.eye(oracle.n), np.ones(oracle.n)), 0

    def run(self, oracle, state, iterations):
        from tensorly.decomposition import parafac

        found = parafac(oracle.T, oracle.n, n_iter_max=iterations, init="svd", tol=0)
        return Run(nearest_factors(oracle.T, found.factors[-1], found.weights), iterations, 1)
'''


@dataclass(frozen=True)
class Release:
    """Two versions of a library, and what HEAD changed.

    Attributes
    ----------
    library, base, head : str
    solvers : tuple of str
    problem, budget : str
        Of the suite.
    question : str
    changes : tuple of str
        The answers that are right.
    """

    library: str
    base: str
    head: str
    solvers: tuple[str, ...]
    problem: str
    budget: str
    question: str
    changes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The library with both versions."""
        return f"{self.library} {self.base} -> {self.head}"

    @property
    def suite(self) -> str:
        """The text of the suite."""
        solvers = "".join(f'[[solver]]\nname = "{name}"\n' for name in self.solvers)
        return f"seeds = 1\nbudget = {{ {self.budget} }}\n[[problem]]\n{self.problem}\n{solvers}"


ARPACK = ("scipy-svds", "scipy-eigsh")
TALL = 'name = "tall-pca"\nn = 20000\nd = 100'
FLAT = 'name = "flat-spectrum-pca"\nn = 2000\nd = 200'
TENSOR = 'name = "odeco"\nd = 15'
STIEFEL = 'name = "stiefel-brockett"\nn = 20'

RELEASES = (
    # PCA of tall matrices by the eigenvectors of the covariance matrix: scikit-learn #27491
    Release("scikit-learn", "1.4.2", "1.5.2", ("sklearn-pca",), TALL, "steps = 1",
            "time", ("better",)),
    # a faster Khatri-Rao product
    Release("tensorly", "0.8.1", "0.9.0", ("parafac.py:Parafac",), TENSOR, "steps = 5",
            "time", ("better",)),
    # ARPACK 3.9.1: more products for the same accuracy
    Release("scipy", "1.14.1", "1.16.3", ARPACK, FLAT, "steps = 1", "work", ("worse",)),
    # ARPACK in C
    Release("scipy", "1.16.3", "1.17.1", ARPACK, FLAT, "steps = 1",
            "time", ("worse", "probably slower")),
    # no change of this solver
    Release("pymanopt", "2.1.1", "2.2.1", ("pymanopt-trust-regions",), STIEFEL, "steps = 10",
            "time", ("same", "undecided")),
)  # fmt: skip


def wheel(folder: Path, library: str, version: str) -> Path:
    """Return the wheel of a version of a library, downloaded if it is not in the folder."""
    pattern = f"{library.replace('-', '_')}-{version}-*.whl"
    if not (found := [*folder.glob(pattern)]):
        words = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run(
            [sys.executable, *words, "--dest", str(folder), f"{library}=={version}"], check=True
        )
        found = [*folder.glob(pattern)]
    return found[0]


def compared(release: Release, folder: Path, budget: float) -> dict[str, object]:
    """Return how the comparison of a release ends, and what it says about the question."""
    (folder / "parafac.py").write_text(PARAFAC)
    suite = folder / f"{release.library}.toml"
    suite.write_text(release.suite)
    sides = [str(wheel(folder, release.library, one)) for one in (release.base, release.head)]
    words = ["compare", *sides, "--suite", str(suite), "--budget", str(budget), "--json", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "orthobench", *words],
        cwd=folder, check=False, text=True, capture_output=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    rows = [row for row in found["findings"] if row["question"] == release.question]
    return {
        "release": release.name, "exit": done.returncode,
        "found": any(row["change"] in release.changes for row in rows),
        "cells": f"{found['compared']} of {found['cells']}", "seconds": round(found["seconds"]),
        "said": told(rows),
        "others": told(row for row in found["findings"] if row["question"] != release.question),
        "reason": found["reason"],
    }  # fmt: skip


def told(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows of a comparison in words."""
    return "; ".join(
        f"{row['question']} {row['change']} x {row['ratio'] or math.nan:.3g} ({row['said']})"
        for row in rows
    )


def main() -> None:
    """Compare the releases, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="compare the releases of these libraries only")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of timing")
    parser.add_argument("--folder", type=Path, default=Path("releases"), help="keep wheels here")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for release in RELEASES:
        if not given.names or release.name.startswith(tuple(given.names)):
            row = compared(release, given.folder.resolve(), given.budget)
            click.echo("  ".join(f"{name} {value}" for name, value in row.items() if value != ""))


if __name__ == "__main__":
    main()
