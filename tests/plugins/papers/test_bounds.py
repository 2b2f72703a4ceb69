"""Where claims without suites change their verdict: what they measure is replaced by a number."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers import (
    cca_packages,
    gram_newton_schulz,
    landing_2022,
    manifold_muon_2025,
    mspca_2026,
    muon_2024,
    oft_2026,
    pogo_2026,
    polar_express_2025,
    rsdm_2025,
    spel_2026,
    turbo_muon_2025,
    wen_yin_2013,
)
from orthobench_papers.givens_2014 import GIVENS_2014, section_2, section_5
from orthobench_papers.tucker_2022 import TUCKER_2022, section_3, section_4, section_6, table_1
from written import Written

from orthobench.registry.claims import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def claim(paper, name):
    (found,) = (one for one in paper.claims if one.name == name)
    return found


def given(value):
    """Return what returns a number whatever it is given."""
    return lambda *_, **options: value


def power(value):
    """Return what returns the power of a step."""
    return lambda seed, step: step**value


ROWS = [
    (muon_2024.MUON_2024, "half-to-three-halves", "off_one", [0.5], [0.501]),
    (muon_2024.MUON_2024, "half-to-three-halves-of-any", "off_one", [0.5], [0.501]),
    (muon_2024.MUON_2024, "precisely-at-one", "off_one", [1 / 128], [1 / 127]),
    (muon_2024.MUON_2024, "precisely-at-one-of-any", "off_one", [1 / 128], [1 / 127]),
    (muon_2024.MUON_2024, "four-decimals", "off_one", [0.12], [0.121]),
    (muon_2024.MUON_2024, "four-decimals-in-bfloat16", "off_one", [0.5], [0.501]),
    (polar_express_2025.POLAR_EXPRESS_2025, "defect-in-tests", "off_unit", [0.13], [0.131]),
    (gram_newton_schulz.GRAM_NEWTON_SCHULZ, "equivalent", "distance", [1e-10], [1.1e-10]),
    (turbo_muon_2025.TURBO_MUON_2025, "small-bias", "metrics", [0.05], [0.051]),
    (turbo_muon_2025.TURBO_MUON_2025, "small-bias-of-others", "metrics", [0.05], [0.051]),
    (manifold_muon_2025.MANIFOLD_MUON_2025, "converges-in-100", "off_tangent", [1e-6], [1.1e-6]),
    (manifold_muon_2025.MANIFOLD_MUON_2025, "converges-in-100-of-small", "off_tangent",
     [2e-3], [2.1e-3]),
    (manifold_muon_2025.MANIFOLD_MUON_2025, "converges-in-units", "off_tangent",
     [2e-3], [2.1e-3]),
    (oft_2026.OFT_2026, "error", "defect", [0.1, 0.5], [0.099, 0.501]),
    (oft_2026.OFT_2026, "exact", "defect", [0.0, 2e-6], [2.1e-6]),
    (pogo_2026.POGO_2026, "at-all-times", "defect", [1e-6], [1.1e-6]),
    (pogo_2026.POGO_2026, "at-long-steps", "defect", [1e-6], [1.1e-6]),
    (landing_2022.LANDING_2022, "safe-step-of-the-code", "worst_defect", [0.5], [0.5001]),
    (landing_2022.LANDING_2022, "safe-step-unbounded", "worst_defect", [0.5], [0.5001]),
    (landing_2022.LANDING_2022, "safe-step-bounded", "worst_defect", [0.5], [0.5001]),
    (wen_yin_2013.WEN_YIN_2013, "stays-feasible", "drift", [1e-12], [1.1e-12]),
    (wen_yin_2013.WEN_YIN_2013, "neumann", "drift", [1e-5], [1.1e-5]),
    (wen_yin_2013.WEN_YIN_2013, "neumann-of-long", "drift", [1e-5], [1.1e-5]),
    (wen_yin_2013.WEN_YIN_2013, "rule", "first_steps", [[0, -1]], [[1e-12, -1]]),
    (wen_yin_2013.WEN_YIN_2013, "rule-of-the-code", "first_steps", [[0, -1]], [[1e-12, -1]]),
    (wen_yin_2013.WEN_YIN_2013, "slope", "slope_ratios", [[0.99999, 1.00001]],
     [[1, 0.99998], [1.00002, 1]]),
    (wen_yin_2013.WEN_YIN_2013, "slope-of-the-code", "slope_ratios", [[0.99999, 1.00001]],
     [[1, 0.99998], [1.00002, 1]]),
    (rsdm_2025.RSDM_2025, "condition-printed", "conditions", [[999.1] * 2, [1000.9] * 2],
     [[998.9] * 2, [1001.1] * 2]),
    (rsdm_2025.RSDM_2025, "condition-public", "conditions", [[1e300, 1]], [[1.1e300, 1]]),
    (cca_packages.CCA_PACKAGES, "order", "disorder", [1e-5], [0.9e-5]),
]  # fmt: skip
"""Paper, claim, what measures, and values inside the bounds and outside of them."""


@pytest.mark.parametrize(
    ("paper", "name", "measured", "inside", "outside"),
    [pytest.param(*row, id=f"{row[0].name} {row[1]}") for row in ROWS],
)
def test_a_claim_changes_its_verdict_at_its_bound(
    paper, name, measured, inside, outside, monkeypatch
):
    module = MODULES[paper.name]
    costly = {"newton_schulz", "gram_newton_schulz", "solved"} & {*vars(module)} - {measured}
    for costs in costly:
        monkeypatch.setattr(module, costs, given((None, 0)))
    if hasattr(module, "drawn"):
        monkeypatch.setattr(module, "drawn", given([None] * 2))
    for values, verdict in ((inside, HOLDS), (outside, FAILS)):
        for value in values:
            made = {"distance": value} if measured == "metrics" else value
            monkeypatch.setattr(module, measured, given(made))
            found = claim(paper, name).check(Written())
            assert found.verdict is verdict
            assert found.value in np.ravel(value) or measured == "conditions"


MODULES = {
    paper.name: module
    for module in (
        cca_packages, gram_newton_schulz, landing_2022, manifold_muon_2025, mspca_2026, muon_2024,
        oft_2026, pogo_2026, polar_express_2025, rsdm_2025, spel_2026, turbo_muon_2025,
        wen_yin_2013,
    )
    for paper in vars(module).values()
    if hasattr(paper, "claims")
}  # fmt: skip


OF_DENSE = [
    ("algorithm-2-matches", "distance", 1e-8),
    ("algorithm-2-matches-with-adagrad", "distance", 1e-7),
    ("batch-gradient", "distance", 1e-5), ("hoevd-gradient", "distance", 1e-5),
    ("implicit-hoevd", "distance", 1e-7), ("one-update-a-subspace", "distance", 1e-7),
    ("gradient", "deviation", 1e-6), ("core-of-samples", "deviation", 1e-10),
    ("riemannian-gradient", "deviation", 1e-6), ("riemannian-hessian", "deviation", 1e-4),
    ("update-differential", "deviation", 1e-5),
]  # fmt: skip
"""Claims on dense tensors, what they measure, and the largest of it that is rounding."""


@pytest.mark.parametrize(("name", "measured", "bound"), OF_DENSE)
def test_formulae_agree_up_to_rounding(name, measured, bound, monkeypatch):
    for value, verdict in ((bound, HOLDS), (1.1 * bound, FAILS)):
        monkeypatch.setattr(section_3.dense, measured, given(value))
        found = claim(TUCKER_2022, name).check(Written(seeds=range(1)))
        assert (found.value, found.verdict) == (value, verdict)


@pytest.mark.parametrize(
    ("paper", "name", "steps"),
    [
        (rsdm_2025.RSDM_2025, "stays-feasible", 3000),
        (spel_2026.SPEL_2026, "feasible", 100),
        (pogo_2026.POGO_2026, "heals", 6),
    ],
)
@pytest.mark.parametrize(("defect", "verdict"), [(1e-12, HOLDS), (1.1e-12, FAILS)])
def test_a_defect_is_rounding_up_to_a_bound(paper, name, steps, defect, verdict, monkeypatch):
    taken = []

    def advance(count):
        taken.append(count)
        return SimpleNamespace(metrics={"orthogonality_defect": defect})

    monkeypatch.setattr(MODULES[paper.name], "begin_trial", given(SimpleNamespace(advance=advance)))
    found = claim(paper, name).check(Written())
    assert (found.value, found.verdict) == (defect, verdict)
    assert set(taken) == {steps}


@pytest.mark.parametrize(("products", "verdict"), [(5, HOLDS), (6, FAILS)])
def test_a_step_takes_at_most_five_products(products, verdict, monkeypatch):
    """Of a matrix of 60 x 20 and one of 20 x 20, whatever is counted before."""
    flops = iter([777, 777 + 2 * 60 * 20 * 20 * products + 99])

    def advance(steps):
        work = SimpleNamespace(flops=next(flops))
        return SimpleNamespace(state=SimpleNamespace(work=work))

    monkeypatch.setattr(pogo_2026, "begin_trial", given(SimpleNamespace(advance=advance)))
    found = pogo_2026.products(Written())
    assert (found.value, found.verdict) == (products, verdict)


@pytest.mark.parametrize(("size", "verdict"), [(0.99e-10, HOLDS), (1.01e-10, FAILS)])
def test_a_direction_is_tangent_up_to_rounding(size, verdict, monkeypatch):
    """Of a multiple c of X the symmetric part of X'A is c I."""
    monkeypatch.setattr(spel_2026, "projected", lambda X, G: X)
    monkeypatch.setattr(spel_2026, "polar_factor", lambda X: size / 2 * X)
    found = spel_2026.tangent(Written())
    assert (found.value, found.verdict) == (pytest.approx(size), verdict)


