"""Draw docs/pictures/derivatives.png: Taylor errors of right and wrong gradients, by step.

python docs/derivatives.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent / "_ext"))
from drawing import draw

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, random_point

N, P = 30, 3
STEPS = np.logspace(-6, -0.5, 12)


def cost(X: Array) -> float:
    """Return a quartic."""
    return -float(np.sum(X**4))


GRADIENTS = {
    "right": lambda X: -4 * X**3,
    "too long": lambda X: -4.04 * X**3,
    "row forgotten": lambda X: -4 * X**3 * (np.arange(N) > 0)[:, None],
    "by differences": lambda X: -((X + 1e-5) ** 4 - X**4) / 1e-5,
}


def main(folder: Path) -> None:
    """Draw the errors along one curve through a random point, forward and back."""
    rng = np.random.default_rng(0)
    X = random_point(N, P, rng)
    D = rng.standard_normal((N, P))
    D -= X @ (X.T @ D + D.T @ X) / 2
    D /= np.linalg.norm(D)
    lines = []
    for name, gradient in GRADIENTS.items():
        slope = np.vdot(gradient(X), D)
        halves = [(cost(polar(X + t * D)) - cost(polar(X - t * D))) / 2 for t in STEPS]
        errors = np.abs(np.array(halves) - STEPS * slope)
        lines.append(Series(name, STEPS, errors, solver=name))
    x, y = Axis("step", "step along the curve"), Axis("error", "Taylor error")
    about = "a right gradient has slope 3 until rounding takes over, a wrong one has slope 1"
    draw(
        folder / "derivatives.png",
        "Gradients by their Taylor error",
        [Panel(x, y, (*lines,))],
        about,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
