"""The benchmark of msPCA 0.5.1 (2026): sparse components at the cardinality that was asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import orthobench as ob
from orthobench.reproduce import (
    Claim,
    Evidence,
    Measurement,
    Paper,
    Verdict,
    always_within,
    catalogue,
)

Row = tuple[str, list[int], dict[str, float], float]
"""A solver, what it delivers of each component, the metrics, and seconds."""

OURS = (
    "tpower", "tpower-orthogonal", "gpower", "aman-pg", "sparse-pca-exact", "sparse-pca-blocks",
    "sklearn-minibatch-sparse-pca",
)  # fmt: skip


def row(solver: str, data: str, m: int) -> Row:
    """Return what a solver delivers of four loadings for each of m components."""
    problem = catalogue().problem("classic-sparse", {"data": data, "m": m, "cardinality": 4})
    outcome = ob.solve(solver, problem.build(np.random.default_rng(0)))
    Z = np.asarray(outcome.solution)
    last, counts = outcome.trace[-1], np.count_nonzero(Z, axis=0)
    return solver, counts.tolist(), dict(last.metrics), last.seconds


def said(found: Row) -> str:
    """Return a row in words."""
    solver, counts, metrics, seconds = found
    return (
        f"by `{solver}`: {', '.join(map(str, counts))} loadings where 4 each were asked for, "
        f"overlap {metrics['overlap']:.3g}, {seconds:.2g} s"
    )


def explained(solver: str, data: str, m: int, low: float, high: float) -> Measurement:
    """Measure the variance explained."""
    found = row(solver, data, m)
    return always_within(
        [found[2]["explained_variance"]], low, high, f"variance explained {said(found)}"
    )


def deflated(evidence: Evidence) -> Measurement:
    """Measure components by deflation on mtcars."""
    del evidence
    return explained("tpower", "mtcars", 3, 0.8315, 0.8325)


def orthogonal(evidence: Evidence) -> Measurement:
    """Measure components that are driven to be orthogonal on mtcars."""
    del evidence
    return explained("tpower-orthogonal", "mtcars", 3, 0.8285, 0.8295)


def orthogonal_pitprops(evidence: Evidence) -> Measurement:
    """Measure components that are driven to be orthogonal on pitprops."""
    del evidence
    return explained("tpower-orthogonal", "pitprops", 6, 0.7855, 0.8015)


def pitprops(evidence: Evidence) -> Measurement:
    """Measure components by deflation on pitprops, against the printed .800."""
    del evidence
    return explained("tpower", "pitprops", 6, 0.7995, 0.8005)


def undelivered(data: str, m: int) -> Measurement:
    """Measure what each solver leaves undelivered; say the whole row of each."""
    found = [row(solver, data, m) for solver in OURS]
    rows = "; ".join(f"{one[2]['explained_variance']:.3f} {said(one)}" for one in found)
    most = max(one[2]["undelivered"] for one in found)
    return always_within([most], high=0, text=f"the most undelivered; variance explained {rows}")


def all_of_mtcars(evidence: Evidence) -> Measurement:
    """Measure all solvers on mtcars."""
    del evidence
    return undelivered("mtcars", 3)


def all_of_pitprops(evidence: Evidence) -> Measurement:
    """Measure all solvers on pitprops."""
    del evidence
    return undelivered("pitprops", 6)


def uncontrolled(evidence: Evidence) -> Measurement:
    """Count the loadings of the fullest component that a penalty delivers, less the emptiest."""
    del evidence
    found = row("aman-pg", "mtcars", 3)
    return always_within(
        [max(found[1]) - min(found[1])], low=1, text=f"fullest less emptiest {said(found)}"
    )


NOTES = """
- **The table.** Requested are four loadings of each component. The printed violation is our
  overlap: the sum of |z_s'z_t| over pairs. Seconds are of one run each, on a machine of two cores
  that had other work.
- **Pitprops**: only correlations were published. The benchmark draws 500 samples of them for
  `nsprcomp`; here the matrix itself is used, which explains the difference.
- **Not here**: the breast cancer and riboflavin data, which are not ours to redistribute.
"""

MSPCA_2026 = Paper(
    name="mspca-2026",
    reference=(
        "Jean Pauphilet and Ryan Cory-Wright: *msPCA: Multiple sparse PCA in R*, version 0.5.1, "
        "article *Benchmarking against other sparse PCA packages*, 2026."
    ),
    claims=(
        Claim(
            "deflated", "Deflation (`nsprcomp`) explains .832 of mtcars with (4, 4, 4) loadings.",
            "table mtcars", deflated, printed=".832 at an overlap of .078",
        ),
        Claim(
            "orthogonal", "Orthogonal components (`msPCA`) explain .829 of mtcars.",
            "table mtcars", orthogonal, printed=".829 at 9.4e-05",
        ),
        Claim(
            "pitprops", "Deflation (`nsprcomp`) explains .800 of pitprops with six times four.",
            "table Pitprops", pitprops, printed=".800 at an overlap of .626",
            known=Verdict.FAILS,
            reason="On the published matrix itself more is explained than on samples drawn of it.",
        ),
        Claim(
            "orthogonal-pitprops",
            "Orthogonal components (`msPCA`) explain .786 to .801 of pitprops with six times four.",
            "table Pitprops", orthogonal_pitprops,
            printed=".786 at 9.7e-05 of the covariance, .801 at 9.5e-05 of data",
        ),
        Claim(
            "all-mtcars",
            "Of eleven runs on mtcars six deliver four loadings of each of three components.",
            "table mtcars", all_of_mtcars,
            printed="(4, 4, 5), (7, 4, 1), (6, 3, 3), (7, 4, 2) and (4, 4, 3) by the others",
        ),
        Claim(
            "all-pitprops",
            "Of eleven runs on pitprops six deliver four loadings of each of six components.",
            "table Pitprops", all_of_pitprops,
            printed="from (8, 4, 3, 1, 3, 5) to (8, 6, 9, 2, 3, 5) by the others",
        ),
        Claim(
            "uncontrolled",
            "A method with an l1 penalty (`amanpg`) cannot be given a number for each component.",
            "discussion", uncontrolled, printed="(7, 4, 2)", known=Verdict.FAILS,
            reason="Bisection of the penalty, component by component, delivers four of each.",
        ),
    ),
    suites=Path(__file__).parent / "mspca_2026",
    notes=NOTES,
)  # fmt: skip
"""The claims; there are no suites."""