@pytest.mark.parametrize(("off", "verdict"), [(0.9e-10, HOLDS), (1.1e-10, FAILS)])
def test_both_forms_of_a_curve_agree_up_to_rounding(off, verdict, monkeypatch):
    exact = wen_yin_2013.curve
    monkeypatch.setattr(wen_yin_2013, "low_rank", lambda X, G, t: exact(X, G, t) + off)
    assert wen_yin_2013.same_curve(Written()).verdict is verdict


@pytest.mark.parametrize(("off", "verdict"), [(0.9e-5, HOLDS), (1.1e-5, FAILS)])
def test_derivatives_agree_up_to_a_bound(off, verdict, monkeypatch):
    """Along a path with derivative (1 + off) K."""

    def path(A):
        return np.eye(5) + (1 + off) * (A - np.eye(5))

    monkeypatch.setattr(rsdm_2025, "orthonormalize", path)
    found = rsdm_2025.submanifold_gradient(Written())
    assert (found.value, found.verdict) == (pytest.approx(off, rel=0.01), verdict)


@pytest.mark.parametrize(("beyond", "verdict"), [(1.1e-6, HOLDS), (0.9e-6, FAILS)])
def test_a_saddle_repels_by_a_multiplier_above_one(beyond, verdict, monkeypatch):
    monkeypatch.setattr(section_6.grassmann, "multipliers", given(np.array([0.5, 1 + beyond])))
    found = section_6.unstable(Written(seeds=range(1)))
    assert (found.value, found.verdict) == (pytest.approx(beyond, rel=1e-6), verdict)


