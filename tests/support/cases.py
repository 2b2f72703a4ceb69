"""Many small cases in one test, which takes less time than a test for each."""

from contextlib import contextmanager

import pytest


@contextmanager
def case(*of):
    """Name the case that fails within."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        error.add_note("in the case: " + ", ".join(map(str, of)))
        raise
