"""Networks by finite differences, batches, and single steps of each method by their formulas."""

import numpy as np
import pytest
from orthobench_training.network import Network
from orthobench_training.oracle import training
from orthobench_training.solver import orthogonalized
from orthobench_training.solvers.adam import TrainAdam
from orthobench_training.solvers.dion2 import TrainDion2
from orthobench_training.solvers.manifold_muon import TrainManifoldMuon
from orthobench_training.solvers.muon import TrainMuon
from orthobench_training.solvers.normuon import TrainNorMuon
from orthobench_training.solvers.scion import TrainScion
from orthobench_training.solvers.sgd import TrainSGD

import orthobench as ob

DENSE = Network((5, 7, 6, 3))
TEXT = Network((8, 6, 4), symbols=4, embedding=4)


def made(network, seed=0, passes=2):
    rng = np.random.default_rng(seed)
    if network.symbols:
        inputs, classes = rng.integers(4, size=(40, 2)), rng.integers(4, size=40)
    else:
        inputs, classes = rng.standard_normal((40, 5)), rng.integers(3, size=40)
    return training(network, rng, inputs, classes, passes)


def begun(solver, network):
    oracle = made(network).oracle
    oracle.rewind(np.random.default_rng(1))
    return oracle, solver.init(oracle, None)


@pytest.mark.parametrize("network", [DENSE, TEXT])
def test_gradients_are_those_of_finite_differences(network):
    oracle = made(network).oracle
    weights = [W.copy() for W in oracle.weights]
    found = network.gradient(weights, oracle.inputs, oracle.classes)
    rng = np.random.default_rng(2)
    for i, W in enumerate(weights):
        D, losses = rng.standard_normal(W.shape), []
        for sign in (1, -1):
            moved = [V + sign * 1e-6 * D if j == i else V for j, V in enumerate(weights)]
            losses.append(network.loss(moved, oracle.inputs, oracle.classes)[0])
        slope = (losses[0] - losses[1]) / 2e-6
        assert np.vdot(found[i], D) == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_every_pass_has_each_sample_once_and_training_ends():
    oracle = made(DENSE, passes=3).oracle
    oracle.rewind(np.random.default_rng(0))
    orders = oracle._order.reshape(3, 20)
    assert (np.sort(orders, axis=1) == np.arange(20)).all()
    outcome = ob.solve("train-sgd", made(DENSE, passes=3), batch=8)
    assert outcome.work.samples == 60
    assert outcome.work.steps == 8


def msign(M):
    U, _, Vt = np.linalg.svd(M, full_matrices=False)
    return U @ Vt


@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_an_orthogonalized_matrix_has_the_range_of_jordans_polynomial(shape):
    M = np.random.default_rng(0).standard_normal(shape)
    X, _ = orthogonalized(M)
    values = np.linalg.svd(X, compute_uv=False)
    assert ((values > 0.6) & (values < 1.21)).all()
    np.testing.assert_allclose(msign(X), msign(M), atol=1e-10)


def first_steps(solver, network=DENSE):
    """Return weights before, gradients, and weights after the first step, which has no decay."""
    oracle, state = begun(solver, network)
    before = [W.copy() for W in state.weights]
    chosen = oracle._order[: solver.batch]
    gradients = network.gradient(before, oracle.inputs[chosen], oracle.classes[chosen])
    solver.step(oracle, state)
    return before, gradients, state.weights


def test_first_steps_follow_the_formulas():
    for W, G, after in zip(*first_steps(TrainSGD(step_size=0.1, batch=8)), strict=True):
        np.testing.assert_allclose(after, W - 0.1 * G, atol=1e-14)
    for W, G, after in zip(*first_steps(TrainAdam(step_size=0.1, batch=8)), strict=True):
        np.testing.assert_allclose(after, W - 0.1 * G / (np.abs(G) + 1e-8), atol=1e-12)
    for W, G, after in zip(*first_steps(TrainMuon(step_size=0.1, batch=8)), strict=True):
        factor = max(1, W.shape[1] / W.shape[0]) ** 0.5
        np.testing.assert_allclose(after, W - 0.1 * factor * orthogonalized(G)[0], atol=1e-12)
    for W, G, after in zip(*first_steps(TrainNorMuon(step_size=0.1, batch=8)), strict=True):
        moved = W - after
        assert np.linalg.norm(moved) == pytest.approx(0.1 * 0.2 * np.sqrt(W.size))
        lengths = np.linalg.norm(moved, axis=0)
        used = np.abs(G).sum(axis=0) > 0
        np.testing.assert_allclose(lengths[used], lengths[used].mean(), rtol=1e-3)


def test_scion_has_a_norm_for_each_layer():
    before, gradients, after = first_steps(TrainScion(step_size=0.1, batch=8), TEXT)
    moved = [W - A for W, A in zip(before, after, strict=True)]
    rows = np.abs(gradients[0]).sum(axis=1) > 0
    np.testing.assert_allclose(np.linalg.norm(moved[0][rows], axis=1), 0.1 * np.sqrt(4))
    np.testing.assert_allclose(
        moved[1], 0.1 * np.sqrt(6 / 8) * orthogonalized(gradients[1])[0], atol=1e-12
    )
    np.testing.assert_allclose(moved[2], 0.1 * 16 / 6 * np.sign(gradients[2]), atol=1e-12)


def test_dion2_moves_the_longest_slices_and_keeps_the_others():
    solver = TrainDion2(step_size=0.1, batch=8, fraction=0.5)
    oracle, state = begun(solver, DENSE)
    before = [W.copy() for W in state.weights]
    solver.step(oracle, state)
    moved = np.abs(state.weights[1] - before[1]) > 0  # (7, 6): slices are columns
    assert moved.all(axis=0).sum() == 3
    assert moved.any(axis=0).sum() == 3
    lengths = np.linalg.norm(state.momenta[1], axis=0)
    chosen = moved.any(axis=0)
    assert lengths[chosen].min() / 0.95 >= lengths[~chosen].max()


def test_manifold_muon_keeps_the_singular_values_of_hidden_layers():
    oracle, state = begun(TrainManifoldMuon(step_size=0.1, batch=8, dual_steps=20), DENSE)
    solver = TrainManifoldMuon(step_size=0.1, batch=8)
    first = [np.linalg.svd(W, compute_uv=False) for W in state.weights]
    for _ in range(3):
        solver.step(oracle, state)
    last = [np.linalg.svd(W, compute_uv=False) for W in state.weights]
    for a, b in list(zip(first, last, strict=True))[:-1]:
        np.testing.assert_allclose(b, a.mean(), rtol=1e-10)
    assert np.abs(first[-1] - last[-1]).max() > 1e-3
