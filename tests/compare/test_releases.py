"""Releases of libraries: what they changed is found by version alone."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from releases import RELEASES, compared, wheel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_is_found_by_version_alone(release, tmp_path):
    try:
        wheel(tmp_path, release.library, release.head)
    except subprocess.CalledProcessError:
        pytest.skip("no package index can be reached")
    found = compared(release, tmp_path, 120.0)
    assert found["found"], found