class TestRatios:
    """What is compared is the first over the second."""

    @pytest.mark.parametrize(
        ("name", "metric"),
        [("one-step-fewer", "orthogonality"), ("one-step-fewer-of-square", "orthogonality"),
         ("one-step-fewer-of-others", "orthogonality"), ("same-quality", "distance"),
         ("same-quality-of-others", "distance")],
    )  # fmt: skip
    @pytest.mark.parametrize(("ratio", "verdict"), [(1.049, HOLDS), (1.051, FAILS)])
    def test_a_step_is_saved_up_to_5_percent(self, name, metric, ratio, verdict, monkeypatch):
        found = {"turbo-newton-schulz": {metric: 7 * ratio}, "newton-schulz": {metric: 7}}
        monkeypatch.setattr(turbo_muon_2025, "metrics", lambda solver, A, **_: found[solver])
        one = claim(turbo_muon_2025.TURBO_MUON_2025, name).check(Written())
        assert (one.value, one.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(
        ("name", "precision", "restart", "inside", "outside"),
        [
            ("equivalent-in-float16", "float16", 2, [0, 2], [2.1]),
            ("equivalent-in-bfloat16", "bfloat16", 2, [0, 2], [2.1]),
            ("restart-needed", "float16", 0, [5, 1e9], [4.9]),
            ("restart-needed-for-gaussian", "float16", 0, [5, 1e9], [4.9]),
        ],
    )
    def test_rounding_errors_are_over_those_of_the_plain_form(
        self, name, precision, restart, inside, outside, monkeypatch
    ):
        def distance(form, exact):
            assert exact == "float64"
            return {f"gram {restart} {precision}": 3 * ratio, precision: 3}[form]

        module = gram_newton_schulz
        monkeypatch.setattr(module, "drawn", given([None] * 2))
        monkeypatch.setattr(module, "newton_schulz", lambda A, steps, of="float64": of)
        monkeypatch.setattr(
            module, "gram_newton_schulz", lambda A, steps, again, of: f"gram {again} {of}"
        )
        monkeypatch.setattr(module, "distance", distance)
        for ratio, verdict in [(one, HOLDS) for one in inside] + [(one, FAILS) for one in outside]:
            found = claim(module.GRAM_NEWTON_SCHULZ, name).check(Written())
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(
        ("name", "high", "aspects"),
        [("fewer-products", 1, (2, 4, 8)), ("fewer-products-of-square", 1, (1,)),
         ("half", 0.5, (16,)), ("half-at-8", 0.5, (8,))],
    )  # fmt: skip
    def test_products_are_over_those_of_the_plain_form(self, name, high, aspects, monkeypatch):
        module, seen = gram_newton_schulz, set()
        for ratio, verdict in ((high, HOLDS), (high + 0.001, FAILS)):
            spent = {"gram-newton-schulz": 8 * ratio, "newton-schulz": 8}

            def metrics(solver, A, spent=spent, **_):
                seen.add(len(A) / A.shape[1])
                return {"products": spent[solver]}

            monkeypatch.setattr(module, "metrics", metrics)
            found = claim(module.GRAM_NEWTON_SCHULZ, name).check(Written())
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert seen == {*aspects}

    @pytest.mark.parametrize("aspect", [1, 2, 4])
    def test_products_follow_from_the_flops_in_the_notes(self, aspect):
        found = gram_newton_schulz.products((aspect,), 9)(Written(seeds=range(1)))
        assert found.value == pytest.approx((8 * aspect + 32) / (20 * aspect + 10), rel=0.01)

    @pytest.mark.parametrize(
        ("name", "rival", "times"),
        [("third-of-the-steps", "cubic", 1), ("fewer-products", "cubic", 1.5),
         ("fewer-than-you", "you", 1), ("fewer-than-you-at-100", "you", 1)],
    )  # fmt: skip
    def test_products_of_a_step_are_three_or_two(self, name, rival, times, monkeypatch):
        bound = 0.5 if rival == "cubic" else 0.95
        for ratio, verdict in ((bound - 1e-9, HOLDS), (bound + 0.001, FAILS)):
            steps = {"polar-express": 4 * ratio / times, rival: 4}
            monkeypatch.setattr(polar_express_2025, "steps_to", lambda A, of, s=steps: s[of])
            found = claim(polar_express_2025.POLAR_EXPRESS_2025, name).check(Written())
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    def test_best_polynomials_go_as_far_down_as_up(self, monkeypatch):
        check = claim(polar_express_2025.POLAR_EXPRESS_2025, "optimal").check
        for ratio, verdict in ((0.9989, FAILS), (0.9991, HOLDS), (1.0009, HOLDS), (1.0011, FAILS)):
            ends = np.array([1 - 0.5 * ratio, 1.0, 1.5])
            monkeypatch.setattr(polar_express_2025, "mapped", lambda values, steps, e=ends: e)
            found = check(Written())
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize("name", ["better-after-five", "better-after-five-of-gaussian",
                                      "better-in-bfloat16"])  # fmt: skip
    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (1.001, FAILS)])
    def test_the_worst_of_all_matrices_are_compared(self, name, ratio, verdict, monkeypatch):
        module = polar_express_2025
        seen = {}

        def off_one(first):
            seen[first] = seen.get(first, 0) + 1
            worst = seen[first] % 2 == 0
            return (3 * ratio if first == "polar-express" else 3) if worst else 0.1

        monkeypatch.setattr(module, "schedule", lambda of: [of] * 7)
        monkeypatch.setattr(module, "newton_schulz", lambda A, steps, precision: steps[0])
        monkeypatch.setattr(module, "off_one", off_one)
        found = claim(module.POLAR_EXPRESS_2025, name).check(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(0.951, HOLDS), (1.049, HOLDS), (0.949, FAILS), (1.051, FAILS)]
    )
    def test_rounding_may_cost_5_percent_of_the_gain(self, ratio, verdict, monkeypatch):
        module = muon_2024
        monkeypatch.setattr(module, "newton_schulz", lambda A, steps, precision: precision)
        gains = {"float64": 0.5, "bfloat16": 0.5 * ratio}
        monkeypatch.setattr(module, "gain", lambda A, X: gains[X])
        found = module.stable(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("off", "verdict"), [(0.099, HOLDS), (0.101, FAILS), (-0.101, FAILS)])
    def test_uniform_is_by_quantiles(self, off, verdict, monkeypatch):
        values = np.linspace(0.5, 1.5, 129)[1::2] + off
        monkeypatch.setattr(muon_2024, "newton_schulz", lambda A, steps: np.diag(values))
        found = muon_2024.spread(Written())
        assert (found.value, found.verdict) == (pytest.approx(abs(off)), verdict)

    @pytest.mark.parametrize(
        ("name", "published"), [("admm-faster", True), ("admm-faster-in-units", False)]
    )
    @pytest.mark.parametrize(("steps", "verdict"), [(10, HOLDS), (11, FAILS)])
    def test_admm_is_to_take_half_of_the_dual_steps(
        self, name, published, steps, verdict, monkeypatch
    ):
        def dual_steps(X, G, dual="", **rival):
            assert dual == "admm" or rival == (
                {"relative": False, "dual_step": 0.01} if published else {}
            )
            return steps if dual else 20

        module = manifold_muon_2025
        monkeypatch.setattr(module, "dual_steps", dual_steps)
        found = claim(module.MANIFOLD_MUON_2025, name).check(Written())
        assert (found.value, found.verdict) == (steps / 20, verdict)

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (0.999, FAILS)])
    def test_the_steepest_direction_gains_no_less(self, ratio, verdict, monkeypatch):
        module = manifold_muon_2025
        gains = {"best": 4 * ratio, "polar": 4}
        monkeypatch.setattr(module, "solved", lambda X, G: ("best", 0))
        monkeypatch.setattr(module, "polar_factor", lambda A: "polar")
        monkeypatch.setattr(module, "gain", lambda X, G, A: gains[A])
        found = module.steepest(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("ratio", "verdict"), [(1.021, HOLDS), (1.019, FAILS)])
    def test_the_projection_is_to_gain_2_percent(self, ratio, verdict, monkeypatch):
        monkeypatch.setattr(spel_2026, "stepped", lambda X, G, projection: projection)
        monkeypatch.setattr(spel_2026, "gain", lambda X, G, Y: 3 * ratio if Y else 3)
        found = spel_2026.gains(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (1.01, FAILS)])
    def test_steps_of_pogo_are_over_those_of_descent(self, ratio, verdict, monkeypatch):
        begun = []

        def begin_trial(name, made, seed, **options):
            begun.append((name, options.get("steps"), options["step"]))
            steps = 100 * ratio if name == "pogo" else 100
            return SimpleNamespace(state=SimpleNamespace(work=SimpleNamespace(steps=steps)))

        sizes = []
        monkeypatch.setattr(
            pogo_2026, "pca", lambda n, p, seed, printed: sizes.append((n, p, printed))
        )
        monkeypatch.setattr(pogo_2026, "begin_trial", begin_trial)
        monkeypatch.setattr(pogo_2026, "until", given(None))
        for check in (pogo_2026.fewer_than_constant, pogo_2026.fewer_than_searched):
            found = check(Written(quick=check is pogo_2026.fewer_than_searched, seeds=range(1)))
            assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)
        assert sizes == [(200, 150, False), (60, 45, False)]
        assert begun == [
            ("pogo", None, 0.25), ("riemannian-gradient", "constant", 0.1),
            ("pogo", None, 0.25), ("riemannian-gradient", None, 1e-3),
        ]  # fmt: skip

    @pytest.mark.parametrize(("ratio", "verdict"), [(1, HOLDS), (1.01, FAILS)])
    @pytest.mark.parametrize("name", ["faster-than-descent", "faster-in-public",
                                      "faster-than-searched"])  # fmt: skip
    def test_flops_are_over_those_of_the_rival(self, name, ratio, verdict, monkeypatch):
        rival = "bb" if name == "faster-than-searched" else "gradient descent"

        def costs(evidence, printed):
            assert printed == (name != "faster-in-public")
            spent = {"bb": 9, "gradient descent": 9, "permutation": 80, "rotation": 900}
            return {of: [value] * 2 for of, value in (spent | {rival: 80 / ratio}).items()}

        monkeypatch.setattr(rsdm_2025, "costs", costs)
        found = claim(rsdm_2025.RSDM_2025, name).check(Written())
        assert (found.value, found.verdict) == (pytest.approx(ratio), verdict)

    def test_the_better_sampling_counts_seed_by_seed(self, monkeypatch):
        spent = {"permutation": [1, 9], "rotation": [9, 1], "bb": [2, 2]}
        monkeypatch.setattr(rsdm_2025, "costs", given(spent))
        assert rsdm_2025.faster_than_searched(Written()).value == 0.5


