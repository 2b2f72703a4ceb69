"""What array libraries say that results depend on; stand-ins are for devices that are not here."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gpu_places import marked

from orthobench.tools import array_libraries
from orthobench.tools.array_libraries import LIBRARIES, cuda_facts
from orthobench.tools.environment import version
from orthobench.tools.places import place_of


@pytest.fixture
def driver(tmp_path, monkeypatch):
    file = tmp_path / "version"
    file.write_text("550.54.15\n")
    monkeypatch.setattr(array_libraries, "DRIVER", file)
    for name in ("NVIDIA_TF32_OVERRIDE", "CUPY_TF32"):
        monkeypatch.delenv(name, raising=False)
    return file


def stand_in(monkeypatch, name, **module):
    library = LIBRARIES[name]
    monkeypatch.setattr(type(library), "module", SimpleNamespace(**module))
    return library


def test_the_driver_is_told_where_it_is_known(driver, monkeypatch):
    assert cuda_facts() == {"driver": "550.54.15"}
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    assert cuda_facts() == {"driver": "550.54.15", "tf32 override": "0"}
    driver.unlink()
    assert cuda_facts() == {"tf32 override": "0"}


@pytest.mark.parametrize(("set_to", "told"), [(None, "default"), ("highest", "highest")])
def test_jax_says_in_which_precision_it_multiplies(driver, monkeypatch, set_to, told):
    jax = stand_in(
        monkeypatch,
        "jax",
        config=SimpleNamespace(jax_default_matmul_precision=set_to),
        devices=lambda kind: [SimpleNamespace(device_kind=f"Graphics {name}") for name in "AB"],
    )
    known = jax.facts("cuda")
    assert (known["device"], known["driver"]) == ("Graphics A", "550.54.15")
    assert known["matmul precision"] == told
    versions = {"jax": version("jax") or "none", "jaxlib": version("jaxlib") or "none"}
    assert jax.facts("cpu") == versions


@pytest.mark.parametrize("set_to", ["", "1"])
def test_cupy_says_whether_it_takes_tf32(driver, monkeypatch, set_to):
    runtime = SimpleNamespace(
        getDeviceProperties={0: {"name": b"Graphics A"}}.get, runtimeGetVersion=lambda: 12040
    )
    cupy = stand_in(monkeypatch, "cupy", cuda=SimpleNamespace(runtime=runtime))
    if set_to:
        monkeypatch.setenv("CUPY_TF32", set_to)
    assert {**cupy.facts("cuda"), "cupy-cuda12x": "14"} == {
        "cupy-cuda12x": "14", "device": "Graphics A", "cuda": "12040", "tf32": set_to or "0",
        "driver": "550.54.15",
    }  # fmt: skip


class Older:
    """`torch.backends.cuda.matmul` before torch 2.9."""

    allow_tf32 = True


class Mixed:
    """The same since then, where TF32 was set in the new way."""

    fp32_precision = "tf32"

    @property
    def allow_tf32(self):
        raise RuntimeError("you have used mix of the legacy and new APIs")


@pytest.mark.parametrize("matmul", [Older(), Mixed()])
def test_torch_says_whether_it_takes_tf32_however_that_was_set(driver, monkeypatch, matmul):
    cuda = SimpleNamespace(get_device_name=lambda: "Graphics A")
    torch = stand_in(
        monkeypatch,
        "torch",
        cuda=cuda,
        version=SimpleNamespace(cuda="12.4"),
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=matmul)),
    )
    known = torch.facts("cuda")
    assert (known["device"], known["cuda"], known["tf32"]) == ("Graphics A", "12.4", "True")
    assert known["driver"] == "550.54.15"
    assert torch.facts("cpu") == {"torch": version("torch") or "none"}


def test_the_flag_of_the_torch_that_is_installed_is_read():
    torch = pytest.importorskip("torch")
    library, matmul = LIBRARIES["torch"], torch.backends.cuda.matmul
    before = matmul.allow_tf32
    try:
        for choice in (True, False):
            matmul.allow_tf32 = choice
            assert library._tf32() is choice
    finally:
        matmul.allow_tf32 = before


def test_the_precision_of_the_jax_that_is_installed_is_read():
    jax = pytest.importorskip("jax")
    assert hasattr(jax.config, "jax_default_matmul_precision")


@pytest.mark.parametrize("on", marked("torch:cuda", "jax:cuda", "cupy"))
def test_a_gpu_is_told_with_its_driver_and_precision(on):
    if why := place_of(on).missing():
        pytest.skip(why)
    known = place_of(on).facts()
    assert known["device"]
    assert known["driver"]
    assert {"tf32", "matmul precision"} & set(known)


def test_cupy_needs_a_device(monkeypatch):
    def runtime(count):
        return SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count))

    def broken():
        raise RuntimeError("no driver")

    for count, why in (
        (lambda: 2, None), (lambda: 0, "cupy finds no CUDA device"),
        (broken, "cupy finds no CUDA device (no driver)"),
    ):  # fmt: skip
        assert stand_in(monkeypatch, "cupy", cuda=runtime(count)).missing_device("cuda") == why


def test_torch_and_jax_say_that_they_find_no_device(monkeypatch):
    for found in (True, False):
        cuda = SimpleNamespace(is_available=lambda found=found: found)
        torch = stand_in(monkeypatch, "torch", cuda=cuda)
        assert torch.missing_device("cpu") is None
        assert (torch.missing_device("cuda") is None) == found

    def devices(kind):
        if kind != "cpu":
            raise RuntimeError("unknown backend")
        return [kind]

    jax = stand_in(monkeypatch, "jax", devices=devices)
    assert jax.missing_device("cpu") is None
    assert "jax finds no cuda device" in jax.missing_device("cuda")


def test_what_computes_on_a_device_is_waited_for(monkeypatch):
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


def test_cupy_copies_there_and_back(monkeypatch):
    cupy = stand_in(monkeypatch, "cupy", array=np.array, asnumpy=np.asarray)
    values = np.arange(3.0)
    there = cupy.array(values, "cuda", "float32")
    assert there.dtype == np.float32
    assert cupy.array(np.arange(3), "cuda", "float32").dtype.kind == "i"
    back = cupy.to_numpy(there)
    back[0] = 9
    assert there[0] == 0


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


def test_numpy_says_its_version_and_jax_takes_the_first_device(monkeypatch):
    assert LIBRARIES["numpy"].facts("cpu") == {"numpy": np.__version__}
    jax = stand_in(
        monkeypatch, "jax", devices=lambda kind: [f"{kind}:0", f"{kind}:1"],
        device_put=lambda values, device: (values.tolist(), device),
    )  # fmt: skip
    assert jax.array(np.array([1.5]), "cuda", "float32") == ([1.5], "cuda:0")


def test_the_precision_of_torch_is_read_in_either_way(driver, monkeypatch):
    for matmul, told in (
        ({"fp32_precision": "tf32"}, "True"), ({"fp32_precision": "ieee"}, "False"),
        ({"allow_tf32": True}, "True"), ({"allow_tf32": False}, "False"),
    ):  # fmt: skip
        torch = stand_in(
            monkeypatch, "torch",
            cuda=SimpleNamespace(get_device_name=lambda: "Graphics A"),
            version=SimpleNamespace(cuda="12.4"),
            backends=SimpleNamespace(
                cuda=SimpleNamespace(matmul=SimpleNamespace(**matmul))
            ),
        )  # fmt: skip
        assert torch.facts("cuda")["tf32"] == told
        assert "tf32" not in torch.facts("cpu")
