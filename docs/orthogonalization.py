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
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import orthobench as ob
from orthobench.contract import AnyProblem, Array
from orthobench.registry.plugins import catalogue
from orthobench.tools.environment import limited

PICTURES = Path(__file__).parent / "pictures"

SPECTRA: Mapping[str, tuple[str, dict[str, Any]]] = {
    "Gaussian, 256 × 128": ("gaussian-polar", {"p": 128, "aspect": 2.0}),
    "Gaussian, 128 × 128": ("gaussian-polar", {"p": 128}),
    "condition 10⁴, 256 × 128": ("spectrum-polar", {"p": 128, "aspect": 2.0, "condition": 1e4}),
    "gradient of a network": ("network-polar", {"kind": "gradient", "layer": "expand"}),
}
"""Titles, and problems with their parameters."""

CURVES: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "jordan": ("newton-schulz", {"coefficients": "jordan", "steps": 14}, "tab:red"),
    "you": ("newton-schulz", {"coefficients": "you", "steps": 14}, "tab:orange"),
    "cubic": ("newton-schulz", {"coefficients": "cubic", "steps": 24}, "tab:gray"),
    "polar-express": ("newton-schulz", {"coefficients": "polar-express", "steps": 14}, "tab:blue"),
    "turbo, polar-express": (
        "turbo-newton-schulz", {"coefficients": "polar-express", "steps": 13}, "tab:green",
    ),
    "qdwh": ("qdwh", {}, "black"),
}  # fmt: skip
"""Names, solvers with their parameters, and colours."""

MOST = 40
"""The products that are shown."""

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


def curve(solver: str, parameters: dict[str, Any], made: Any) -> tuple[list[float], list[float]]:
    """Return the products and the distance after each step."""
    trace = ob.solve(solver, made, **parameters).trace[1:]
    shown = [mark.metrics for mark in trace]
    return [m["products"] for m in shown], [max(m["distance"], 1e-16) for m in shown]


def draw_errors(folder: Path) -> None:
    """Draw error against products."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex=True, sharey=True)
    for ax, (title, (name, parameters)) in zip(axes.flat, SPECTRA.items(), strict=True):
        made = problem(name, parameters).build(np.random.default_rng(0))
        for label, (solver, settings, colour) in CURVES.items():
            x, y = curve(solver, settings, made)
            ax.plot(x, y, color=colour, label=label, marker=".", lw=1.2, ms=4)
        frame(ax, title)
        ax.set(xlim=(0, MOST), ylim=(1e-8, 2), yscale="log")
    for ax in axes[1]:
        ax.set_xlabel("products of matrices, in units of 2np² flops")
    for ax in axes[:, 0]:
        ax.set_ylabel("|X − UV'| / |UV'|")
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="upper center", ncols=len(CURVES), frameon=False, fontsize=9)
    save(figure, folder / "orthogonalization-errors.png")


def frame(ax: Axes, title: str) -> None:
    """Give an axis a title and no box."""
    ax.set_title(title, fontsize=10, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.5)


def save(figure: Any, path: Path) -> None:
    """Write a figure."""
    figure.tight_layout(rect=(0, 0, 1, 0.95 if figure.legends else 1))
    figure.savefig(path, dpi=110)
    echo(path)


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
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for ax, which, unit, title in zip(
        axes, (0, 1), (1e9, 1e-3), ("Gflops of five steps", "ms of five steps, one thread"),
        strict=True,
    ):  # fmt: skip
        for form, (label, colour) in enumerate(zip(forms, ("tab:gray", "tab:blue"), strict=True)):
            ax.plot(ASPECTS, found[:, form, which] / unit, color=colour, label=label, marker=".")
        frame(ax, title)
        ax.set(xlabel=f"rows over columns, of {COLUMNS} columns", ylim=(0, None))
        crossed = np.interp(0, np.log(found[:, 0, which] / found[:, 1, which]), ASPECTS)
        ax.axvline(crossed, color="black", lw=0.7, ls=":")
        ax.annotate(f"equal at {crossed:.2g}", (crossed, 0), xytext=(4, 4),
                    textcoords="offset points", fontsize=8)  # fmt: skip
        ratios = np.round(found[:, 1, which] / found[:, 0, which], 2)
        echo(f"{title}: equal at {crossed:.2f}, ratios {ratios}")
    axes[0].legend(frameon=False, fontsize=8)
    save(figure, folder / "orthogonalization-forms.png")


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
