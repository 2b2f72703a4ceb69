"""Claims of the papers whose methods come with orthobench; it imports no solver or problem."""

from __future__ import annotations

from collections.abc import Iterable

from orthobench.contract import hookimpl
from orthobench.reproduce import Paper


@hookimpl
def orthobench_claims() -> Iterable[Paper]:
    """Return the papers."""
    from orthobench_papers.cca_packages import CCA_PACKAGES
    from orthobench_papers.givens_2014 import GIVENS_2014
    from orthobench_papers.gram_newton_schulz import GRAM_NEWTON_SCHULZ
    from orthobench_papers.landing_2022 import LANDING_2022
    from orthobench_papers.manifold_muon_2025 import MANIFOLD_MUON_2025
    from orthobench_papers.msg_2013 import MSG_2013
    from orthobench_papers.mspca_2026 import MSPCA_2026
    from orthobench_papers.muon_2024 import MUON_2024
    from orthobench_papers.oft_2026 import OFT_2026
    from orthobench_papers.pogo_2026 import POGO_2026
    from orthobench_papers.polar_express_2025 import POLAR_EXPRESS_2025
    from orthobench_papers.rsdm_2025 import RSDM_2025
    from orthobench_papers.spel_2026 import SPEL_2026
    from orthobench_papers.tucker_2022 import TUCKER_2022
    from orthobench_papers.turbo_muon_2025 import TURBO_MUON_2025
    from orthobench_papers.wen_yin_2013 import WEN_YIN_2013

    return [
        MSG_2013, WEN_YIN_2013, GIVENS_2014, LANDING_2022, TUCKER_2022, RSDM_2025, POGO_2026,
        MUON_2024, POLAR_EXPRESS_2025, GRAM_NEWTON_SCHULZ, TURBO_MUON_2025, SPEL_2026,
        MANIFOLD_MUON_2025, OFT_2026, MSPCA_2026, CCA_PACKAGES,
    ]  # fmt: skip
