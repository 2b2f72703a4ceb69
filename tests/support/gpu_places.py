"""Places to compute, as parameters of tests: those on a GPU have the marker `cuda`."""

import pytest

from orthobench.tools.places import place_of


def marked(*places):
    """Return places as parameters; tests skip where a library or a device is missing."""
    return [
        pytest.param(on, marks=pytest.mark.cuda) if place_of(on).device == "cuda" else on
        for on in places
    ]
