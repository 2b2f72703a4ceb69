"""The cache of compiled kernels never serves stale code, and no kernel is compiled twice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from orthobench_kit import compiled, simd

from orthobench.tools import flops

KERNELS = {
    "__init__.py": "",
    "inner.py": """
from orthobench_kit.compiled import kernel

@kernel
def shifted(x):
    return x + 1.0
""",
    "outer.py": """
from orthobench_kit.compiled import kernel
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


@pytest.mark.parametrize("module", [compiled, simd, flops])
def test_changed_shared_modules_get_their_own_cache(package, tmp_path, monkeypatch, module):
    monkeypatch.syspath_prepend(tmp_path)
    for one in (compiled, simd, flops):
        copy = shutil.copy2(one.__file__, tmp_path)
        monkeypatch.setattr(one, "__file__", str(copy))
    folder = compiled.cache_folder.__wrapped__
    before = folder("toy_kernels")
    assert folder("toy_kernels") == before
    with Path(module.__file__).open("a") as source:
        source.write("\n")
    assert folder("toy_kernels") != before


def test_a_kernel_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch):
    """As if both the package and the home of the user were read-only."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert compiled.kernel(lambda x: 3 * x)(2) == 6
