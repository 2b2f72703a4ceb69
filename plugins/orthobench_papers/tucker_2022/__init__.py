"""Jin, Kileel, Kolda and Ward 2022: Scalable symmetric Tucker tensor decomposition."""

from __future__ import annotations

from pathlib import Path

from orthobench.reproduce import Paper
from orthobench_papers.tucker_2022 import (
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    section_2,
    section_3,
    section_4,
    section_5_1,
    section_5_2,
    section_6,
    table_1,
    table_2,
)
from orthobench_papers.tucker_2022.notes import NOTES

PARTS = (
    table_1, section_2, section_3, section_4, figure_2, figure_3, figure_4, figure_5, table_2,
    section_5_1, section_5_2, section_6,
)  # fmt: skip
"""In the paper's order."""

TUCKER_2022 = Paper(
    name="tucker-2022",
    reference=(
        "Ruhui Jin, Joe Kileel, Tamara G. Kolda and Rachel Ward: *Scalable symmetric Tucker "
        "tensor decomposition*. 2022."
    ),
    claims=tuple(claim for part in PARTS for claim in part.CLAIMS),
    suites=Path(__file__).parent / "suites",
    pictures=tuple(picture for part in PARTS for picture in getattr(part, "PICTURES", ())),
    notes=NOTES,
)