@pytest.mark.parametrize(
    ("paper", "name", "steps"),
    [
        (muon_2024.MUON_2024, "half-to-three-halves", 5),
        (muon_2024.MUON_2024, "half-to-three-halves-of-any", 5),
        (muon_2024.MUON_2024, "uniform", 5),
        (muon_2024.MUON_2024, "stable-in-bfloat16", 5),
        (muon_2024.MUON_2024, "precisely-at-one", 10),
        (muon_2024.MUON_2024, "precisely-at-one-of-any", 10),
        (muon_2024.MUON_2024, "four-decimals", 5),
        (muon_2024.MUON_2024, "four-decimals-in-bfloat16", 5),
        (polar_express_2025.POLAR_EXPRESS_2025, "better-after-five", 5),
        (polar_express_2025.POLAR_EXPRESS_2025, "better-in-bfloat16", 5),
        (polar_express_2025.POLAR_EXPRESS_2025, "defect-in-tests", 5),
        (gram_newton_schulz.GRAM_NEWTON_SCHULZ, "equivalent", 5),
        (gram_newton_schulz.GRAM_NEWTON_SCHULZ, "equivalent-in-float16", 5),
    ],
)
def test_iterations_have_as_many_steps_as_are_said(paper, name, steps, monkeypatch):
    taken = set()

    def plain(A, polynomials, *precision):
        taken.add(len(polynomials))
        return A / np.linalg.norm(A) + len(precision) * 1e-9

    module = MODULES[paper.name]
    monkeypatch.setattr(module, "newton_schulz", plain)
    if hasattr(module, "gram_newton_schulz"):
        monkeypatch.setattr(
            module, "gram_newton_schulz", lambda A, of, restart, *precision: plain(A, of)
        )
    claim(paper, name).check(Written(seeds=range(1)))
    assert taken == {steps}


