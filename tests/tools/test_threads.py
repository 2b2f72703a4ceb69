import pytest
from threadpoolctl import threadpool_info

from orthobench.tools.environment import limited


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.skipif(not threads(), reason="threadpoolctl knows no BLAS here")
def test_every_blas_is_held_and_let_go():
    before = threads()
    with limited(2):
        assert set(threads()) == {2}
        with limited(1):
            assert set(threads()) == {1}
        assert set(threads()) == {2}
    assert threads()[: len(before)] == before
