"""Portfolios as a problem: periods, moments of low rank, and what became of the money."""

from datetime import date, timedelta

import numpy as np
import pytest
from drawn import built, rng
from orthobench_tucker import ComponentSolution
from orthobench_tucker.problems import portfolio
from orthobench_tucker.problems.allocation import Utility, performance
from orthobench_tucker.problems.portfolio import Portfolio
from orthobench_tucker.problems.returns import read_returns

from orthobench.contract.problem import Solution
from orthobench.registry.suite_file import requested_suite
from orthobench.tools import datasets
from orthobench.tools.geometry import random_point

needs_industries = pytest.mark.needs_data(portfolio.INDUSTRIES)


ASSETS, FIRST = 4, date(2015, 1, 1)


def returns():
    """Returns of every day of 2015 to 2017, in percent and of two decimals."""
    rows = rng(1).standard_t(6, (1096, ASSETS)) * [0.5, 1, 1.5, 2] + rng(2).random((1096, 1))
    return np.round(rows, 2)


@pytest.fixture
def csv_path(tmp_path):
    lines = [",A,B,C,D"]
    for day, row in enumerate(returns()):
        at = (FIRST + timedelta(days=day)).strftime("%Y%m%d")
        lines.append(",".join([at, *(f"{value:.2f}" for value in row)]))
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "own.csv")


def own(csv_path, **more):
    settings = {"rank": 2, "first": 2015, "split": "2016-07-01", "last": "2017", **more}
    return Portfolio(path=csv_path, **settings)


INSIDE = 365 + 182  # 2015, and 2016 until 30 June


def centred():
    inside = returns()[:INSIDE]
    return inside - inside.mean(axis=0)


def test_solvers_see_the_centred_days_in_sample_in_random_order(csv_path):
    oracle = built(own(csv_path, passes=3), 5).oracle
    assert np.allclose(oracle.X, centred()[rng(5).permutation(INSIDE)])
    oracle.prepare(2000)
    assert np.array_equal(oracle.take(3 * INSIDE), np.tile(oracle.X, (3, 1)))
    assert oracle.remaining() == 0


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_family_measures_the_moment_in_sample(csv_path, order):
    instance = built(own(csv_path, order=order))
    Q, X = random_point(ASSETS, 2, rng(3)), centred()
    metrics = instance.measure(Solution(Q))
    assert list(metrics) == [
        "relative_error", "objective", "relative_gradient", "utility_gap", "annual_return",
        "m2", "m3", "m4",
    ]  # fmt: skip
    core, whole = ((X @ V @ V.T @ X.T) ** order for V in (Q, np.eye(ASSETS)))
    assert metrics["objective"] == pytest.approx(core.mean())
    assert metrics["relative_error"] == pytest.approx(1 - core.mean() / whole.mean())


def test_the_portfolio_is_chosen_by_moments_of_low_rank_and_held(csv_path):
    instance = built(own(csv_path))
    Q = random_point(ASSETS, 2, rng(3))
    metrics = instance.measure(Solution(Q))
    U = Utility(centred())
    w, best = Utility(centred() @ Q @ Q.T).best_weights(), U.best_weights()
    held = returns()[INSIDE:] @ w
    for name, value in performance(held, years=(184 + 365) / 365.25).items():
        assert metrics[name] == pytest.approx(value, rel=1e-6)
    assert metrics["utility_gap"] == pytest.approx((U(best) - U(w)) / -U(best), rel=1e-6)
    assert metrics["utility_gap"] > 0


def test_the_curves_compound_daily_returns(csv_path):
    exhibits = built(own(csv_path)).exhibits(Solution(random_point(ASSETS, 2, rng(3))))
    assert {name: e.reference for name, e in exhibits.items()} == {
        "low-rank moments": False,
        "sample moments": True,
        "equal weights": True,
    }
    equal = exhibits["equal weights"]
    assert np.array_equal(equal.x, np.arange(1, 184 + 365 + 1))
    growth = np.cumprod(1 + returns()[INSIDE:].mean(axis=1) / 100)
    assert np.allclose(equal.y, (growth - 1) * 100, rtol=1e-5)
    assert len({(e.x_label, e.y_label) for e in exhibits.values()}) == 1


def test_components_have_no_basis_and_no_portfolio(csv_path):
    instance = built(own(csv_path))
    V = rng(4).standard_normal((ASSETS, 3))
    components = ComponentSolution(V / np.linalg.norm(V, axis=0), np.ones(3))
    assert list(instance.measure(components)) == ["relative_error"]
    assert list(instance.exhibits(components)) == ["sample moments", "equal weights"]


DAYS = ("2001-02-03", "2013-01-02", "2016-12-31")


def test_days_are_named_on_the_command_line_as_documented():
    words = "portfolio first={} split={} last={}".format(*DAYS)
    (planned,) = requested_suite(problems=[words]).problems
    assert planned.problem == Portfolio(3, 15, *DAYS)
    assert planned.label == words


# --- the industries ---


@needs_industries
def test_the_published_returns_are_what_they_are_known_to_be():
    instance = built(Portfolio())
    assert instance.oracle.X.shape == (3269, 30)
    assert instance.oracle.remaining() == 160 * 3269
    assert np.abs(instance.oracle.X.mean(axis=0)).max() < 1e-12
    returns = read_returns(datasets.fetch(portfolio.INDUSTRIES))
    worst = returns.values.mean(axis=1).argmin()
    assert returns.days[worst] == np.datetime64("1987-10-19")
    assert returns.values[worst].mean() == pytest.approx(-17.3, abs=0.1)
