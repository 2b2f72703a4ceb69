"""Operations counted, against the closed formulae."""

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels.projection import shift

from orthobench.testing import counted, counting
from orthobench.testing.counting_arrays import CountingArray, UncountableError
from orthobench.tools import flops
from orthobench.tools.geometry import orthonormalize, polar


@pytest.fixture
def operands():
    rng = np.random.default_rng(0)
    return rng.standard_normal((5, 3)), rng.standard_normal((3, 4))


COUNTS = {
    "product": (lambda A, B: A @ B, 2 * 5 * 3 * 4),
    "dot": (lambda A, B: A.dot(B), 2 * 5 * 3 * 4),
    "einsum": (lambda A, B: np.einsum("ij,jk->ik", A, B), 2 * 5 * 3 * 4),
    "tensordot": (lambda A, B: np.tensordot(A, B, 1), 2 * 5 * 3 * 4),
    "outer": (lambda A, B: np.outer(A[0], B[0]), 12),
    "sum": (lambda A, _: A.sum(axis=0), 12),
    "mean": (lambda A, _: A.mean(), 15),
    "norm": (lambda A, _: np.linalg.norm(A), 30),
    "in place": (lambda A, _: np.multiply(A, 2.0, out=A), 15),
    "an entry": (lambda A, _: A[0, 0] * A[1, 1] + 1.0, 2),
    "a filled array": (lambda A, _: np.full((2, 3), 2.0) * A[:2], 6),
    "what is free": (lambda A, _: np.maximum(-A, np.abs(A)) > 0, 0),
    "whole numbers": (lambda A, _: np.arange(4) + len(A), 0),
    "qr": (lambda A, _: np.linalg.qr(A), flops.qr(5, 3)),
    "svd": (lambda A, _: np.linalg.svd(A, full_matrices=False), flops.svd(5, 3)),
    "eigh": (lambda A, _: np.linalg.eigh(A.T @ A), 2 * 9 * 5 + flops.eigh(3)),
    "retraction": (lambda A, _: orthonormalize(A), flops.qr(5, 3) + 15),
    "vdot": (lambda A, _: np.vdot(A, A), 2 * 15),
    "inner": (lambda A, B: np.inner(A, B.T), 2 * 5 * 3 * 4),
    "kron": (lambda A, B: np.kron(A, B), 15 * 12),
    "trace of a product": (lambda A, _: np.linalg.trace(A @ A.T), 2 * 25 * 3 + 5),
    "einsum of three": (lambda A, B: np.einsum("ij, jk, k->i", A, B, B[0]), 3 * 5 * 3 * 4),
    "einsum of one": (lambda A, _: np.einsum("ij->", A), 15),
    "matrix and vector": (lambda A, B: A @ B[:, 0], 2 * 5 * 3),
    "vector norm": (lambda A, _: np.linalg.vector_norm(A, axis=0), 30),
    "matrix norm": (lambda A, _: np.linalg.matrix_norm(A), 30),
    "a transpose and a diagonal": (
        lambda A, _: np.linalg.diagonal(np.linalg.matrix_transpose(A)),
        0,
    ),
    "eigenvalues": (lambda A, _: np.linalg.eigvalsh(A.T @ A), 2 * 9 * 5 + 4 * 27 // 3),
    "cholesky": (lambda A, _: np.linalg.cholesky(A.T @ A), 2 * 9 * 5 + 9),
    "inverse": (lambda A, _: np.linalg.inv(A[:3]), 2 * 27),
    "system": (lambda A, B: np.linalg.solve(A[:3], B), 2 * 27 // 3 + 2 * 3 * 12),
    "a stack of svds": (lambda A, _: np.linalg.svd(np.stack([A, A])), 2 * flops.svd(5, 3)),
    "qr of a wide matrix": (lambda A, _: np.linalg.qr(A.T), flops.qr(5, 3)),
    "added at places": (lambda A, B: np.add.at(A, ([0, 1], [0, 1]), B[0, :2]), 0),
    "two results": (lambda A, _: np.divmod(A, 2.0), 30),
    "comparisons": (lambda A, _: A == 2.0, 0),
    "polar factor": (lambda A, _: polar(A), flops.svd(5, 3) + 2 * 5 * 9),
}


def test_operations_are_counted(operands):
    found = {}
    for name, (call, _) in COUNTS.items():
        with counting() as tally:
            call(*map(counted, operands))
        found[name] = tally.flops
    assert found == {name: expected for name, (_, expected) in COUNTS.items()}


def test_values_are_those_of_numpy(operands):
    A, B = operands
    with counting():
        product = counted(A) @ counted(B)
        filled = np.zeros((5, 4))
        filled[:] = product
    assert isinstance(filled, CountingArray)
    np.testing.assert_array_equal(np.asarray(filled), A @ B)
    assert type(np.zeros(3)) is np.ndarray


def test_code_that_numpy_does_not_see_is_refused(operands):
    A = operands[0]
    with counting(), pytest.raises(UncountableError, match="compiled by numba"):
        shift(np.ones(2), 1.0)
    with counting(), pytest.raises(UncountableError, match=r"numpy\.linalg\.pinv"):
        np.linalg.pinv(counted(A))
    assert shift(np.ones(2), 1.0) == -0.5


def test_a_pause_counts_nothing(operands):
    A = counted(operands[0])
    with counting() as tally:
        A + A
        with tally.pause():
            with tally.pause():
                A * A
            shift(A[0], 1.0)
        A - A
    assert tally.flops == 30