class TestRuns:
    @pytest.mark.parametrize(("quick", "sizes"), [(True, (60, 45, 21)), (False, (200, 150, 70))])
    def test_all_methods_of_rsdm_run_to_the_gap(self, quick, sizes, monkeypatch):
        begun = []

        def begin_trial(name, made, seed, **options):
            begun.append((name, options.get("sampling"), options.get("steps"), options["step"]))
            assert options.get("size", sizes[2]) == sizes[2]
            return seed * 10 + len(begun)

        def pca(n, p, seed, printed):
            assert (n, p, printed) == (*sizes[:2], True)

        def until(run, gap, most):
            assert (gap, most) == (1e-4, 3000)
            return run

        monkeypatch.setattr(rsdm_2025, "pca", pca)
        monkeypatch.setattr(rsdm_2025, "begin_trial", begin_trial)
        monkeypatch.setattr(rsdm_2025, "until", until)
        found = rsdm_2025.costs(Written(quick=quick, seeds=range(1)), printed=True)
        assert found == {
            "bb": [1], "gradient descent": [2], "permutation": [3], "rotation": [4]
        }  # fmt: skip
        assert begun == [
            ("riemannian-gradient", None, None, 1e-3),
            ("riemannian-gradient", None, "constant", 0.1),
            ("random-submanifold", "permutation", None, 1.5),
            ("random-submanifold", "rotation", None, 1.5),
        ]

    def test_condition_numbers_are_ratios_of_extreme_eigenvalues(self, monkeypatch):
        made = {True: np.diag([5.0, 2, 0.1]), False: np.diag([5.0, 2, -0.1])}

        def matrix(n, seed, printed):
            assert n == (200 if printed else 60)
            return made[printed]

        monkeypatch.setattr(rsdm_2025, "matrix", matrix)
        whole = rsdm_2025.conditions(Written(quick=False), printed=True)
        assert whole == pytest.approx([50, 50])
        assert min(rsdm_2025.conditions(Written(), printed=False)) > 1e300

    def test_small_batches_diverge_where_large_ones_do_not(self):
        assert cca_packages.diverges(0, 10, 0.08)
        assert not cca_packages.diverges(0, 10, 0.01)

    @pytest.mark.parametrize(
        ("name", "bad"), [("small-batches", {(10, 0.08)}), ("large-batches", set())]
    )
    def test_which_batches_and_steps_are_to_diverge(self, name, bad, monkeypatch):
        places = {"small-batches": [(10, 0.08), (200, 0.08)],
                  "large-batches": [(200, 0.2), (10, 0.01)]}[name]  # fmt: skip
        check = claim(cca_packages.CCA_PACKAGES, name).check
        for other in (None, *places):
            diverge = bad ^ ({other} - {None})
            monkeypatch.setattr(
                cca_packages, "diverges",
                lambda seed, batch, step, diverge=diverge: (batch, step) in diverge,
            )  # fmt: skip
            found = check(Written(seeds=range(10)))
            assert found.verdict is (FAILS if other else HOLDS)

    def test_order_is_that_of_the_last_components_of_scikit_learn(self, monkeypatch):
        def solve(solver, instance, seed):
            found.append((solver, seed, instance))
            marks = (SimpleNamespace(metrics={"disorder": value}) for value in (1, 2, 3, 0.5))
            return SimpleNamespace(trace=[*marks])

        found = []
        monkeypatch.setattr("orthobench.solve", solve)
        assert cca_packages.disorder(4) == 0.5
        ((solver, seed, instance),) = found
        assert (solver, seed) == ("sklearn-cca", 4)
        # ten shared variables, each the sum over a hundred columns: correlations near one
        assert instance.oracle.k == 10
        assert 0.95 < min(instance.measure.correlations) < max(instance.measure.correlations) < 1

    def test_pairs_are_standardized_and_share_five_variables(self):
        X, Y = cca_packages.pairs(0)
        for side in (X, Y):
            assert side.mean(axis=0) == pytest.approx(np.zeros(50), abs=1e-12)
            assert side.std(axis=0) == pytest.approx(np.ones(50))
        bases = [np.linalg.qr(side)[0] for side in (X, Y)]
        correlations = np.linalg.svd(bases[0].T @ bases[1])[1]
        assert correlations[4] > 0.85
        assert correlations[5] < 0.4


class TestPogo:
    @pytest.mark.parametrize(
        ("order", "verdict"),
        [(3.87, HOLDS), (4.12, HOLDS), (3.85, FAILS), (4.14, FAILS)],
    )
    def test_the_fourth_order_is_by_halving_the_step(self, order, verdict, monkeypatch):
        monkeypatch.setattr(pogo_2026, "defect", power(order))
        found = pogo_2026.fourth_order(Written())
        assert (found.value, found.verdict) == (pytest.approx(2**order), verdict)

    @pytest.mark.parametrize(
        ("roots", "share"), [([0.5, 2, 1j, -1j], 1), ([1j, -1j, 1 + 1e-6j, 1 - 1e-6j], 0)]
    )
    def test_one_real_root_is_enough(self, roots, share, monkeypatch):
        monkeypatch.setattr(pogo_2026, "quartic", given(np.poly(roots)))
        found = pogo_2026.real_root(Written())
        assert (found.value, found.verdict) == (share, HOLDS if share else FAILS)

    @pytest.mark.parametrize(
        ("weight", "verdict"), [(0.491, HOLDS), (0.509, HOLDS), (0.489, FAILS), (0.511, FAILS)]
    )
    def test_the_best_weight_is_where_the_quartic_is_least(self, weight, verdict, monkeypatch):
        """Of (x - w)² (x - 3)² + x, whose other minimum, near 3, is higher by about 2.5."""
        made = np.polyadd(np.poly([weight, weight, 3, 3]), [1e-9, 0])
        monkeypatch.setattr(pogo_2026, "quartic", given(made))
        found = pogo_2026.half_is_best(Written())
        assert (found.value, found.verdict) == (pytest.approx(weight, abs=1e-6), verdict)


