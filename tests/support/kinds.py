"""Tests of many of a kind, of which the default tests run some."""

import pytest


def one_of(step, values):
    """Return the values as parameters; all but one of each `step` are those of wide tests."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=[pytest.mark.wide] if i % step else [],
        )
        for i, value in enumerate(values)
    ]
