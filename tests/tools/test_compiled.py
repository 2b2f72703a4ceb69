"""The cache of compiled kernels never serves stale code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orthobench_stochastic_pca
import pytest

import orthobench

SOURCES = Path(orthobench_stochastic_pca.__file__).parent
CALLER = """
import numpy as np
from orthobench_stochastic_pca.projection import onto_fantope
values = np.array([0.5, 2.0])
onto_fantope(values, 1.0)
print(values.tolist())
"""


def answer(folder):
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", CALLER], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_change_in_any_source_gets_a_cache_of_its_own(tmp_path):
    copy = tmp_path / "orthobench_stochastic_pca"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert answer(tmp_path) == "[0.0, 1.0]"
    folders = list((copy / "__pycache__").glob("kernels-*"))
    assert len(folders) == 1
    assert list(folders[0].rglob("*.nbi"))
    with (copy / "schedule.py").open("a") as source:
        source.write("\n")
    assert answer(tmp_path) == "[0.0, 1.0]"
    assert len(list((copy / "__pycache__").glob("kernels-*"))) == 2


@pytest.mark.parametrize("name", ["compiled.py", "flops.py", "simd.py"])
def test_a_change_of_what_kernels_take_from_the_core_gets_a_cache_of_its_own(tmp_path, name):
    copy = tmp_path / "orthobench"
    core = Path(orthobench.__file__).parent
    shutil.copytree(core, copy, ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "from orthobench.tools.compiled import cache_folder as f; print(f('orthobench_givens'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": ""}

    def folder():
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        return done.stdout

    before = folder()
    assert folder() == before
    with (copy / "tools" / name).open("a") as source:
        source.write("\n")
    assert folder() != before
