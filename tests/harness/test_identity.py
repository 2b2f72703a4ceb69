"""Identity of a run: texts that do not depend on order, and permanent streams."""

from dataclasses import replace

from orthobench.harness.given import problem_of
from orthobench.harness.identity import (
    Identity,
    Same,
    Streams,
    canonical,
    describe,
    digest,
    label,
    stream_text,
)


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


def test_a_label_has_all_parameters_or_those_shown(toys):
    solver = toys.Solver(step_size=0.5)
    assert label(solver) == "power step=0.5 fault=none"
    assert label(solver, {"step": 0.5}) == "power step=0.5"
    assert label(solver, {}) == "power"
    assert describe(solver) == {"name": "power", "parameters": {"step": 0.5, "fault": "none"}}


def test_solvers_share_the_streams_of_data_and_start():
    words = [("p", "s", 0), ("p", "t", 0), ("q", "s", 0), ("p", "s", 1)]
    first, solver, problem, seed = (
        [int(s.generate_state(1)[0]) for s in (o.data, o.start, o.samples, o.solver)]
        for o in (Streams.of(*w) for w in words)
    )
    assert len({*first}) == 4
    assert solver[:3] == first[:3]
    assert solver[3] != first[3]
    assert not {*problem} & {*first}
    assert not {*seed} & {*first}


def test_the_streams_of_a_given_instance_do_not_depend_on_its_data(toys):
    instance = toys.Problem().build(None)
    given = problem_of(instance, toys.Problem)
    assert stream_text(given) == stream_text(problem_of(replace(instance), toys.Problem))
    assert stream_text(toys.Problem()) != stream_text(toys.Problem(n=7))


def test_the_same_is_one_object_and_no_equal_one():
    one, other = [1], [1]
    assert Same(one) == Same(one)
    assert Same(one) != Same(other)
    assert Same(one) != one
    assert len({Same(one), Same(one), Same(other)}) == 2


def test_an_identity_has_a_key_of_all_its_parts():
    parts = ('{"name":"p"}', '{"name":"s"}', 3, '{"threads":1}')
    one = Identity(*parts)
    assert not hasattr(one, "__dict__")  # a plan has a hundred thousand of them
    assert one.key == digest('[{"name":"p"},{"name":"s"},3,{"threads":1}]')
    assert one.content == {
        "threads": 1, "problem": {"name": "p"}, "solver": {"name": "s"}, "seed": 3,
    }  # fmt: skip
