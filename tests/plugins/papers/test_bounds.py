"""Values at which claims without suites change their verdict, in place of what they measure."""

from importlib import import_module

import numpy as np
import pytest
from constructed import Constructed
from orthobench_papers import (
    cca_packages,
    pogo_2026,
)
from orthobench_papers.tucker_2022 import section_3

from orthobench.registry.claims import Verdict
from orthobench.registry.plugins import catalogue

paper_of = catalogue().paper
TUCKER = paper_of("tucker-2022")

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
POGO = Constructed(paper_of("pogo-2026"), size="quick")


def claim(paper, name):
    (found,) = (one for one in paper.claims if one.name == name)
    return found


def given(value):
    """Return what returns a number whatever it is given."""
    return lambda *_, **options: value


ROWS = [
    (paper_of("muon-2024"), "half-to-three-halves", "off_one", [0.5], [0.501]),
    (paper_of("muon-2024"), "half-to-three-halves-of-any", "off_one", [0.5], [0.501]),
    (paper_of("muon-2024"), "precisely-at-one", "off_one", [1 / 128], [1 / 127]),
    (paper_of("muon-2024"), "precisely-at-one-of-any", "off_one", [1 / 128], [1 / 127]),
    (paper_of("muon-2024"), "four-decimals", "off_one", [0.12], [0.121]),
    (paper_of("muon-2024"), "four-decimals-in-bfloat16", "off_one", [0.5], [0.501]),
    (paper_of("polar-express-2025"), "defect-in-tests", "off_unit", [0.13], [0.131]),
    (paper_of("gram-newton-schulz"), "equivalent", "distance", [1e-10], [1.1e-10]),
    (paper_of("turbo-muon-2025"), "small-bias", "metrics", [0.05], [0.051]),
    (paper_of("turbo-muon-2025"), "small-bias-of-others", "metrics", [0.05], [0.051]),
    (paper_of("manifold-muon-2025"), "converges-in-100", "off_tangent", [1e-6], [1.1e-6]),
    (paper_of("manifold-muon-2025"), "converges-in-100-of-small", "off_tangent",
     [2e-3], [2.1e-3]),
    (paper_of("manifold-muon-2025"), "converges-in-units", "off_tangent",
     [2e-3], [2.1e-3]),
    (paper_of("oft-2026"), "error", "defect", [0.1, 0.5], [0.099, 0.501]),
    (paper_of("oft-2026"), "exact", "defect", [0.0, 2e-6], [2.1e-6]),
    (paper_of("pogo-2026"), "at-all-times", "defect", [1e-6], [1.1e-6]),
    (paper_of("pogo-2026"), "at-long-steps", "defect", [1e-6], [1.1e-6]),
    (paper_of("landing-2022"), "safe-step-of-the-code", "worst_defect", [0.5], [0.5001]),
    (paper_of("landing-2022"), "safe-step-unbounded", "worst_defect", [0.5], [0.5001]),
    (paper_of("landing-2022"), "safe-step-bounded", "worst_defect", [0.5], [0.5001]),
    (paper_of("wen-yin-2013"), "stays-feasible", "drift", [1e-12], [1.1e-12]),
    (paper_of("wen-yin-2013"), "neumann", "drift", [1e-5], [1.1e-5]),
    (paper_of("wen-yin-2013"), "neumann-of-long", "drift", [1e-5], [1.1e-5]),
    (paper_of("wen-yin-2013"), "rule", "first_steps", [[0, -1]], [[1e-12, -1]]),
    (paper_of("wen-yin-2013"), "rule-of-the-code", "first_steps", [[0, -1]], [[1e-12, -1]]),
    (paper_of("wen-yin-2013"), "slope", "slope_ratios", [[0.99999, 1.00001]],
     [[1, 0.99998], [1.00002, 1]]),
    (paper_of("wen-yin-2013"), "slope-of-the-code", "slope_ratios", [[0.99999, 1.00001]],
     [[1, 0.99998], [1.00002, 1]]),
    (paper_of("rsdm-2025"), "condition-printed", "conditions", [[999.1] * 2, [1000.9] * 2],
     [[998.9] * 2, [1001.1] * 2]),
    (paper_of("rsdm-2025"), "condition-public", "conditions", [[1e300, 1]], [[1.1e300, 1]]),
    (paper_of("cca-packages"), "order", "disorder", [1e-5], [0.9e-5]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("paper", "name", "measured", "inside", "outside"),
    [pytest.param(*row, id=f"{row[0].name} {row[1]}") for row in ROWS],
)
def test_a_claim_changes_its_verdict_at_its_bound(
    paper, name, measured, inside, outside, monkeypatch
):
    module = import_module(f"orthobench_papers.{paper.name.replace('-', '_')}")
    costly = {"newton_schulz", "gram_newton_schulz", "solved"} & {*vars(module)} - {measured}
    for costs in costly:
        monkeypatch.setattr(module, costs, given((None, 0)))
    if hasattr(module, "drawn"):
        monkeypatch.setattr(module, "drawn", given([None] * 2))
    for values, verdict in ((inside, HOLDS), (outside, FAILS)):
        for value in values:
            made = {"distance": value} if measured == "metrics" else value
            monkeypatch.setattr(module, measured, given(made))
            found = claim(paper, name).check(Constructed(paper, size="quick"))
            assert found.verdict is verdict
            assert found.value in np.ravel(value) or measured == "conditions"


OF_DENSE = [
    ("algorithm-2-matches", "distance", 1e-8),
    ("algorithm-2-matches-with-adagrad", "distance", 1e-7),
    ("batch-gradient", "distance", 1e-5), ("hoevd-gradient", "distance", 1e-5),
    ("implicit-hoevd", "distance", 1e-7), ("one-update-a-subspace", "distance", 1e-7),
    ("gradient", "deviation", 1e-6), ("core-of-samples", "deviation", 1e-10),
    ("riemannian-gradient", "deviation", 1e-6), ("riemannian-hessian", "deviation", 1e-4),
    ("update-differential", "deviation", 1e-5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "measured", "bound"), OF_DENSE)
def test_formulae_agree_up_to_rounding(name, measured, bound, monkeypatch):
    for value, verdict in ((bound, HOLDS), (1.1 * bound, FAILS)):
        monkeypatch.setattr(section_3.dense, measured, given(value))
        found = claim(paper_of("tucker-2022"), name).check(
            Constructed(paper_of("tucker-2022"), size="smoke")
        )
        assert (found.value, found.verdict) == (value, verdict)


class TestPogo:
    @pytest.mark.parametrize(
        ("order", "verdict"),
        [(3.87, HOLDS), (4.12, HOLDS), (3.85, FAILS), (4.14, FAILS)],
    )
    def test_the_fourth_order_is_by_halving_the_step(self, order, verdict, monkeypatch):
        monkeypatch.setattr(pogo_2026, "defect", lambda seed, step: step**order)
        found = pogo_2026.fourth_order(POGO)
        assert (found.value, found.verdict) == (pytest.approx(2**order), verdict)

    @pytest.mark.parametrize(
        ("roots", "share"), [([0.5, 2, 1j, -1j], 1), ([1j, -1j, 1 + 1e-6j, 1 - 1e-6j], 0)]
    )
    def test_one_real_root_is_enough(self, roots, share, monkeypatch):
        monkeypatch.setattr(pogo_2026, "quartic", given(np.poly(roots)))
        found = pogo_2026.real_root(POGO)
        assert (found.value, found.verdict) == (share, HOLDS if share else FAILS)

    @pytest.mark.parametrize(
        ("weight", "verdict"), [(0.491, HOLDS), (0.509, HOLDS), (0.489, FAILS), (0.511, FAILS)]
    )
    def test_the_best_weight_is_where_the_quartic_is_least(self, weight, verdict, monkeypatch):
        """Of (x - w)² (x - 3)² + x, whose other minimum, near 3, is higher by about 2.5."""
        made = np.polyadd(np.poly([weight, weight, 3, 3]), [1e-9, 0])
        monkeypatch.setattr(pogo_2026, "quartic", given(made))
        found = pogo_2026.half_is_best(POGO)
        assert (found.value, found.verdict) == (pytest.approx(weight, abs=1e-6), verdict)


def test_small_batches_diverge_where_large_ones_do_not():
    assert cca_packages.diverges(0, 10, 0.08)
    assert not cca_packages.diverges(0, 10, 0.01)


def test_pairs_are_standardized_and_share_five_variables():
    X, Y = cca_packages.pairs(0)
    for side in (X, Y):
        assert side.mean(axis=0) == pytest.approx(np.zeros(50), abs=1e-12)
        assert side.std(axis=0) == pytest.approx(np.ones(50))
    bases = [np.linalg.qr(side)[0] for side in (X, Y)]
    correlations = np.linalg.svd(bases[0].T @ bases[1])[1]
    assert correlations[4] > 0.85
    assert correlations[5] < 0.4
