"""The cache of compiled kernels never serves stale code, and no kernel is compiled twice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import orthobench
from orthobench.tools import compiled

KERNELS = {
    "__init__.py": "",
    "inner.py": """
from orthobench.tools.compiled import kernel

@kernel
def shifted(x):
    return x + 1.0
""",
    "outer.py": """
from orthobench.tools.compiled import kernel
from toy_kernels.inner import shifted

@kernel
def doubled(x):
    return 2 * shifted(x)
""",
}

CALLER = """
from toy_kernels.outer import doubled
print(doubled(1.0), sum(doubled.stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "toy_kernels"
    folder.mkdir()
    for name, text in KERNELS.items():
        (folder / name).write_text(text)
    return folder


def started(package):
    path = os.pathsep.join([str(package.parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": ""}
    words = [sys.executable, "-c", CALLER]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)


def answer(process):
    said, _ = process.communicate(timeout=600)
    value, misses = said.split()
    return float(value), int(misses)


@pytest.mark.wide
def test_a_kernel_is_compiled_once_until_any_source_changes(package):
    together = [started(package), started(package)]
    assert sorted(map(answer, together)) == [(4.0, 0), (4.0, 1)]
    folders = list((package / "__pycache__").glob("kernels-*"))
    assert len(folders) == 1
    assert list(folders[0].rglob("*.nbi"))
    inner = package / "inner.py"
    inner.write_text(inner.read_text().replace("1.0", "2.0"))
    assert answer(started(package)) == (6.0, 1)
    assert len(list((package / "__pycache__").glob("kernels-*"))) == 2


@pytest.mark.parametrize("name", ["compiled.py", "flops.py", "simd.py"])
def test_changed_core_modules_get_their_own_cache(package, tmp_path, monkeypatch, name):
    core = tmp_path / "tools"
    shutil.copytree(Path(orthobench.__file__).parent / "tools", core)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compiled, "__file__", str(core / "compiled.py"))
    folder = compiled.cache_folder.__wrapped__
    before = folder("toy_kernels")
    assert folder("toy_kernels") == before
    with (core / name).open("a") as source:
        source.write("\n")
    assert folder("toy_kernels") != before


def test_a_kernel_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch):
    """As if both the package and the home of the user were read-only."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert compiled.kernel(lambda x: 3 * x)(2) == 6
