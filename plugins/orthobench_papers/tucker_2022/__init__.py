"""Jin, Kileel, Kolda and Ward 2022: Scalable symmetric Tucker tensor decomposition."""

from __future__ import annotations

from pathlib import Path

from orthobench.claims import Paper

TUCKER_2022 = Paper(
    name="tucker-2022",
    reference=(
        "Ruhui Jin, Joe Kileel, Tamara G. Kolda and Rachel Ward: *Scalable symmetric Tucker "
        "tensor decomposition*. 2022."
    ),
    claims=(),
    suites=Path(__file__).parent / "suites",
)
