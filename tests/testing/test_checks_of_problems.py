"""Each check of a problem, against a problem that fails it and nothing else."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from orthobench_stochastic_pca import StochasticPCA

import orthobench as ob
from orthobench.contract.parameters import parameter
from orthobench.contract.samples import SampleOracle
from orthobench.testing import CheckStatus, NotConforming, check_problem, checks_of_problems
from orthobench.testing.cases import cases_of


@dataclass(frozen=True)
class Gaussian(StochasticPCA):
    """Gaussian samples: it passes."""

    name: ClassVar[str] = "gaussian"
    n: int = parameter(6, low=2, high=100, help="dimensions")
    scale: float = parameter(1.0, above=0, help="of the largest axis")
    kind: str = parameter("array", help="kind", choices=("array", "other"))

    def build(self, rng):
        return ob.stochastic_pca(self.rows(rng), k=2)

    def rows(self, rng):
        return rng.standard_normal((50, self.n)) * np.linspace(self.scale, 0.1, self.n)

    def judged(self, rng, **changes):
        """Return the instance with a judge that reports something else."""
        instance = Gaussian.build(self, rng)

        def measure(solution):
            return {**instance.measure(solution), **changes}

        return dataclasses.replace(instance, measure=measure)


class BuildsArrays(Gaussian):
    def build(self, rng):
        return self.rows(rng)


class OffersOther(Gaussian):
    def build(self, rng):
        return ob.orthogonal_group(lambda U: float(U[0, 0]), n=3)


class TooManyColumns(Gaussian):
    def build(self, rng):
        instance = super().build(rng)
        instance.oracle.k = 7
        return instance


class NotANumber(Gaussian):
    def build(self, rng):
        return self.judged(rng, subspace_error=float("nan"))


class NoFloat(Gaussian):
    def build(self, rng):
        return self.judged(rng, rank=2)


class OtherPrimary(Gaussian):
    primary: ClassVar[str] = "error"


class UnknownBest(Gaussian):
    def build(self, rng):
        return dataclasses.replace(super().build(rng), best={"gap": 0.0})


class Infeasible(Gaussian):
    def build(self, rng):
        return dataclasses.replace(super().build(rng), violation=lambda _: 1.0)


class WritesIntoPoint(Gaussian):
    def build(self, rng):
        instance = super().build(rng)

        def measure(solution):
            metrics = instance.measure(solution)
            solution.point[0] *= -1
            return metrics

        return dataclasses.replace(instance, measure=measure)


class MeasuresAtRandom(Gaussian):
    """It draws from a generator of its own, which is the same in each instance."""

    def build(self, rng):
        own, instance = np.random.default_rng(0), super().build(rng)

        def measure(solution):
            return {**instance.measure(solution), "noise": float(own.random())}

        return dataclasses.replace(instance, measure=measure)


class LargerIsBetter(Gaussian):
    def build(self, rng):
        instance = super().build(rng)

        def measure(solution):
            metrics = instance.measure(solution)
            return {**metrics, "suboptimality": -metrics["suboptimality"]}

        return dataclasses.replace(instance, measure=measure)


class DrawsUnseeded(Gaussian):
    def build(self, rng):
        return super().build(np.random.default_rng())


class PiecewiseOracle(SampleOracle):
    def take(self, count):
        return super().take(count) * count


class GoesOn(SampleOracle):
    """Its samples depend on the number of rewinds."""

    rewound = 0

    def rewind(self, rng):
        super().rewind(rng)
        self.rewound += 1

    def take(self, count):
        return super().take(count) * self.rewound


class TakesPieces(Gaussian):
    oracle: ClassVar[type[SampleOracle]] = PiecewiseOracle

    def build(self, rng):
        instance = super().build(rng)
        oracle = self.oracle(instance.oracle.source, 2)
        return dataclasses.replace(instance, oracle=oracle)


class NeverReturns(TakesPieces):
    oracle: ClassVar[type[SampleOracle]] = GoesOn


class ShowsJudge(Gaussian):
    def build(self, rng):
        instance = super().build(rng)
        instance.oracle.hints = {"truth": [instance.measure]}
        return instance


class KeepsGenerator(Gaussian):
    def build(self, rng):
        instance = super().build(rng)
        instance.oracle.steps = (1 / t for t in range(1, 100))
        return instance


class SeedsGlobally(Gaussian):
    def build(self, rng):
        np.random.seed(1)  # noqa: NPY002 - the fault
        return super().build(rng)


class Prints(Gaussian):
    def build(self, rng):
        print("building")  # noqa: T201 - the fault
        return super().build(rng)


class TakesAnything(Gaussian):
    def __post_init__(self):
        pass


@dataclass(frozen=True)
class HoldsData(Gaussian):
    data: bytes = parameter(b"0" * 200_000, help="the data themselves")


COUNTEREXAMPLES = {
    "builds": (BuildsArrays, OffersOther, TooManyColumns),
    "judge": (
        NotANumber, NoFloat, OtherPrimary, UnknownBest, Infeasible, WritesIntoPoint,
        MeasuresAtRandom,
    ),
    "optimum": (LargerIsBetter,),
    "repeats": (DrawsUnseeded,),
    "stream": (TakesPieces, NeverReturns),
    "hidden": (ShowsJudge,),
    "sent": (KeepsGenerator,),
    "random": (SeedsGlobally,),
    "silent": (Prints,),
    "parameters": (TakesAnything,),
    "recipe": (HoldsData,),
}  # fmt: skip


def test_every_check_has_a_counterexample():
    assert list(COUNTEREXAMPLES) == [check.name for check in checks_of_problems.CHECKS]


@pytest.mark.parametrize("check", COUNTEREXAMPLES)
def test_a_counterexample_fails_its_check_and_no_other(check):
    for cls in COUNTEREXAMPLES[check]:
        results = {c.name: c.result(cls()) for c in checks_of_problems.CHECKS}
        failed = [name for name, result in results.items() if result.status is CheckStatus.FAILED]
        assert failed == [check], (cls, results)


def test_a_fault_is_reported_with_its_remedy():
    with pytest.raises(NotConforming) as found:
        check_problem(ShowsJudge())
    assert "hidden: solvers can reach the judge, by oracle.hints['truth'][0]" in str(found.value)
    assert "Keep the truth, the test data and the metrics out of the oracle" in str(found.value)


def test_absent_data_are_not_checkable_nor_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    results = [case.result() for case in cases_of(ob.catalogue().problem("mnist"))]
    assert results[0].status is CheckStatus.NOT_CHECKABLE
    assert "nothing is downloaded here" in results[0].message
    assert not list(tmp_path.iterdir())
