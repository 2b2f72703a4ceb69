"""The marker ``needs_data``: tests of published data run only if their files exist."""

import numpy as np
import pytest

from orthobench.errors import DataError
from orthobench.tools import datasets


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "needs_data(*files): skipped where a file is not in $ORTHOBENCH_DATA"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for mark in item.iter_markers("needs_data"):
        for file in mark.args:
            if not have(file):
                pytest.skip(f"{file.name} is not in $ORTHOBENCH_DATA")


@pytest.fixture
def path(tmp_path, X):
    """The file of the matrix X of a module."""
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def have(file):
    try:
        return datasets.find(file) is not None
    except DataError:
        return False
