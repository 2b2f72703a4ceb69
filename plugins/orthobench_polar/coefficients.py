"""Schedules of odd polynomials x <- a x + b x³ + c x⁵."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orthobench_kit.polar import NEWTON_SCHULZ, Coefficients

JORDAN: Coefficients = (3.4445, -4.7750, 2.0315)


@dataclass(frozen=True)
class Schedule:
    """The polynomials of a method, one for each step; the last one is repeated.

    `default` is the number of steps in the source. Singular values are divided by `safety` before
    each polynomial but the last, against rounding.
    """

    steps: tuple[Coefficients, ...]
    default: int
    safety: float = 1.0

    def at(self, number: int, safety: float = 0.0) -> Coefficients:
        """Return the polynomial of a step, from 0; `safety` replaces the schedule's unless 0."""
        a, b, c = self.steps[min(number, len(self.steps) - 1)]
        s = safety or self.safety
        if s == 1 or number >= len(self.steps) - 1:
            return a, b, c
        return a / s, b / s**3, c / s**5


SCHEDULES: Mapping[str, Schedule] = {
    # Jordan et al. 2024, Muon
    "jordan": Schedule((JORDAN,), 5),
    # You 2024, as given by Jordan et al.
    "you": Schedule(
        (
            (4.0848, -6.8946, 2.9270),
            (3.9505, -6.3029, 2.6377),
            (3.7418, -5.5913, 2.3037),
            (2.8769, -3.1427, 1.2046),
            (2.8366, -3.0525, 1.2012),
        ),
        5,
    ),
    # Amsel, Persson, Musco and Gower 2025, arXiv:2505.16932
    "polar-express": Schedule(
        (
            (8.28721201814563, -23.595886519098837, 17.300387312530933),
            (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
            (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
            (3.3184196573706015, -2.488488024314874, 0.51004894012372),
            (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
            (1.891301407787398, -1.2679958271945868, 0.37680408948524835),
            (1.8750014808534479, -1.2500016453999487, 0.3750001645474248),
            (1.875, -1.25, 0.375),
        ),
        8,
        safety=1.01,
    ),
    # Grishina, Smirnov and Rakhuba 2025, arXiv:2506.10935, for [0.001, 1]
    "cans": Schedule(
        (
            (8.4703288, -25.10807471, 18.6292756),
            (4.18283418, -3.10870111, 0.58060668),
            (3.96185728, -2.95406375, 0.56297612),
            (3.28658622, -2.46472013, 0.50735769),
            (2.27374999, -1.64466037, 0.41619093),
        ),
        5,
    ),
    # as reported for DeepSeek-V4
    "deepseek-v4": Schedule((JORDAN,) * 8 + ((2.0, -1.5, 0.5),), 10),
    # Björck and Bowie 1971
    "cubic": Schedule((NEWTON_SCHULZ,), 30),
    # Huang 2026, arXiv:2606.00371, as in NVIDIA-NeMo/Emerging-Optimizers pull request 217
    "cubic5": Schedule(
        (
            (3.3656576, -3.3420992, 0.0),
            (2.5744352, -1.4957376, 0.0),
            (2.5368962, -1.4312570, 0.0),
            (2.4418906, -1.2764040, 0.0),
            (2.2230472, -0.9630650, 0.0),
        ),
        5,
    ),
    # Kovarik 1970
    "quintic": Schedule(((1.875, -1.25, 0.375),), 20),
}
"""The schedules by name."""
