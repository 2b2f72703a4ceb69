"""The marker ``needs_data``: tests of published data run where their files are."""

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


def have(file):
    try:
        return datasets.find(file) is not None
    except DataError:
        return False
