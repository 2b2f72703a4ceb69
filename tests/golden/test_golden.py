"""Each solver on each family, and each problem, gives the bits that it gave before.

If values change on purpose, `python tests/golden/write.py SOLVER` writes those of a solver
again, and `CHANGED` says why.
"""

import warnings
from collections import Counter

import golden
import pytest

import orthobench as ob

CHANGED = {
    "block-krylov": "62084b9a mended runs on blocks, which ended in an error",
    "subspace-iteration": "62084b9a mended runs on blocks, which ended in an error",
    "newton-schulz": "takes cubic5 and a start by the Schatten norm",
    "scipy-eigsh": "has a residual, which bounds the tolerance that it claims",
    "scipy-svds": "takes other solvers, and has a residual as scipy-eigsh does",
    "spectrum-polar": "measures the distance to the nearest of all polar factors",
    "nig-factor": "19850edd computes the norm in more directions; errors are at least its error",
}
"""Solvers and problems with values of another commit than the others, and why."""

WITHOUT = {
    **dict.fromkeys(("cuml-incremental-pca", "cuml-pca"), "needs a GPU"),
    **dict.fromkeys(("dask-ml-incremental-pca", "dask-ml-pca"), "needs dask-ml"),
    **dict.fromkeys(("geoopt-adam", "geoopt-sgd"), "needs geoopt"),
    **dict.fromkeys(
        ("torch-eigh", "torch-muon", "torch-orthogonal", "torch-pca-lowrank", "torch-svd-lowrank"),
        "needs torch",
    ),
    "pogo-torch": "needs pogo-torch",
    **dict.fromkeys(("primme-eigsh", "primme-svds"), "needs primme"),
    "slepc-svds": "needs slepc4py",
    **dict.fromkeys(
        ("hsi-anomaly", "mnist", "portfolio", "prostate", "train-mnist"), "needs a download"
    ),
}
"""Solvers and problems without golden values, and why."""


def suites():
    """Return the suites; the default tests run that of problems."""
    for suite in golden.SUITES:
        wide = [] if suite.stem == "problems" else [pytest.mark.wide]
        yield pytest.param(suite, id=suite.stem, marks=wide)


@pytest.mark.filterwarnings("default:golden values")
@pytest.mark.parametrize("suite", suites())
def test_golden_values(suite):
    stored, here = golden.read(), golden.environment()
    other = {k: (v, here[k]) for k, v in stored["environment"].items() if here[k] != v}
    if other:
        known = ", ".join(f"{name} {was}, not {now}" for name, (was, now) in other.items())
        warnings.warn(f"golden values are of {known}: compared up to rounding", stacklevel=1)
    found = {golden.name_of(cell): cell for cell in golden.run(suite)}
    before = {golden.name_of(c): c for c in stored["cells"] if c["suite"] == suite.stem}
    pairs = {name: (cell, found.get(name)) for name, cell in before.items()}
    wrong = {name: golden.first_difference(*pair, not other) for name, pair in pairs.items()}
    wrong |= {
        name: f"no golden values: python tests/golden/write.py {cell['solver']}"
        for name, cell in found.items()
        if cell["checkpoints"] and name not in before
    }
    wrong = {name: why for name, why in wrong.items() if why}
    said = "\n".join(f"{name}: {why}" for name, why in wrong.items())
    assert not wrong, f"{len(wrong)} of {len(before)} cells differ\n{said}"


def test_all_that_is_built_in_has_golden_values():
    cells, catalogue = golden.read()["cells"], ob.catalogue()
    for kind in golden.KINDS:
        covered = {cell[kind] for cell in cells} | set(WITHOUT)
        named = getattr(catalogue, f"{kind}s")
        built_in = {name for name, one in named.items() if one.plugin.distribution == "orthobench"}
        assert sorted(built_in - covered) == []


def test_values_that_were_written_again_have_a_reason():
    cells = golden.read()["cells"]
    (base, _), *_ = Counter(cell["commit"] for cell in cells).most_common(1)
    known = {cell[kind] for kind in golden.KINDS for cell in cells if cell["commit"] == base}
    again = {
        golden.name_of(cell)
        for cell in cells
        if cell["commit"] != base
        and {cell["solver"], cell["problem"]} <= known
        and not CHANGED.keys() & {cell["solver"], cell["problem"]}
    }
    assert again == set()
