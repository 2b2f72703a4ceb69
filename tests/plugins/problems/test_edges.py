"""What is just allowed, beside what is just refused."""

from datetime import date, timedelta

import numpy as np
import pytest
from cases import case
from orthobench_kit.data.normalization import normalization_of
from orthobench_kit.data.shares import check_shares, part_sizes
from orthobench_kit.symmetric_tensors import SYMMETRIC
from orthobench_kit.symmetric_tensors import symmetric_matrices as symmetric
from orthobench_stiefel.problems.brockett import StiefelBrockett
from orthobench_stiefel.problems.files import NpyBrockett
from orthobench_stiefel.problems.ica import ICA
from orthobench_stiefel.problems.network import OrthogonalNetwork
from orthobench_stiefel.problems.procrustes import StiefelProcrustes
from orthobench_stiefel.problems.rotation import WeightRotation
from orthobench_stochastic_pca.problems import parts
from orthobench_tucker.oracle import check_ranks
from orthobench_tucker.problems.factors import NIGFactor
from orthobench_tucker.problems.hyperspectral import HyperspectralAnomaly
from orthobench_tucker.problems.portfolio import Portfolio
from orthobench_tucker.problems.returns import Returns, read_returns

from orthobench.errors import DataError, UsageError

EDGES = {
    "shares": lambda e: check_shares(0.5, 0.499 + 0.001 * e),
    "rows of a part": lambda e: part_sizes(3 - e, 0.34, 0.34, "file"),
    "validation": lambda e: part_sizes(10, 0.051 - 0.01 * e, 0, "file"),
    "test": lambda e: part_sizes(10, 0, 0.051 - 0.01 * e, "file"),
    "ranks": lambda e: check_ranks(5, rank=5 + e),
    "columns": lambda e: StiefelBrockett(n=5, p=5 + e),
    "dimension": lambda e: parts.check_dimension(5 + e, 5),
    "ica": lambda e: ICA(n=8, samples=32 - e),
    "procrustes": lambda e: StiefelProcrustes(n=30, p=3, rows=30 - e),
    "powers of two": lambda e: WeightRotation(n=16 + e),
    "outliers": lambda e: WeightRotation(n=12, outliers=12 + e),
    "units": lambda e: OrthogonalNetwork(p=64 + e),
    "kurtosis": lambda e: NIGFactor(skewness=3.0, kurtosis=18.001 - 0.001 * e),
    "test part of a stream": lambda e: NIGFactor(samples=0, test=1 - e),
    "passes of a stream": lambda e: NIGFactor(samples=0, passes=1 + e),
    "assets": lambda e: Portfolio(rank=30 + e),
    "bands": lambda e: HyperspectralAnomaly(rank=191 + e),
}
"""What takes 0 where something is just allowed, and 1 where it is not."""


def test_the_last_that_is_allowed_and_the_first_that_is_not():
    for name, edge in EDGES.items():
        with case(name):
            edge(0)
            with pytest.raises((UsageError, DataError)):
                edge(1)


def test_parts_are_rounded_and_the_rest_is_trained_on():
    assert part_sizes(10, 0.25, 0.14, "file") == (7, 2, 1)
    assert part_sizes(3, 0, 0, "file") == (3, 0, 0)


def test_five_rows_are_enough_for_three_parts():
    train, validation, test = parts.split(5, np.random.default_rng(0))
    assert sorted([*train, *validation, *test]) == [0, 1, 2, 3, 4]
    assert (len(train), len(validation), len(test)) == (2, 1, 2)
    with pytest.raises(DataError, match="4 rows are too few"):
        parts.split(4, np.random.default_rng(0))


class TestMatrices:
    def test_symmetry_is_up_to_rounding_of_the_largest_entry(self):
        A = np.array([[100.0, 90 * SYMMETRIC], [0.0, 1.0]])
        half = 45 * SYMMETRIC
        assert symmetric(A, "file").tolist() == [[100, half], [half, 1]]
        A[0, 1] = 110 * SYMMETRIC
        with pytest.raises(DataError, match=r"not symmetric: entry \(0, 1\)"):
            symmetric(A, "file")

    def test_each_matrix_of_a_stack_is_to_be_symmetric_by_its_own_entries(self):
        A = np.stack([np.diag([1e9, 1.0]), np.diag([1.0, 1.0])])
        A[1, 0, 1] = 1e-3
        with pytest.raises(DataError, match=r"entry \(1, 0, 1\)"):
            symmetric(A, "file")

    def test_as_many_columns_as_rows_can_be_sought(self, tmp_path):
        np.save(tmp_path / "A.npy", np.diag([3.0, 2.0, 1.0]))
        path = str(tmp_path / "A.npy")
        assert NpyBrockett(path, 3).build(np.random.default_rng(0)).oracle.k == 3
        with pytest.raises(UsageError):
            NpyBrockett(path, 4).build(np.random.default_rng(0))


class TestReturns:
    def made(self, first, count):
        days = np.datetime64(first) + np.arange(count)
        return Returns(days, ("A",), np.arange(float(count))[:, None])

    @pytest.mark.parametrize("late", [10, 11])
    def test_ten_days_without_trading_are_allowed_at_either_end(self, late):
        begin, end = date(2020, 1, 1), date(2020, 3, 1)
        count = (end - begin).days + 1 - 2 * late
        of_late_begin = self.made(begin + timedelta(days=late), count)
        of_early_end = self.made(begin - timedelta(days=3), count + late + 3)
        for returns, last in ((of_late_begin, end), (of_early_end, end)):
            if late == 10:
                assert len(returns.between(begin, last)) >= count
            else:
                with pytest.raises(DataError, match="there are no returns"):
                    returns.between(begin, last)

    def test_both_ends_are_included_and_two_days_are_enough(self):
        returns = self.made("2020-01-01", 9)
        inside = returns.between(date(2020, 1, 3), date(2020, 1, 4))
        assert inside.ravel().tolist() == [2, 3]
        with pytest.raises(DataError, match="there are 1 days of returns"):
            returns.between(date(2020, 1, 3), date(2020, 1, 3))

    @pytest.mark.parametrize(
        ("field", "value"),
        [("-100", -100), ("-99.99", None), ("-999", None), ("1e300", 1e300), ("-100.01", ""),
         ("inf", ""), ("nan", ""), ("x", "")],
    )  # fmt: skip
    def test_no_asset_can_lose_more_than_all(self, tmp_path, field, value):
        path = tmp_path / "returns.csv"
        path.write_text(f",A\n20200101,{field}\n20200102,1\n")
        if value == "":
            with pytest.raises(DataError, match="is not a return in percent"):
                read_returns(path)
        else:
            found = read_returns(path).values[0, 0]
            assert np.isnan(found) if value is None else found == value


class TestNormalization:
    def test_a_single_row_has_no_variance(self):
        with pytest.raises(DataError, match="one row only"):
            normalization_of(np.ones((1, 3)), "common")
        with pytest.raises(DataError, match="all rows are equal"):
            normalization_of(np.ones((2, 3)), "common")

    def test_a_feature_that_varies_by_rounding_only_is_constant(self):
        X = np.random.default_rng(0).standard_normal((50, 2))
        X[:, 1] = 1e9 + 1e-4 * np.sign(X[:, 0])
        assert normalization_of(X, "per-feature")[1][1] == 0
        X[:, 1] = 1e9 + 1e-2 * np.sign(X[:, 0])
        assert normalization_of(X, "per-feature")[1][1] > 0
