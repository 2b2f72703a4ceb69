"""Peaks of memory: what calls need at once, and what they leave behind."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gpu_places import marked

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.machine import Peak
from orthobench.tools.places import DEFAULT, place_of

needs_linux = pytest.mark.skipif(
    Peak.missing(DEFAULT) is not None, reason=str(Peak.missing(DEFAULT))
)

MB = 1e6


@pytest.fixture
def device(monkeypatch):
    """The bytes in use and their peak, as a made-up allocator of torch counts them."""
    held = {"now": 100, "top": 1000}
    cuda = SimpleNamespace(
        reset_peak_memory_stats=lambda: held.update(top=held["now"]),
        memory_allocated=lambda: held["now"],
        max_memory_allocated=lambda: held["top"],
    )
    library = SimpleNamespace(module=SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(LIBRARIES, "torch", library)
    return held


def test_kept_memory_counts_in_the_next_call(device):
    peak = Peak(place_of("torch:cuda"))
    assert peak.value == 0
    with peak.measuring():  # needs nothing
        pass
    assert peak.value == 0
    device.update(top=1000)
    with peak.measuring():  # needs 50 and keeps 20
        device.update(top=150, now=120)
    assert peak.value == 50
    device.update(top=1200, now=1120)  # 1000 come in between
    with peak.measuring():  # needs 40
        device.update(top=1160)
    assert peak.value == 60
    with peak.measuring():  # gives back more than calls have kept
        device.update(now=20)
    with peak.measuring():  # needs 70
        device.update(top=90)
    assert peak.value == 70


@needs_linux
def test_the_peak_of_the_host_is_that_of_what_is_alive_at_once():
    code = """
import numpy as np
from orthobench.tools.machine import Peak
from orthobench.tools.places import DEFAULT
kept = []
for _ in range(2):  # the second time the allocator has freed pages to hand out
    peak = Peak(DEFAULT)
    with peak.measuring():
        big = np.ones(18_750_000)
        small = [np.ones(10_000) for _ in range(625)]  # 50 MB, which come from the heap
        kept += small[::50]  # pages with these are not given back
        del big, small
    print(peak.value)
"""
    # a process of its own, since other tests leave free pages in the heap
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peaks = [float(line) for line in found.stdout.split()]
    assert peaks == pytest.approx([200 * MB] * 2, rel=0.1)


@pytest.mark.parametrize("on", marked("torch:cuda"))
def test_the_peak_of_a_gpu_is_that_of_its_arrays(on):
    place = place_of(on)
    if why := place.missing():
        pytest.skip(why)
    values = np.ones(int(100 * MB / 8))
    kept = place.array(values)
    peak = Peak(place)
    with peak.measuring():
        two = [place.array(values) for _ in range(2)]
        place.wait([kept, *two])
        del two
    assert peak.value == pytest.approx(200 * MB, rel=0.1)
