"""Files of arrays, .npy, that are damaged by someone who knows their headers."""

import random
import struct
import warnings

import numpy as np
from orthobench_orthogonal_tensor.problems.files import NpyTensor
from orthobench_sparse_pca.problems.files import NpySparse
from orthobench_stochastic_pca.problems.files import NpyPCA
from orthobench_tucker.problems.files import NpyMoment

from orthobench.errors import DataError, UsageError

NUMBERS = (0, 1, 3, 2**31, 2**32 - 1, 2**40, 2**63, 2**64, 10**30, -1)
HEADERS = ("(" * 5000, "[" * 200, "{" * 99, "-" * 9000 + "1", "{'descr': '<f8'}", "{}", "1", "\\",
           "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "'" * 9, "\0", "é" * 40,
           "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}", "f'{1}'",
           "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}", "None", "1e999", "9" * 5000,
           "{'descr': 'V99999999999', 'fortran_order': False, 'shape': (3, 4)}",
           "{'descr': '<U2147483647', 'fortran_order': False, 'shape': (3, 4)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 4)}",
           "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3, 4)}")  # fmt: skip
TYPES = ("<f8", ">f4", "<c16", "|u1", "|b1", "<U3", "|S2", "<M8[s]", "<i8", "<f2", "|V8")


def attack(folder, number):
    """Make a file, and read it as the problems do: an array, or a refusal that names it."""
    chance = random.Random(number)  # noqa: S311
    path = folder / "array.npy"
    path.write_bytes(bent(npy_file(chance), chance))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            problem = chance.choice([NpyPCA, NpySparse, NpyMoment, NpyTensor])
            problem(path=str(path)).checksum()
            problem(path=str(path)).build(np.random.default_rng(0))
    except UsageError:
        said = str(path)  # a parameter that does not suit the data
    except DataError as error:
        said = str(error)
    else:
        said = str(path)
    assert str(path) in said, f"the refusal does not name the file: {said}"
    assert len(said.splitlines()) == 1, f"more than a line: {said}"
    assert len(said) < 1000, f"a refusal of {len(said)} characters"
    assert {p.name for p in folder.iterdir()} == {"array.npy"}


def npy_file(chance):
    """A .npy file whose header lies, more often than not."""
    shape = tuple(chance.choice(NUMBERS[:3]) for _ in range(chance.choice([0, 1, 2, 2, 3, 40])))
    data = chance.choice([np.sin(np.arange(50.0)).tobytes(), chance.randbytes(400), bytes(400)])
    if chance.random() < 0.3:
        shape = chance.choice([(5, 10), (10, 5), (3, 3), (2, 2, 2), (3, 3, 3), (50, 1), (7, 7)])
    elif chance.random() < 0.5:
        shape = (*shape[:-1], chance.choice(NUMBERS))
    head = repr({"descr": chance.choice(TYPES), "fortran_order": chance.random() < 0.3,
                 "shape": shape})  # fmt: skip
    if chance.random() < 0.4:
        head = chance.choice(HEADERS)
    version = chance.choice([1, 1, 1, 2, 3, 0, 9])
    text = head.encode("utf-8" if version == 3 else "latin1", "replace") + b"\n"
    length = len(text) if chance.random() < 0.8 else chance.choice([0, 1, 2**16 - 1])
    packed = struct.pack("<H", length % 2**16) if version < 2 else struct.pack("<I", length)
    return b"\x93NUMPY" + bytes([version, 0]) + packed + text + data


def bent(content, chance):
    """The same bytes, cut, or with some of them changed."""
    if chance.random() < 0.5 or not 0 < len(content) < 10**6:
        return content
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        changed[chance.randrange(min(len(changed), 300))] ^= chance.randrange(1, 256)
    return bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.2 else changed)
