"""Make the pictures and print the table of `docs/guide/orthogonalization.md`.

``python docs/orthogonalization.py [FOLDER]`` runs solvers of polar factors, and draws error against
products for four spectra, and flops and seconds of the plain and the Gram form against the aspect,
into FOLDER (default: docs/pictures). Then it prints what methods on the Stiefel manifold reach in
one pass over mini-batches. Takes five minutes. Seconds are CPU seconds of one thread, the
minimum of some turns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from click import echo

sys.path.append(str(Path(__file__).parent / "_ext"))
from drawing import draw

import orthobench as ob
from orthobench.contract import AnyProblem, Array
from orthobench.contract.panel import Axis, Panel, Series
from orthobench.registry.plugins import catalogue
from orthobench.report.plots.geometry import Clipped
from orthobench.tools.environment import limited

PICTURES = Path(__file__).parent / "pictures"

SPECTRA: Mapping[str, tuple[str, dict[str, Any]]] = {
    "Gaussian, 256 × 128": ("gaussian-polar", {"p": 128, "aspect": 2.0}),
    "Gaussian, 128 × 128": ("gaussian-polar", {"p": 128}),
    "condition 10⁴, 256 × 128": ("spectrum-polar", {"p": 128, "aspect": 2.0, "condition": 1e4}),
    "gradient of a network": ("network-polar", {"kind": "gradient", "layer": "expand"}),
}
"""Titles, and problems with their parameters."""

CURVES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "jordan": ("newton-schulz", {"coefficients": "jordan", "steps": 14}),
    "you": ("newton-schulz", {"coefficients": "you", "steps": 14}),
    "cubic": ("newton-schulz", {"coefficients": "cubic", "steps": 24}),
    "polar-express": ("newton-schulz", {"coefficients": "polar-express", "steps": 14}),
    "turbo": ("turbo-newton-schulz", {"coefficients": "polar-express", "steps": 13}),
    "qdwh": ("qdwh", {}),
}  # fmt: skip
"""Names, and solvers with their parameters."""

MOST = 40
"""Maximum number of products that is shown."""

LEAST = 1e-8
"""The error below which the axis ends."""

SEEDS = 2
COLUMNS, ASPECTS, TURNS = 384, (1, 1.5, 2, 3, 4, 6, 8), 5

TRAINING: Mapping[str, tuple[str, dict[str, Any]]] = {
    "spel": ("spel", {}),
    "spel without projection": ("spel", {"projection": False}),
    "manifold-muon, 20 dual steps": ("manifold-muon", {"dual_steps": 20}),
    "manifold-muon, 20 of ADMM": ("manifold-muon", {"dual": "admm", "dual_steps": 20}),
    "riemannian-gradient, QR": ("riemannian-gradient", {"steps": "constant"}),
    "landing": ("landing", {}),
    "pogo": ("pogo", {}),
}
RATES = (0.03, 0.1, 0.3, 1.0)
"""Steps of which each method gets its best."""


def problem(name: str, parameters: dict[str, Any]) -> AnyProblem:
    """Return a problem of the catalogue."""
    return catalogue().problem(name, parameters)


def curve(solver: str, parameters: dict[str, Any], made: Any) -> tuple[Array, Array]:
    """Return the products and the distance after each step, up to `MOST` products."""
    trace = ob.solve(solver, made, curve=True, **parameters).trace[1:]
    found = np.array([(m.metrics["products"], m.metrics["distance"]) for m in trace])
    products, distances = found[found[:, 0] <= MOST].T
    return products, distances


def draw_errors(folder: Path) -> None:
    """Draw error against products."""
    x = Axis("products", "products of matrices, in units of 2np² flops", log=False)
    y = Axis("distance", "|X - UV'| / |UV'|, Frobenius")
    panels = []
    for title, (name, parameters) in SPECTRA.items():
        made = problem(name, parameters).build(np.random.default_rng(0))
        lines = [
            Series(label, *curve(solver, settings, made), solver=label)
            for label, (solver, settings) in CURVES.items()
        ]
        panels.append(Clipped(x, y, (*lines,), title=title, least=LEAST))
    draw(folder / "orthogonalization-errors.png", "Error of the polar factor by products", panels,
         "one matrix each")  # fmt: skip


def spent(solver: str, A: Array) -> tuple[float, float]:
    """Return the flops and the least CPU seconds of five steps of Polar Express."""
    chosen: Any = catalogue().solver(solver, {"coefficients": "polar-express", "steps": 5})
    oracle, seconds = ob.polar(A).oracle, []
    for _ in range(TURNS):
        begin = process_time()
        state = chosen.init(oracle, np.random.default_rng(0))
        chosen.advance(oracle, state, 5)
        seconds.append(process_time() - begin)
    return float(state.work.flops), min(seconds)


def draw_forms(folder: Path) -> None:
    """Draw flops and seconds of both forms against the aspect."""
    forms = {"plain": "newton-schulz", "Gram, restart after step 2": "gram-newton-schulz"}
    rng = np.random.default_rng(0)
    rows = []
    for aspect in ASPECTS:
        A = rng.standard_normal((int(aspect * COLUMNS), COLUMNS))
        rows.append([spent(solver, A) for solver in forms.values()])
    found = np.array(rows)  # aspects, forms, flops and seconds
    x, panels = Axis("aspect", f"rows over columns, of {COLUMNS} columns", log=False), []
    for which, unit, label in ((0, 1e9, "Gflops"), (1, 1e-3, "CPU time (ms)")):
        crossed = np.interp(0, np.log(found[:, 0, which] / found[:, 1, which]), ASPECTS)
        lines = [
            Series(name, np.array(ASPECTS), found[:, form, which] / unit, solver=name)
            for form, name in enumerate(forms)
        ]
        panels.append(Panel(
            x, Axis(label, label, log=False), (*lines,), rules=(float(crossed),),
            title=f"equal at {crossed:.2g}",
        ))  # fmt: skip
        ratios = np.round(found[:, 1, which] / found[:, 0, which], 2)
        echo(f"{label}: equal at {crossed:.2f}, ratios {ratios}")
    draw(folder / "orthogonalization-forms.png", "Five steps of Polar Express", panels,
         "one thread")  # fmt: skip


def trained() -> Iterator[str]:
    """Yield what each method reaches in one pass over batches of 20, with its best step."""
    made = problem("stiefel-procrustes", {"n": 64, "p": 32, "rows": 4000})
    for label, (solver, parameters) in TRAINING.items():
        gaps, seconds = {}, []
        for rate in RATES:
            runs = [one_pass(made, solver, seed, rate, parameters) for seed in range(SEEDS)]
            gaps[rate] = [gap for gap, _ in runs]
            seconds.extend(spent for _, spent in runs)
        best = min(RATES, key=lambda rate: np.median(gaps[rate]))
        yield f"| {label} | {np.median(gaps[best]):.2g} | {best:g} | {np.median(seconds):.2g} |"


def one_pass(
    made: AnyProblem, solver: str, seed: int, rate: float, parameters: dict[str, Any]
) -> tuple[float, float]:
    """Return the gap at the end, over that at the start, and ms a step."""
    budget = ob.Budget(samples=4000)
    outcome = ob.solve(solver, made, budget, seed=seed, batch=20, step=rate, **parameters)
    first, last = outcome.trace[0].metrics, outcome.trace[-1]
    share = last.metrics["objective_gap"] / first["objective_gap"]
    return share, 1e3 * last.seconds / last.work.steps


def main(folder: Path) -> None:
    """Draw both pictures, and print the table."""
    folder.mkdir(parents=True, exist_ok=True)
    with limited(1):
        draw_errors(folder)
        draw_forms(folder)
        echo("| method | gap left | step | ms a step |\n|---|---|---|---|")
        for line in trained():
            echo(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
