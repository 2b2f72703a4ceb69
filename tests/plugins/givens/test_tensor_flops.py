"""The flop formulae of givens-tensor against its kernels, run on numbers that count."""

import numpy as np
import pytest
from orthobench_givens._kernels import packed_tensor, tensor_angles
from orthobench_givens._kernels.pairs import offsets, packed_size
from orthobench_givens.solvers.tensor import ANGLE_FLOPS, rotation_flops


class Counted:
    """A number that counts the operations with it; signs and comparisons are free."""

    flops = 0

    def __init__(self, value):
        self.value = float(value)

    def __array_ufunc__(self, function, method, *args):
        Counted.flops += function is not np.copysign
        return Counted(function(*map(float, args)))

    def __float__(self):
        return self.value

    def __abs__(self):
        return Counted(abs(self.value))

    def __neg__(self):
        return Counted(-self.value)


def _arithmetic(name):
    def operation(a, b):
        Counted.flops += 1
        return Counted(getattr(float(a), name)(float(b)))

    return operation


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Counted, f"__{_name}__", _arithmetic(f"__{_name}__"))
    setattr(Counted, f"__r{_name}__", _arithmetic(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Counted, f"__{_name}__", lambda a, b, n=f"__{_name}__": getattr(float(a), n)(float(b)))


def interpreted(monkeypatch, module, *names):
    """Let the kernels of a module run as plain Python."""
    for name in names:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)


def counted(values):
    return np.array([Counted(x) for x in values], dtype=object)


@pytest.mark.parametrize(("d", "i", "j"), [(2, 0, 1), (3, 0, 2), (7, 2, 4), (9, 0, 8), (9, 5, 6)])
def test_a_rotation(monkeypatch, d, i, j):
    parts = ["_rotate_below", "_rotate_between", "_rotate_twice", "_rotate_thrice"]
    interpreted(monkeypatch, packed_tensor, *parts, "_rotate_entries", "_rotate_runs")
    interpreted(monkeypatch, packed_tensor, "rotate_rows", "corner_rotated")
    rng = np.random.default_rng(d)
    T, u, v = (counted(rng.standard_normal(n)) for n in (packed_size(d), d, d))
    Counted.flops = 0
    packed_tensor.rotate.py_func(T, *offsets(d), i, j, Counted(0.6), Counted(0.8))
    packed_tensor.rotate_rows(u, v, Counted(0.6), Counted(0.8))
    assert Counted.flops == rotation_flops(d)


def test_an_angle(monkeypatch):
    parts = ["_form", "_newton", "_highest", "_chart", "_tangents", "_roots"]
    interpreted(monkeypatch, tensor_angles, *parts, "_normalized", "_cofunction")
    for entries in np.random.default_rng(0).standard_normal((50, 4)):
        Counted.flops = 0
        tensor_angles.best_rotation.py_func(*counted(entries), 0.0, 0.0)
        assert Counted.flops == pytest.approx(ANGLE_FLOPS, rel=0.05)
