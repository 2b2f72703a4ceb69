"""givens-tensor against plain numpy: rotations a second, and seconds to a gap of 1e-8.

Both begin at the same random orthogonal matrix, with the same tensor, which has an orthogonal
decomposition. The two take turns, and the best of each counts. Random order is also compared with
what it cannot do without: rotating two of d rows of d(d + 1)/2 numbers, which come from memory.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest
from orthobench_givens import reference
from orthobench_givens._kernels.tensor_angles import rotate_rows
from orthobench_givens.solvers.tensor import GivensTensor
from orthobench_kit.symmetric_tensors import symmetrized
from orthobench_orthogonal_tensor import TensorOracle
from smoke import usually

from orthobench.tools.geometry import random_point

GAP = 1e-8
ROUNDS = usually(7, smoke=1)
ROTATED_ROWS = usually(1000, smoke=2)
PLAIN_SECONDS = usually(0.5, smoke=0.01)
RATIOS = usually(  # least, of rotations a second in sweeps
    {20: 10.0, 50: 10.0, 100: 10.0, 200: 50.0}, smoke={6: 0.0}
)
GROWING = usually([50, 100, 200], smoke=[4, 6, 8])
MIDDLE, OTHERS = usually((50, [20, 100, 200]), smoke=(6, [6]))
EXPONENT = 2.3
SECONDS = 2.0
SPECTRA = {
    "linspace(1, 2)": lambda d: np.linspace(1, 2, d),
    "equal": np.ones,
    "geomspace(0.1, 1)": lambda d: np.geomspace(0.1, 1, d),
}


@cache
def odeco(d, spectrum="linspace(1, 2)"):
    """Return the tensor of random orthonormal factors, and the sum of their weights."""
    V, w = random_point(d, d, np.random.default_rng(0)), SPECTRA[spectrum](d)
    T = ((V * w) @ (V[:, None, :] * V).reshape(d * d, d).T).reshape(d, d, d)
    oracle = TensorOracle(symmetrized(T))
    oracle.start = random_point(d, d, np.random.default_rng(1))
    return oracle, w.sum()


def seconds(call):
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


def plain_rate(oracle):
    """Return rotations a second of plain numpy, of a sweep or as many as half a second takes."""
    T, U = reference.rotated(oracle.T, oracle.start), oracle.start.copy()
    count, begin = 0, perf_counter()
    for i, j in combinations(range(oracle.n), 2):
        reference.rotate(T, U, i, j)
        count += 1
        if perf_counter() - begin > PLAIN_SECONDS:
            break
    return count / (perf_counter() - begin)


def seconds_for_rows(d):
    """Return the minimum seconds of a rotation of two rows, drawn at random."""
    rng, rows = np.random.default_rng(0), np.ones((d, d * (d + 1) // 2))
    pairs = [rng.choice(d, 2, replace=False) for _ in range(ROTATED_ROWS)]

    def rotate():
        for i, j in pairs:
            rotate_rows(rows[i], rows[j], 0.6, 0.8)

    return min(seconds(rotate)[0] for _ in range(ROUNDS)) / len(pairs)


def begun(solver, oracle):
    return solver, oracle, solver.init(oracle, np.random.default_rng(2))


def sweeps(solver, oracle, state, count):
    solver.advance(oracle, state, count * oracle.n * (oracle.n - 1) // 2)
    return state


@cache
def steps_to_gap(d, spectrum):
    """Return how many steps it takes, to an eighth of a sweep."""
    oracle, total = odeco(d, spectrum)
    solver, _, state = begun(GivensTensor(), oracle)
    while total - solver.solution(state).weights.sum() > GAP * total:
        solver.advance(oracle, state, max(1, d * (d - 1) // 16))
    return state.work.steps


def solved(oracle, steps):
    solver, _, state = begun(GivensTensor(), oracle)
    solver.advance(oracle, state, steps)
    return solver.solution(state)


@pytest.mark.parametrize("order", ["cyclic", "random"])
@pytest.mark.parametrize("d", RATIOS)
def test_rotations_a_second(benchmark, beside, report, d, order):
    oracle, _ = odeco(d)
    solver, plain = GivensTensor(order=order), []
    sweeps(*begun(solver, oracle), 1)

    def take_turns():
        if len(plain) < 3:
            plain.append(plain_rate(oracle))
        return (*begun(solver, oracle), 2), {}

    benchmark.group = f"rotations d={d}"
    benchmark.pedantic(sweeps, setup=take_turns, rounds=ROUNDS)
    beside({"plain numpy": [d * (d - 1) / rate for rate in plain]})
    fast, slow = d * (d - 1) / benchmark.stats.stats.min, max(plain)
    ratio = fast / slow
    benchmark.extra_info.update(plain=slow, ratio=ratio)
    report(
        f"givens-tensor, {order}: rotations",
        d,
        "",
        f"{slow:.0f}",
        f"{fast:.0f}",
        f"{ratio:.1f}",
        verdict(ratio >= RATIOS[d], f">= {RATIOS[d]:g}"),
        "" if order == "cyclic" else f"{1 / fast / seconds_for_rows(d):.1f} rows",
    )


def test_cost_of_a_rotation_grows_as_d_squared(report):
    sizes, least = GROWING, []
    for d in sizes:
        oracle, _ = odeco(d)
        begins = [begun(GivensTensor(), oracle) for _ in range(5)]
        least.append(min(seconds(lambda b=b: sweeps(*b, 2))[0] for b in begins) / (d * (d - 1)))
    exponent = np.polyfit(np.log(sizes), np.log(least), 1)[0]
    good = verdict(exponent < EXPONENT, f"< {EXPONENT}")
    report("givens-tensor: exponent", "50 to 200", "", "", "", f"{exponent:.2f}", good, "")


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_seconds_to_the_gap(benchmark, beside, report, spectrum):
    oracle, total = odeco(MIDDLE, spectrum)
    steps, plain = steps_to_gap(MIDDLE, spectrum), []
    pairs = list(combinations(range(MIDDLE), 2)) * 20

    def opponent():
        return reference.run(oracle.T, oracle.start.copy(), pairs, total * (1 - GAP))

    def take_turns():
        if len(plain) < 2:
            plain.append(seconds(opponent)[0])
        return (oracle, steps), {}

    benchmark.group = f"to {GAP:g}, {spectrum}"
    solution = benchmark.pedantic(solved, setup=take_turns, rounds=ROUNDS)
    assert total - solution.weights.sum() <= GAP * total
    beside({"plain numpy": plain})
    slow, fast = min(plain), benchmark.stats.stats.min
    report(
        f"givens-tensor, {spectrum}: to {GAP:g}, {1e3 * fast:.1f} : {1e3 * slow:.0f} ms",
        MIDDLE,
        "",
        f"{1 / slow:.2f}",
        f"{1 / fast:.1f}",
        f"{slow / fast:.0f}",
        verdict(slow / fast >= 50, ">= 50"),
        "",
    )


@pytest.mark.parametrize("d", OTHERS)
def test_seconds_to_the_gap_of_other_sizes(benchmark, beside, report, d):
    """Plain numpy as long as it would take for as many rotations."""
    oracle, _ = odeco(d)
    steps = steps_to_gap(d, "linspace(1, 2)")
    benchmark.group = f"to {GAP:g}, d={d}"
    benchmark.pedantic(solved, args=(oracle, steps), rounds=usually(5, smoke=1))
    fast, slow = benchmark.stats.stats.min, steps / plain_rate(oracle)
    beside({"plain numpy, by its rate": [slow]})
    report(
        f"givens-tensor: to {GAP:g}, {fast:.4f} : about {slow:.2f} s",
        d,
        "",
        f"{1 / slow:.4f}",
        f"{1 / fast:.2f}",
        f"{slow / fast:.0f}",
        verdict(fast < SECONDS, f"< {SECONDS:g} s") if d == 200 else "",
        "",
    )


def verdict(met, target):
    return f"{target} {'met' if met else 'MISSED'}"
