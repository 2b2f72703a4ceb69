"""What array libraries say that results depend on; stand-ins are for devices that are not here."""

from types import SimpleNamespace

import pytest
from gpu_places import marked

from orthobench.tools import array_libraries
from orthobench.tools.array_libraries import LIBRARIES, cuda_facts
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
        devices=lambda kind: [SimpleNamespace(device_kind="Graphics A")],
    )
    known = jax.facts("cuda")
    assert (known["device"], known["driver"]) == ("Graphics A", "550.54.15")
    assert known["matmul precision"] == told
    assert set(jax.facts("cpu")) == {"jax", "jaxlib"}


@pytest.mark.parametrize("set_to", ["", "1"])
def test_cupy_says_whether_it_takes_tf32(driver, monkeypatch, set_to):
    runtime = SimpleNamespace(
        getDeviceProperties=lambda number: {"name": b"Graphics A"}, runtimeGetVersion=lambda: 12040
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
    assert set(torch.facts("cpu")) == {"torch"}


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
