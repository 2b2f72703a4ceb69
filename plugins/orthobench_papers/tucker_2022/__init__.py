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

NOTES = """
**Corrected misprints and gaps.** Those that can be measured are claims of their own, as printed.

1. Algorithm 2, line 3, prints the factor 2d/b; the gradient of (12) has 2d/b².
2. Algorithm 3, line 6, prints gamma_t on its right for gamma_{t-1}; Algorithm 2's gamma_2 begins at
   t = T1; T2 counts iterations of Phase II (Table 2: 20 + 180 batches of 50 are 10,000 samples).
3. The objective value of section 4.4 is the sum of the entries of (X'QQ'X)^[d] over p², not a norm.
4. Equation 16 means root mean square norms; norms of means are zero.
5. The relative error of section 4.5 is the squared ratio; for Tucker it is 1 - F/|M|².
6. Section 2.3 speaks of the negative gradient: it is ascent. Equation 12 and Remark 5 print
   transposes on X that should not be there. Remark 8 means Algorithm 1, not 2.
7. Figure 3: the text has T = 250, the captions T1 = T2 = 10; for all samples the text has c2 = 1,
   the caption 10; with c1 = 0.05 the basis hardly moves.
8. Algorithm 2 matches Algorithm 1 only if that takes the same column-wise steps.
9. Batches optimize a biased objective, and column-wise AdaGrad depends on the basis of a subspace:
   Theorems 6.1 and 6.2 do not cover Algorithm 2.
10. c2 = 1000 is in effect the power iteration.

**Departures.** The paper gives no parameters of the normal-inverse Gaussian factors: skewness 1.5
and fourth moment 9 unless said. Loadings B are drawn anew for each seed, where the paper draws them
once; medians over seeds replace its averages of five runs. gamma_0 is 1e-5 times the first
gradient, where the paper has the plain 1e-5, which stops all motion on data of small scale, such as
returns as fractions. If a parameter is not printed, as T1 in Figures 4 and 5, half of the batches
go to each phase. HOOI, quasi-Newton and trust regions are this project's implementations, without
its own preconditioning, not the packages that the paper timed.

**Not drawn.** Figure 1 is an illustration, and its claim is Remark 1; that of Figure 6 is the size
of the image, that of Figure 10 what it says of updates. The images of Figure 7 are exhibits of the
problem `hsi-anomaly`; their claims count pixels.
"""

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
