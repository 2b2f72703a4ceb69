"""What identifies a run: texts that do not depend on order, and streams that stay for ever."""

from orthobench.harness.identity import Streams, canonical, digest


def test_equal_values_have_one_text():
    assert canonical({"b": 1e-3, "a": [1, None]}) == '{"a":[1,null],"b":0.001}'
    assert digest("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_the_streams_of_a_cell_are_those_of_stored_results():
    """Other words would give every stored cell other data."""
    streams = Streams.of('{"name":"p"}', "solver", 3)
    drawn = (streams.data, streams.start, streams.solver, streams.samples)
    assert [stream.generate_state(1)[0] for stream in drawn] == [
        1512335831,
        3716200436,
        2807299288,
        1559623660,
    ]
