"""Claims without suites that take milliseconds: as published on few seeds, at the small size."""

import pytest
from cases import case
from written import Written

from orthobench.registry.claims import Verdict
from orthobench.registry.plugins import catalogue
from orthobench.tools import environment

PAPERS = (
    "msg-2013", "wen-yin-2013", "givens-2014", "landing-2022", "tucker-2022", "rsdm-2025",
    "pogo-2026", "muon-2024", "polar-express-2025", "gram-newton-schulz", "turbo-muon-2025",
    "spel-2026", "manifold-muon-2025", "oft-2026", "mspca-2026",
)  # fmt: skip
LONG = {
    "msg-2013": {"rounding-keeps-the-objective", "algorithm-2-as-printed", "algorithm-2-corrected",
                 "capped-projection-is-a-subset", "incremental-trap", "msg-rank-grows-by-one",
                 "msg-small-eigenvalues", "msg-short-stays", "capped-msg-needs-a-spare-direction"},
    "givens-2014": {"steps-never-worsen", "iteration-quadratic", "moments-decompose"},
    "landing-2022": {"lands"},
    "tucker-2022": {"overhead", "storage", "hoevd-bound", "hoevd-attracts", "batch-cost",
                    "noise-over-signal", "monotone", "convergent", "second-order-critical"},
    "rsdm-2025": {"faster-than-descent", "faster-in-public", "faster-than-searched",
                  "stays-feasible"},
    "pogo-2026": {"fewer-than-constant", "fewer-than-searched"},
    "muon-2024": {"stable-in-bfloat16"},
    "gram-newton-schulz": {"equivalent", "equivalent-in-float16", "equivalent-in-bfloat16",
                           "fewer-products", "restart-needed", "restart-needed-for-gaussian"},
    "turbo-muon-2025": {"one-step-fewer", "same-quality", "same-quality-of-others", "small-bias",
                        "one-step-fewer-of-others"},
    "spel-2026": {"gains-by-projection", "converges", "converges-with-constant-steps"},
    "manifold-muon-2025": {"converges-in-100", "converges-in-100-of-small", "converges-in-units",
                           "steepest", "admm-faster", "admm-faster-in-units"},
    "mspca-2026": {"orthogonal", "orthogonal-pitprops", "all-mtcars", "all-pitprops"},
}  # fmt: skip
"""Those that take longer."""


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_are_as_published(paper, monkeypatch):
    monkeypatch.setattr(environment, "version", lambda name: None)  # to import PyTorch takes long
    for claim in catalogue().paper(paper).claims:
        if not claim.check or claim.suites or claim.data or claim.name in LONG.get(paper, ()):
            continue
        with case(claim.name):
            found = claim.check(Written())
            if found.verdict is Verdict.UNDECIDED:  # a share, of too few runs for an interval
                found = claim.check(Written(seeds=range(9)))
                assert (found.value == 1) == (claim.known is Verdict.HOLDS)
            else:
                assert found.verdict is claim.known


class TakenError(Exception):
    """How many seeds a check asks for."""


class Seeds:
    def __getitem__(self, seeds):
        raise TakenError(seeds.stop)


