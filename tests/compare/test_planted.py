"""Planted changes: each exit code is right, and the report says what it has to."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from planted_changes import PLANTED, compared, plugin

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The plugin in which changes are planted."""
    return plugin(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_planted_change_has_the_right_exit_code(root, planted):
    found = compared(root, planted)
    assert found["exit"] in planted.exits, found["said"]
    assert found["missing"] == [], found["said"]