class TestLanding:
    @pytest.mark.parametrize(
        ("name", "bound"), [("lands", [1e-8, 1.1e-8]), ("as-few-steps", [2, 2.01]),
                            ("as-few-steps", [0.5, 0.499])],
    )  # fmt: skip
    def test_runs_are_compared_at_their_end(self, name, bound, monkeypatch):
        taken = set()

        def begin_trial(solver, *_, **options):
            def advance(steps):
                taken.add(steps)
                gap = 3 * value if solver == "landing" else 3
                return SimpleNamespace(
                    metrics={"orthogonality_defect": value, "objective_gap": gap}
                )

            return SimpleNamespace(advance=advance)

        monkeypatch.setattr(landing_2022, "begin_trial", begin_trial)
        for value, verdict in zip(bound, (HOLDS, FAILS), strict=True):
            found = claim(landing_2022.LANDING_2022, name).check(Written())
            assert (found.value, found.verdict) == (pytest.approx(value), verdict)
        assert str(*taken) in found.text

    @pytest.mark.parametrize(("d", "a", "field"), [(0.1, 0.7, 2.0), (0.4, 3.0, 5.0)])
    def test_safe_steps_are_roots_of_their_bounds(self, d, a, field):
        t = landing_2022.unbounded(d, a, field)
        assert d - 2 * t * d * (1 - d) + t**2 * field**2 == pytest.approx(0.5)
        s = landing_2022.public(d, a, field)
        spread = a**2 * (1 + d) + 2 * a * d**2 + d**3
        assert d + 2 * s * d * (1 + a) + s**2 * spread == pytest.approx(0.5)
        assert landing_2022.bounded(d, a, field) == min(t, 0.5)
        assert landing_2022.bounded(d, a, 1e-3) == 0.5

    def test_points_are_near_the_group_with_gradients_of_all_sizes(self):
        found = [*landing_2022.points(60, Written(seeds=range(60)))]
        assert max(np.linalg.norm(X.T @ X - np.eye(8)) for X, _ in found) <= 0.5
        sizes = [np.linalg.norm(G) / 8 for _, G in found]
        assert min(sizes) < 0.01
        assert max(sizes) > 10

    @pytest.mark.parametrize("seed", range(3))
    def test_a_start_is_in_the_component_of_the_known_optimum(self, seed):
        made, X = landing_2022.procrustes(seed, 5), landing_2022.own_component(seed, 5)
        rng = np.random.default_rng(seed)
        A, B = rng.standard_normal((2, 5, 5))
        U, _, V = np.linalg.svd(B @ A.T)
        assert made.oracle.value(U @ V) == pytest.approx(made.best["objective"])
        assert np.linalg.norm(made.oracle.gradient(U @ V) @ (U @ V).T -
                              (U @ V) @ made.oracle.gradient(U @ V).T) < 1e-12  # fmt: skip
        assert np.linalg.det(X) * np.linalg.det(U @ V) == pytest.approx(1)


class TestManifoldMuon:
    def test_tangency_is_a_root_mean_square(self):
        X = np.eye(6, 3)
        assert manifold_muon_2025.off_tangent(X, X) == pytest.approx(2 / np.sqrt(3))
        assert manifold_muon_2025.off_tangent(X, np.eye(6)[:, 3:]) == 0

    def test_a_direction_is_made_tangent_and_cut_to_norm_one(self):
        X, G = np.eye(4, 2), np.ones((4, 2))
        A = np.array([[5, 0], [0, 5], [0.5, 0], [0, 0.5]])
        assert manifold_muon_2025.gain(X, G, A) == pytest.approx(1)
        assert manifold_muon_2025.gain(X, G, 100 * A) == pytest.approx(2)

    def test_dual_steps_are_counted_by_flops(self, monkeypatch):
        def solved(X, G, dual_steps=7, **_):
            return None, 1000 + 30 * dual_steps

        monkeypatch.setattr(manifold_muon_2025, "solved", solved)
        assert manifold_muon_2025.dual_steps(None, None) == 7

    def test_a_small_direction_is_tangent(self):
        X, G = manifold_muon_2025.pair(8, 4, 0)
        A, spent = manifold_muon_2025.solved(X, G)
        assert manifold_muon_2025.off_tangent(X, A) < 2e-3
        assert spent > 0
        assert np.allclose(manifold_muon_2025.pair(8, 4, 0, 100.0)[1], 100 * G)


class TestSpel:
    def test_the_gain_of_the_longest_step_is_one(self):
        X, G = spel_2026.pair(9, 4, 0)
        U, _, V = np.linalg.svd(G, full_matrices=False)
        assert spel_2026.gain(X, G, X - 0.1 * U @ V) == pytest.approx(1)
        for projection in (True, False):
            assert 0.5 < spel_2026.gain(X, G, spel_2026.stepped(X, G, projection)) < 1

    def test_the_optimum_of_its_problem_is_known(self):
        made = spel_2026.ob_problem(0)
        A, N = np.empty((30, 30)), np.array([3.0, 2.0, 1.0])
        for j in range(30):
            unit = np.zeros((30, 3))
            unit[j, 2] = 1
            A[:, j] = made.oracle.gradient(unit)[:, 2] / 2
        values, vectors = np.linalg.eigh(A)
        assert values == pytest.approx(np.arange(1, 31))
        assert made.oracle.value(vectors[:, :3]) == pytest.approx(made.best["objective"])
        assert made.best["objective"] == pytest.approx(values[:3] @ N)

    @pytest.mark.parametrize("name", ["converges", "converges-with-constant-steps"])
    @pytest.mark.parametrize(("gap", "verdict"), [(0.01, HOLDS), (0.011, FAILS)])
    def test_convergence_is_to_a_gap(self, name, gap, verdict, monkeypatch):
        schedules, taken = set(), []

        def begin_trial(*_, step, schedule):
            schedules.add(schedule)
            return SimpleNamespace(advance=taken.append, metrics={"objective_gap": gap})

        monkeypatch.setattr(spel_2026, "begin_trial", begin_trial)
        for quick in (True, False):
            found = claim(spel_2026.SPEL_2026, name).check(Written(quick=quick, seeds=range(1)))
            assert (found.value, found.verdict) == (gap, verdict)
        assert taken == [1000, 4000]
        assert schedules == {"1/sqrt(t)" if name == "converges" else "constant"}


