"""Ports compared with reference iterates: the first step that differs, and the likely cause."""

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import black_box
from orthobench.errors import DataError
from orthobench.testing import NotConforming, given
from orthobench.testing.reference import check_against

X = np.random.default_rng(3).standard_normal((60, 8)) * np.linspace(3, 1, 8)


def power(problem, steps, rng):
    A, U = problem.X - problem.X.mean(axis=0), problem.start
    for _ in range(steps):
        U = np.linalg.qr(A.T @ (A @ U))[0]
    return U


def iterates(start, count=10):
    A, U = X - X.mean(axis=0), start
    for _ in range(count):
        U = np.linalg.qr(A.T @ (A @ U))[0]
        yield U


@pytest.fixture
def write(tmp_path):
    def written(change=lambda steps: steps, **others):
        start = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 2)))[0]
        steps = change([*iterates(start)])
        arrays = {f"step_{i}": U for i, U in enumerate(steps, start=1)}
        own = {"maker": "pca", "X": X, "k": 2, "start": start}
        np.savez(tmp_path / "r.npz", **arrays, **{**own, **others})
        return tmp_path / "r.npz"

    return written


def port(offers):
    return black_box(power)()


def test_a_port_that_follows_its_reference_is_held(write):
    check_against(write(), port)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: [*s[:3], s[3] + 1e-6, *s[4:]], "differs .* at step 4, most at entry"),
        (lambda s: [U * [1, -1] for U in s], "at step 1, .*differ in sign alone"),
        (lambda s: [U[:, ::-1] for U in s], "span the same space"),
        (lambda s: [U.T for U in s], r"step 1 has shape \(8, 2\), the reference \(2, 8\)"),
    ],
)
def test_a_port_that_differs_gets_step_entry_and_cause(write, change, said):
    with pytest.raises(NotConforming, match=said):
        check_against(write(change), port)


def test_a_file_that_is_no_reference_is_refused(tmp_path):
    np.savez(tmp_path / "r.npz", step_1=np.eye(2))
    with pytest.raises(DataError, match=r"needs problem .* or maker"):
        check_against(tmp_path / "r.npz", port)
    (tmp_path / "r.npz").write_bytes(b"no")
    with pytest.raises(DataError, match="cannot read"):
        check_against(tmp_path / "r.npz", port)


def test_a_script_is_given_the_start_and_samples_of_runs():
    seen = given("digits k=4", samples=20)
    outcome = ob.solve("batch-pca", "digits k=4", ob.Budget(samples=20))
    basis = np.linalg.svd(seen.X, full_matrices=False)[2][:4].T
    assert np.linalg.norm(basis @ basis.T - outcome.solution @ outcome.solution.T) < 1e-8
    assert seen.start.shape == (64, 4)