TAKEN = {
    "msg-2013": {
        (10, 40): "rounding-keeps-the-objective",
        (3, 10): "algorithm-1-is-projected-gradient algorithm-2-as-printed "
                 "algorithm-2-corrected warmuth-kuzmin-is-mirror-descent "
                 "capped-projection-is-a-subset",
        (2, 10): "msg-rank-grows-by-one msg-small-eigenvalues msg-short-stays",
        (20, 40): "capped-msg-needs-a-spare-direction",
    },
    "wen-yin-2013": {
        (10, 10): "stays-feasible slope low-rank neumann neumann-of-long slope-of-the-code",
        (20, 20): "rule-of-the-code rule",
        (5, 5): "eigenvalues",
    },
    "givens-2014": {
        (400, 400): "rotation-sign rotation-sign-corrected rotations-suffice "
                    "sufficient-decrease formulations-agree only-factors-are-stable "
                    "local-maxima-are-left-corrected equation-11 equation-11-corrected "
                    "three-maxima",
        (20, 20): "rotation-costs-6d",
        (2, 10): "steps-never-worsen",
        (20, 100): "minima-attract",
        (100, 400): "minima-attract-corrected",
        (10, 10): "iteration-linear",
        (5, 20): "moments-decompose",
    },
    "landing-2022": {
        (100, 100): "orthogonal-terms",
        (200, 2000): "safe-step-of-the-code safe-step-unbounded safe-step-bounded",
        (1, 5): "lands",
        (9, 9): "as-few-steps",
        (3, 3): "heals-rounding",
    },
    "tucker-2022": {
        (3, 3): "best-core gradient negative-gradient one-update-a-subspace "
                "riemannian-gradient first-order-change riemannian-hessian update-differential",
        (4, 12): "hoevd-bound",
        (10, 30): "hoevd-attracts",
        (4, 4): "implicit-objective batch-gradient batch-gradient-as-printed hoevd-gradient "
                "core-of-samples objective-value objective-value-corrected "
                "tucker-is-more-accurate",
        (10, 10): "batch-cost noise-over-signal step-of-1000 unstable-saddles",
        (6, 6): "implicit-hoevd algorithm-2-matches algorithm-2-matches-with-adagrad",
        (3, 10): "monotone convergent second-order-critical",
        (40, 40): "oscillation",
    },
    "rsdm-2025": {
        (20, 20): "submanifold-gradient",
        (5, 5): "whole-size",
        (10, 10): "condition-printed condition-public",
        (3, 5): "faster-than-descent faster-in-public faster-than-searched",
        (3, 3): "stays-feasible",
    },
    "pogo-2026": {
        (20, 20): "at-all-times at-long-steps fourth-order heals real-root half-is-best",
        (3, 5): "fewer-than-constant fewer-than-searched",
    },
    "muon-2024": {
        (3, 10): "half-to-three-halves half-to-three-halves-of-any uniform stable-in-bfloat16 "
                 "precisely-at-one precisely-at-one-of-any four-decimals "
                 "four-decimals-in-bfloat16",
    },
    "polar-express-2025": {
        (3, 5): "third-of-the-steps fewer-products fewer-than-you fewer-than-you-at-100",
        (3, 10): "better-after-five better-after-five-of-gaussian better-in-bfloat16 "
                 "defect-in-tests cycled",
    },
    "gram-newton-schulz": {
        (3, 3): "equivalent equivalent-in-float16 equivalent-in-bfloat16 restart-needed "
                "restart-needed-for-gaussian",
        (3, 1): "fewer-products fewer-products-of-square half half-at-8",
    },
    "turbo-muon-2025": {
        (3, 5): "one-step-fewer one-step-fewer-of-square one-step-fewer-of-others same-quality "
                "same-quality-of-others small-bias small-bias-of-others",
    },
    "spel-2026": {
        (3, 3): "feasible tangent",
        (5, 5): "converges converges-with-constant-steps",
        (2, 5): "gains-by-projection",
    },
    "manifold-muon-2025": {
        (2, 2): "converges-in-100 converges-in-100-of-small converges-in-units steepest "
                "admm-faster admm-faster-in-units",
    },
    "oft-2026": {
        (3, 3): "error error-is-a-power exact same-rotation square-root",
    },
    "cca-packages": {
        (10, 20): "small-batches large-batches",
        (3, 3): "order",
    },
}  # fmt: skip
"""The claims that take so many seeds at the small size and at the size of the page."""


@pytest.mark.parametrize("paper", TAKEN)
def test_checks_take_their_seeds(paper):
    claims = {one.name: one for one in catalogue().paper(paper).claims}
    for counts, names in TAKEN[paper].items():
        for name in names.split():
            for quick, count in zip((True, False), counts, strict=True):
                with case(name), pytest.raises(TakenError, match=rf"^{count}$"):
                    claims[name].check(Written(quick=quick, seeds=Seeds()))