class TestMsPCA:
    def row(self, solver="tpower", counts=(4, 4, 4), **metrics):
        found = {"explained_variance": 0.5, "overlap": 0.125, "undelivered": 0.0} | metrics
        return solver, [*counts], found, 0.25

    @pytest.mark.parametrize(
        ("name", "solver", "place", "inside", "outside"),
        [
            ("deflated", "tpower", ("mtcars", 3), [0.8315, 0.8325], [0.8314, 0.8326]),
            ("orthogonal", "tpower-orthogonal", ("mtcars", 3), [0.8285, 0.8295], [0.8284, 0.8296]),
            ("pitprops", "tpower", ("pitprops", 6), [0.7995, 0.8005], [0.7994, 0.8006]),
            ("orthogonal-pitprops", "tpower-orthogonal", ("pitprops", 6), [0.7855, 0.8015],
             [0.7854, 0.8016]),
        ],
    )  # fmt: skip
    def test_variance_is_as_printed_up_to_rounding(
        self, name, solver, place, inside, outside, monkeypatch
    ):
        for value, verdict in [(v, HOLDS) for v in inside] + [(v, FAILS) for v in outside]:

            def row(*asked, value=value):
                assert asked == (solver, *place)
                return self.row(explained_variance=value)

            monkeypatch.setattr(mspca_2026, "row", row)
            found = claim(mspca_2026.MSPCA_2026, name).check(None)
            assert (found.value, found.verdict) == (value, verdict)
            assert "4, 4, 4 loadings where 4 each were asked for, overlap 0.125" in found.text

    @pytest.mark.parametrize(("name", "place"), [("all-mtcars", ("mtcars", 3)),
                                                 ("all-pitprops", ("pitprops", 6))])  # fmt: skip
    @pytest.mark.parametrize("late", [None, *mspca_2026.BY_NUMBER, *mspca_2026.BY_PENALTY])
    def test_those_that_take_a_number_are_to_deliver_it(self, name, place, late, monkeypatch):
        def row(solver, *asked):
            assert asked == place
            return self.row(solver, undelivered=float(solver == late))

        monkeypatch.setattr(mspca_2026, "row", row)
        found = claim(mspca_2026.MSPCA_2026, name).check(None)
        fails = late in mspca_2026.BY_NUMBER
        assert (found.value, found.verdict) == (fails, FAILS if fails else HOLDS)
        assert all(f"`{solver}`" in found.text for solver in mspca_2026.BY_PENALTY)

    @pytest.mark.parametrize(
        ("counts", "verdict"), [((4, 5, 4), HOLDS), ((4, 4, 4), FAILS), ((2, 1, 9), HOLDS)]
    )
    def test_one_penalty_is_to_leave_numbers_uneven(self, counts, verdict, monkeypatch):
        monkeypatch.setattr(
            mspca_2026, "row", lambda *asked, each: self.row(counts=counts if not each else ())
        )
        found = mspca_2026.uncontrolled(None)
        assert (found.value, found.verdict) == (max(counts) - min(counts), verdict)

    def test_a_row_has_what_is_delivered_of_each_component(self):
        solver, counts, metrics, seconds = mspca_2026.row("tpower", "mtcars", 2)
        assert (solver, counts) == ("tpower", [4, 4])
        assert 0 < metrics["explained_variance"] < 1
        assert seconds > 0


class TestOFT:
    def test_errors_are_spectral_norms_of_the_defect(self):
        assert oft_2026.defect(np.diag([1.5, 1, 0.5])) == pytest.approx(1.25)

    def test_terms_are_five(self):
        Q = oft_2026.skew(0.3, 0)
        powers = [np.linalg.matrix_power(Q, i) for i in range(6)]
        series = (np.eye(32) + Q) @ sum(powers[:5])
        assert np.allclose(oft_2026.neumann(Q), series, atol=1e-14)

    @pytest.mark.parametrize(("off", "verdict"), [(0.9e-6, HOLDS), (1.2e-6, FAILS)])
    def test_the_error_of_the_series_is_a_fifth_power(self, off, verdict, monkeypatch):
        def neumann(Q):
            return oft_2026.cayley(Q) + (1 + off) * np.linalg.norm(Q, 2) ** 5 * np.eye(32)

        monkeypatch.setattr(oft_2026, "neumann", neumann)
        found = claim(oft_2026.OFT_2026, "error-is-a-power").check(Written())
        assert (found.value, found.verdict) == (pytest.approx(off, rel=0.01), verdict)

    @pytest.mark.parametrize(("off", "verdict"), [(0.99e-2, HOLDS), (1.01e-2, FAILS)])
    def test_the_rotations_are_compared_in_the_spectral_norm(self, off, verdict, monkeypatch):
        def factor(A):
            return oft_2026.cayley(A - np.eye(32)) + off * np.eye(32)

        monkeypatch.setattr(oft_2026, "polar_factor", factor)
        found = claim(oft_2026.OFT_2026, "same-rotation").check(Written())
        assert (found.value, found.verdict) == (pytest.approx(off), verdict)


