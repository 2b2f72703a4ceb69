"""Draw docs/pictures/derivatives.png: Taylor errors of right and wrong gradients, by step.

python docs/derivatives.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, random_point

N, P = 30, 3
STEPS = np.logspace(-6, -0.5, 23)


def cost(X: Array) -> float:
    """Return a quartic."""
    return -float(np.sum(X**4))


GRADIENTS = {
    "right": lambda X: -4 * X**3,
    "one per cent too long": lambda X: -4.04 * X**3,
    "one row forgotten": lambda X: -4 * X**3 * (np.arange(N) > 0)[:, None],
    "by differences of 1e-5": lambda X: -((X + 1e-5) ** 4 - X**4) / 1e-5,
}


def main(folder: Path) -> None:
    """Draw the errors along one curve through a random point, forward and back."""
    rng = np.random.default_rng(0)
    X = random_point(N, P, rng)
    D = rng.standard_normal((N, P))
    D -= X @ (X.T @ D + D.T @ X) / 2
    D /= np.linalg.norm(D)
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for name, gradient in GRADIENTS.items():
        slope = np.vdot(gradient(X), D)
        halves = [(cost(polar(X + t * D)) - cost(polar(X - t * D))) / 2 for t in STEPS]
        ax.loglog(STEPS, np.abs(np.array(halves) - STEPS * slope), "o-", ms=3, label=name)
    ax.set_xlabel("step along the curve")
    ax.set_ylabel("Taylor error")
    ax.legend(frameon=False)
    figure.savefig(folder / "derivatives.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
