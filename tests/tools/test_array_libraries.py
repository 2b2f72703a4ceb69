"""Array libraries, with stand-ins for missing devices."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gpu_places import marked

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import place_of


def stand_in(monkeypatch, name, **module):
    library = LIBRARIES[name]
    monkeypatch.setattr(type(library), "module", SimpleNamespace(**module))
    return library


@pytest.mark.parametrize("on", marked("torch:cuda", "jax:cuda", "cupy"))
def test_a_gpu_is_told_with_its_driver_and_precision(on):
    if why := place_of(on).missing():
        pytest.skip(why)
    known = place_of(on).facts()
    assert known["device"]
    assert known["driver"]
    assert {"tf32", "matmul precision"} & set(known)


def test_computations_on_a_device_are_waited_for(monkeypatch):
    waited = []
    cuda = SimpleNamespace(
        synchronize=lambda: waited.append("torch"),
        Device=lambda: SimpleNamespace(synchronize=lambda: waited.append("cupy")),
    )
    torch = stand_in(monkeypatch, "torch", cuda=cuda)
    torch.wait([1], "cpu")
    assert waited == []
    torch.wait([1], "cuda")
    stand_in(monkeypatch, "cupy", cuda=cuda).wait([1], "cuda")
    stand_in(monkeypatch, "jax", block_until_ready=waited.append).wait((1, 2), "cpu")
    assert waited == ["torch", "cupy", [1, 2]]


def test_threads_are_limited_before_jax_starts_and_for_torch_at_once(monkeypatch):
    limited = []
    stand_in(monkeypatch, "torch", set_num_threads=limited.append).limit(3)
    assert limited == [3]
    monkeypatch.setenv("NPROC", "before")
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace())
    LIBRARIES["jax"].limit(5)
    assert os.environ["NPROC"] == "before"
    monkeypatch.delitem(sys.modules, "jax")
    LIBRARIES["jax"].limit(5)
    assert os.environ["NPROC"] == "5"


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_half_precision_comes_back_in_single(library):
    pytest.importorskip(library)
    place = place_of(f"{library}/bfloat16")
    there = place.array(np.array([1.5, -2.0]))
    assert str(there.dtype).endswith("bfloat16")
    back = place.to_numpy(there)
    assert (back.dtype, back.tolist()) == (np.float32, [1.5, -2])
