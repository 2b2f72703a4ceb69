"""Sources of samples: every row once, in order, in blocks of one length, refused by number."""

import math

import numpy as np
import pytest
from numbered_rows import D, lengths, read, rows
from orthobench_kit.rows import SparseRows
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import IteratorSource, SamplerSource, source_of
from scipy import sparse

from orthobench.contract.samples import BLOCK
from orthobench.errors import DataError, UsageError


class TestSamplerSource:
    def test_draws_blocks_without_end_from_the_generator(self):
        source = SamplerSource(lambda rng, count: rng.standard_normal((count, D)), D)
        blocks = source.blocks(np.random.default_rng(3))
        drawn = np.concatenate([next(blocks) for _ in range(3)])
        expected = np.random.default_rng(3).standard_normal((3 * BLOCK, D))
        np.testing.assert_array_equal(drawn, expected)
        assert source.size == math.inf

    def test_keeps_nothing_that_the_sampler_writes_into_later(self):
        held = np.zeros((BLOCK, D))
        blocks = SamplerSource(lambda *_: held, D).blocks(None)
        first = next(blocks)
        held[:] = 1
        assert not first.any()

    @pytest.mark.parametrize(
        ("drawn", "message"),
        [
            (np.zeros((BLOCK, D + 1)), rf"shape \({BLOCK}, 4\) where \({BLOCK}, 3\) was asked"),
            (np.zeros(D), "the sampler's draws must be a matrix"),
            (np.zeros((BLOCK, D), complex), "the sampler's draws must be real"),
        ],
    )
    def test_refuses_what_was_not_asked_for(self, drawn, message):
        with pytest.raises(DataError, match=message):
            next(SamplerSource(lambda *_: drawn, D).blocks(None))


class TestIteratorSource:
    @pytest.mark.parametrize("sizes", [[1, 1, 1], [2 * BLOCK + 1], [BLOCK], [BLOCK - 1, 2, BLOCK]])
    def test_regroups_rows_and_blocks_of_any_length(self, sizes):
        X = rows(sum(sizes))
        pieces = np.split(X, np.cumsum(sizes)[:-1])
        items = [piece[0] if len(piece) == 1 else piece for piece in pieces]
        blocks = read(IteratorSource(items))
        np.testing.assert_array_equal(np.concatenate(blocks), X)
        assert set(lengths(blocks[:-1])) <= {BLOCK}
        assert 1 <= len(blocks[-1]) <= BLOCK

    def test_a_list_serves_several_runs_and_a_generator_one(self):
        several, once = IteratorSource([rows(4)]), IteratorSource(iter([rows(BLOCK), rows(4)]))
        assert (several.d, once.d, several.size) == (D, D, math.inf)
        for source in (several, once):
            np.testing.assert_array_equal(read(source)[-1], rows(4))
            np.testing.assert_array_equal(read(source)[-1], rows(4))
            source.forget()
        assert len(read(several)) == 1
        with pytest.raises(DataError, match="used up"):
            once.blocks(None)

    def test_the_samples_of_a_warm_up_come_again_and_then_the_others(self):
        X = rows(4 * BLOCK)
        source = IteratorSource(iter([X]))
        warm_up = source.blocks(None)
        next(warm_up), next(warm_up)
        run = source.blocks(None)
        source.forget()
        np.testing.assert_array_equal(np.concatenate(list(run)), X)

    def test_an_error_comes_again_where_it_came(self):
        def broken():
            yield rows(BLOCK)
            yield rows(1)
            raise OSError("gone")

        source = IteratorSource(broken())
        for _ in range(2):
            blocks = source.blocks(None)
            assert len(next(blocks)) == BLOCK
            with pytest.raises(OSError, match="gone"):
                next(blocks)

    @pytest.mark.parametrize(
        ("items", "message"),
        [
            ([], "the sample iterator is empty"),
            ([rows(2), np.zeros(4)], r"sample 2 \(counted from 0\) has 4 features, .* have 3"),
            ([rows(2)[None]], "sample 0 .* is no row"), ([np.zeros(0)], "sample 0 .* is no row"),
            ([rows(1), "abc"], "sample 1 .* are a path"),
            ([[1, [2]]], "sample 0 .* different lengths"),
            ([rows(1), rows(1) * 1j], "sample 1 .* must be real numbers"),
            ([np.ma.masked_array(rows(2), rows(2) > 0)], "sample 0 .* masked"),
        ],
    )  # fmt: skip
    def test_refuses_what_is_no_row_by_its_number(self, items, message):
        with pytest.raises(DataError, match=message):
            list(read(IteratorSource(items)))


class TestSourceOf:
    def test_makes_the_source_that_fits(self):
        for data, kind in (
            (rows(3), ArraySource), (rows(3).tolist(), ArraySource),
            (sparse.csr_array(rows(3)), ArraySource), (SparseRows(sparse.eye(3)), ArraySource),
            ([rows(3), rows(3)], IteratorSource), (iter(rows(3)), IteratorSource),
        ):  # fmt: skip
            source = source_of(data)
            assert type(source) is kind
            assert source.d == D
        sampler = source_of(lambda rng, count: None, width=7)
        assert (type(sampler), sampler.d) == (SamplerSource, 7)
        source = ArraySource(rows(2))
        assert source_of(source) is source

    @pytest.mark.parametrize("data", [iter(rows(3)), [rows(3), rows(3)], ArraySource(rows(3)), min])
    def test_only_arrays_are_read_several_times(self, data):
        with pytest.raises(UsageError, match="leave passes at 1"):
            source_of(data, passes=2)

    def test_a_sampler_needs_a_width_and_a_number_is_refused(self):
        with pytest.raises(UsageError, match="a sampler needs"):
            source_of(min)
        with pytest.raises(DataError, match="must be an array, not of type int"):
            source_of(3)