class TestOthers:
    def test_a_matrix_far_from_one_is_no_number_of_steps(self):
        with pytest.raises(RuntimeError, match="cubic has not come near in 60 steps"):
            polar_express_2025.steps_to(np.diag([1, 1e-30]), "cubic")

    def test_the_schedule_of_you_goes_on_with_the_classical_one(self):
        steps = polar_express_2025.schedule("you")
        assert len(steps) == 20
        for a, b, c in steps[5:]:
            assert a + b + c == 1
            assert a + 3 * b + 5 * c == 0

    @pytest.mark.parametrize(("value", "verdict"), [(6, HOLDS), (6.01, FAILS), (5.99, FAILS)])
    def test_a_rotation_costs_exactly_6d(self, value, verdict, monkeypatch):
        def rotate(A, *_):
            section_2.Counted.flops += value * len(A)

        monkeypatch.setattr(section_2, "rotate", rotate)
        assert claim(GIVENS_2014, "rotation-costs-6d").check(Written()).verdict is verdict

    @pytest.mark.parametrize(("residual", "verdict"), [(1e-8, HOLDS), (1.1e-8, FAILS)])
    def test_exact_moments_decompose_up_to_rounding(self, residual, verdict, monkeypatch):
        end = SimpleNamespace(metrics={"residual": residual})
        monkeypatch.setattr(section_5, "instance", given(None))
        monkeypatch.setattr(section_5, "begin_trial", given(SimpleNamespace(converge=lambda: end)))
        found = claim(GIVENS_2014, "moments-decompose").check(Written())
        assert (found.value, found.verdict) == (residual, verdict)

    @pytest.mark.parametrize(
        ("ratio", "verdict"), [(0.951, HOLDS), (1.049, HOLDS), (0.949, FAILS), (1.051, FAILS)]
    )
    def test_noise_is_told_from_signal_by_the_true_basis(self, ratio, verdict, monkeypatch):
        """Samples of which half have signal of square 200, all have 1/SNR = 0.5, times a ratio."""
        variance = 50 / 100 * ratio**2
        X = np.zeros((200, 100))
        X[:100] = np.sqrt(200 * variance) * np.eye(100)
        X[100:105, :5] = np.sqrt(200 * 40) * np.eye(5)
        made = SimpleNamespace(
            oracle=SimpleNamespace(X=X), measure=SimpleNamespace(basis=np.eye(100, 5))
        )
        monkeypatch.setattr(section_4, "instance", given(made))
        found = claim(TUCKER_2022, "noise-over-signal").check(Written())
        assert found.verdict is verdict
        assert found.value == pytest.approx(ratio)

    @pytest.mark.parametrize(("quick", "n"), [(True, 60), (False, 300)])
    def test_eigenvalues_of_both_sizes_are_compared(self, quick, n, monkeypatch):
        run = SimpleNamespace(metrics={"objective_gap": 1e-9})
        sizes = []

        def traced(A, most):
            sizes.append(len(A))
            assert most == pytest.approx(np.linalg.eigvalsh(A)[-6:].sum())
            run.metrics = {"objective_gap": 0.9e-8 * most / 2}

        monkeypatch.setattr(wen_yin_2013, "traced", traced)
        begun = SimpleNamespace(advance=lambda steps: run)
        monkeypatch.setattr(wen_yin_2013, "begin_trial", given(begun))
        found = wen_yin_2013.eigenvalues(Written(quick=quick, seeds=range(1)))
        assert (found.value, found.verdict) == (pytest.approx(0.9e-8), HOLDS)
        assert sizes == [n]

    @pytest.mark.parametrize(("quick", "steps"), [(True, 500), (False, 2000)])
    def test_rounding_heals_over_as_many_steps(self, quick, steps, monkeypatch):
        taken = []
        monkeypatch.setattr("scipy.linalg.expm", lambda A: np.eye(8) * (1 + 1e-9))
        monkeypatch.setattr(
            landing_2022, "relative", lambda X, G: taken.append(0) or np.zeros_like(X)
        )
        landing_2022.heals_rounding(Written(quick=quick, seeds=range(1)))
        assert len(taken) == 2 * steps

    @pytest.mark.parametrize("quick", [True, False])
    def test_the_largest_matrices_are_left_out_at_the_small_size(self, quick, monkeypatch):
        module = manifold_muon_2025
        monkeypatch.setattr(module, "solved", lambda X, G, **_: (X, 0))
        monkeypatch.setattr(module, "dual_steps", given(1))
        paper, written = module.MANIFOLD_MUON_2025, Written(quick=quick, seeds=range(1))
        for name in ("converges-in-units", "steepest"):
            text = claim(paper, name).check(written).text
            assert "64 x 32" in text
            assert "128 x 64" in text
            assert ("512 x 128" in text) == (not quick)
        text = claim(paper, "admm-faster").check(written).text
        assert text.endswith("128 x 32" if quick else "512 x 128")

    @pytest.mark.parametrize(
        ("share", "verdict"), [(0.951, HOLDS), (1.049, HOLDS), (0.949, FAILS), (1.051, FAILS)]
    )
    def test_batches_are_compared_with_the_pool(self, share, verdict, monkeypatch):
        """A pool of one sample repeated, of which each batch has the same cost."""
        monkeypatch.setattr(
            section_3.dense, "skewed", lambda rng, n, factors, p: np.full((n, p), 0.5)
        )
        exact = section_3.dense.batch_cost
        monkeypatch.setattr(section_3.dense, "batch_cost", lambda *of: exact(*of) / share)
        found = claim(TUCKER_2022, "batch-cost").check(Written(seeds=range(1)))
        assert (found.value, found.verdict) == (pytest.approx(share), verdict)
        formula = share / ((1 - 1 / 50) + share / 50)
        assert f"that is {formula:.3f} times" in found.text

    @pytest.mark.parametrize("over", [None, "spgd", "implicit", "explicit"])
    def test_memory_is_at_most_twice_the_formula(self, over, monkeypatch):
        def peak_memory(instance, name, **options):
            form = options.get("form", name)
            oracle = instance.oracle
            n, data = {
                "spgd": (5000, 5000 * 50), "implicit": (50, 50 * 10_000), "explicit": (50, 50**3)
            }[form]  # fmt: skip
            assert oracle.n == n
            return 2 * (5 * n + data) - data + (form == over)

        monkeypatch.setattr(table_1, "peak_memory", peak_memory)
        found = claim(TUCKER_2022, "storage").check(Written())
        assert found.verdict is (FAILS if over else HOLDS)
        assert found.value == pytest.approx(2, rel=1e-5)
