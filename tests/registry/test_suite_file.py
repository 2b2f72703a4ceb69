from dataclasses import dataclass

import pytest

from orthobench.contract import parameter
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, Provided, Registry, catalogue
from orthobench.registry.suite_file import from_table, load, requested_suite

GOOD = """\
description = "toys"
seeds = 3

[budget]
steps = 20

[[problem]]
name = "leading-subspace"
k = [1, 2]

[[problem]]
name = "leading-subspace"
n = 9
budget = { steps = 5 }

[[solver]]
name = "power"
step = { tune = [0.5, 1, 2] }

[[solver]]
name = "power"
label = "plain"
fault = ["none", "raise"]
"""


@pytest.fixture
def read(toys, tmp_path):
    def reader(text, size="full"):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load(path, toys.registry, size=size)

    return reader


def test_lists_cross_and_tune_makes_trials(read):
    suite = read(GOOD)
    assert suite.name == "mine"
    assert [p.label for p in suite.problems] == [
        "leading-subspace k=1", "leading-subspace k=2", "leading-subspace n=9",
    ]  # fmt: skip
    assert [(s.label, s.tuned) for s in suite.solvers] == [
        ("power", {"step": 0.5}),
        ("power", {"step": 1}),
        ("power", {"step": 2}),
        ("plain fault=none", {}),
        ("plain fault=raise", {}),
    ]
    assert len(suite.cells()) == 3 * 5 * 3


@pytest.mark.parametrize(
    ("size", "seeds", "ks", "steps", "tried"),
    [("full", 5, [1, 2, 3], 20, [0.5, 1]), ("quick", 2, [1, 2], 20, [1]),
     ("smoke", 2, [1, 2], 4, [1])],
)  # fmt: skip
def test_a_table_by_size_is_one_of_its_values(read, size, seeds, ks, steps, tried):
    text = GOOD.replace("seeds = 3", "seeds = { full = 5, quick = 2 }")
    text = text.replace("k = [1, 2]", "k = { full = [1, 2, 3], quick = [1, 2] }")
    text = text.replace("steps = 20", "steps = { full = 20, smoke = 4 }")
    text = text.replace("tune = [0.5, 1, 2]", "tune = { full = [0.5, 1], quick = [1] }")
    suite = read(text, size)
    assert len(suite.seeds) == seeds
    assert [p.problem.k for p in suite.problems][:-1] == ks
    assert suite.problems[0].budget.steps == steps
    assert [s.tuned["step"] for s in suite.solvers if s.tuned] == tried


def test_levels_are_those_of_the_suite_or_of_the_problem(read):
    text = GOOD.replace("[budget]", "levels = { gap = [0.1, 2] }\n[budget]")
    text = text.replace("budget = { steps = 5 }", "budget = { steps = 5 }\nlevels = { rank = 3 }")
    suite = read(text)
    levels = [[str(level) for level in p.levels] for p in suite.problems]
    assert levels == [["gap <= 0.1", "gap <= 2"]] * 2 + [["rank <= 3"]]
    assert {p.levels for p in suite.cells()} == {p.levels for p in suite.problems}
    assert all(p.key == q.key for p, q in zip(suite.cells(), read(GOOD).cells(), strict=True))


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ("0.1", "levels: must be a table"),
        ("{ gap = [] }", "levels.gap: must be a number"),
        ("{ gap = inf }", "levels.gap: must be a number"),
        ("{ gap = [1, 1.0] }", "levels.gap: a level is listed twice"),
    ],
)
def test_levels_that_are_no_numbers_are_refused(read, levels, said):
    with pytest.raises(UsageError, match=rf"mine\.toml: {said}"):
        read(GOOD.replace("[budget]", f"levels = {levels}\n[budget]"))


def test_declared_grids_are_tried_on_request(read):
    suite = read(GOOD.replace("[0.5, 1, 2]", "true"))
    assert [s.tuned["step"] for s in suite.solvers if s.tuned] == [0.5, 1.0]
    with pytest.raises(UsageError, match=r"solver 2\.fault: a table must be"):
        read(GOOD.replace('fault = ["none", "raise"]', "fault = { tune = true }"))


def test_budget_of_the_command_line_is_that_of_all_problems(read, toys, tmp_path):
    read(GOOD)
    suite = load(tmp_path / "mine.toml", toys.registry, {"budget": {"flops": 70}})
    assert [p.budget.limits for p in suite.problems] == 3 * [{"flops": 70}]


def test_a_problem_brings_levels_unless_the_suite_says_otherwise(read, toys, monkeypatch):
    monkeypatch.setattr(toys.Problem, "at", {"gap": (0.5, 1.0)})
    assert [str(level) for level in read(GOOD).problems[0].levels] == ["gap <= 0.5", "gap <= 1"]
    assert read(GOOD.replace("[budget]", "levels = {}\n[budget]")).problems[0].levels == ()


def test_equal_cells_have_equal_keys_and_others_do_not(read):
    keys = [p.key for p in read(GOOD).cells()]
    assert keys == [p.key for p in read(GOOD).cells()]
    # step = 1 of the first solver is what the second has by default: the same cell
    assert len(set(keys)) == len(keys) - 9
    longer = [p.key for p in read(GOOD.replace("steps = 20", "steps = 21")).cells()]
    assert set(keys[:30]).isdisjoint(longer)
    assert keys[30:] == longer[30:]


def test_errors_name_file_entry_and_key(read):
    for old, new, key, said in (
        ("seeds = 3", "sedes = 3", "sedes", "'sedes'.*'seeds'"),
        ("seeds = 3", "seeds = 0", "seeds", "seeds"),
        ("seeds = 3", "seeds = [1, 1]", "seeds", "twice"),
        ("steps = 20", "stepps = 20", "budget.stepps", "'steps'"),
        ("steps = 20", "steps = -1", "budget", "steps"),
        ("k = [1, 2]", "k = [1, 'x']", "problem 1.k", "k must be int"),
        ("k = [1, 2]", "k = []", "problem 1.k", "empty list"),
        ("k = [1, 2]", "K = 1", "problem 1.K", "'K'"),
        ('name = "leading-subspace"\nk', 'name = "leading"\nk', "problem 1.name", "'leading-subsp"),
        ('name = "leading-subspace"\nk', "k", "problem 1.name", "needs the name"),
        ("step = { tune = [0.5, 1, 2] }", "step = -1", "solver 1.step", "step must be > 0"),
        ("step = { tune = [0.5, 1, 2] }", "step = { tun = [1] }", "solver 1.step", "tune"),
        ("step = { tune = [0.5, 1, 2] }", "step = { tune = [] }", "solver 1.step", "tune"),
        ("step = { tune = [0.5, 1, 2] }", "step = { tune = [1, 1] }", "solver 1.step", "twice"),
        ('fault = ["none", "raise"]', 'fault = "riase"', "solver 2.fault", "did you mean 'raise'"),
        ('label = "plain"', "label = 3", "solver 2.label", "a str"),
    ):
        assert old in GOOD
        with pytest.raises(UsageError, match=rf"mine\.toml: {key}: .*{said}"):
            read(GOOD.replace(old, new, 1))


def test_suites_that_cannot_be_run_are_refused(read):
    for text, said in (
        ("", "at least one"),
        ("[[problem]]\nname='leading-subspace'\n[[solver]]\nname='power'", "nothing limits"),
        ("problem = 3", "must be written as"),
        (GOOD + "\n[target]\nmetric = 3", "mine.toml: target"),
        (GOOD + "\n[target]\nmetric = 'gap'\nvalue = nan", "mine.toml: target: must be"),
        (GOOD + "\n[target]\nmetric = 'gap'\nvalue = true", "mine.toml: target: must be"),
        (GOOD.replace("seeds = 3", "seeds ="), "not valid TOML.*line 2"),
        (GOOD + "\n[tuning]\nscore = 'mean'", "tuning.score: must be 'end' or 'average'"),
    ):
        with pytest.raises(UsageError, match=said):
            read(text)


def test_two_entries_of_one_name_want_a_label(read):
    with pytest.raises(UsageError, match="both called"):
        read(GOOD + "\n[[problem]]\nname = 'leading-subspace'\nk = 1\n")


@pytest.mark.parametrize("again", ["step = { tune = [4, 8] }", ""])
def test_a_second_entry_of_a_tuned_solver_does_not_join_its_trials(read, again):
    text = GOOD.replace('label = "plain"\nfault = ["none", "raise"]', again)
    with pytest.raises(UsageError, match=r"solver 2: two entries are both called 'power'"):
        read(text)


LISTS = {"n": [7] * 2000, "k": [1] * 2000}
MANY = {
    "seeds": ({"seeds": 60_000_000}, r"x: seeds: 60,000,000 cells"),
    "a number without end": ({"seeds": 16**9000}, r"over 10\^15 cells"),
    "crossed": ({"problem": [{"name": "leading-subspace", **LISTS}]}, "4,000,000 cells"),
}  # fmt: skip


@pytest.mark.parametrize("what", MANY)
def test_a_suite_with_too_many_cells_is_refused_before_they_are_made(toys, monkeypatch, what):
    changes, said = MANY[what]
    table = {
        "seeds": 3, "budget": {"steps": 5}, "problem": [{"name": "leading-subspace"}],
        "solver": [{"name": "power"}],
    }  # fmt: skip
    monkeypatch.setattr(Registry, "problem", None)  # which nothing calls
    with pytest.raises(UsageError, match=f"{said}, but a suite has at most 2,000,000"):
        from_table({**table, **changes}, "x", toys.registry)


def test_a_place_of_the_command_line_is_that_of_all_solvers(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'seeds = 1\nbudget = { samples = 9 }\nproblem = [{ name = "digits" }]\n'
        'solver = [{ name = "oja", on = "torch:cuda" }, { name = "batch-pca" }]\n'
    )
    suite = load(path, catalogue(), {"on": ["numpy/float32"]})
    assert [str(s.solver.place) for s in suite.solvers] == ["numpy/float32"] * 2


def test_each_solver_gets_those_of_a_suites_places_where_it_computes():
    def suite(on, *solvers):
        table = {
            "seeds": 1, "budget": {"samples": 9}, "on": on, "problem": [{"name": "digits"}],
            "solver": [{"name": name} for name in solvers],
        }  # fmt: skip
        return from_table(table, "x", catalogue())

    places = suite(["numpy", "blocks", "numpy/float32"], "batch-pca", "frequent-directions", "msg")
    assert [(s.solver.name, str(s.solver.place)) for s in places.solvers] == [
        ("batch-pca", "numpy"), ("batch-pca", "blocks"), ("batch-pca", "numpy/float32"),
        ("frequent-directions", "numpy"), ("frequent-directions", "blocks"), ("msg", "numpy"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="x: on: msg: it makes no summaries of blocks, which dask"):
        suite("dask:2", "batch-pca", "msg")
    with pytest.raises(UsageError, match="x: on: 'dask:' is no place to compute"):
        suite(["numpy", "dask:"], "batch-pca")
    with pytest.raises(UsageError, match="x: on: an empty list leaves nowhere to compute"):
        suite([], "batch-pca", "msg")


CLUSTER = "dask:tcp://192.0.2.1:8786"


@pytest.mark.parametrize("where", ["on", "solver"])
def test_a_file_names_no_cluster_but_the_command_line_does(tmp_path, where):
    path = tmp_path / "mine.toml"
    on = f'on = ["blocks", "{CLUSTER}"]\n' if where == "on" else ""
    own = "" if on else f', on = "{CLUSTER}"'
    path.write_text(
        f'seeds = 1\nbudget = {{ samples = 9 }}\n{on}problem = [{{ name = "digits" }}]\n'
        f'solver = [{{ name = "batch-pca"{own} }}]\n'
    )
    with pytest.raises(UsageError, match=rf"mine\.toml.* may not name a cluster.* --on {CLUSTER}"):
        load(path, catalogue())
    suite = load(path, catalogue(), {"on": [CLUSTER]})
    assert [s.solver.place.address for s in suite.solvers] == ["tcp://192.0.2.1:8786"]


PLAIN = {
    "seeds": 3, "budget": {"steps": 5}, "problem": "leading-subspace", "solver": "power",
}  # fmt: skip


@pytest.fixture
def made(toys):
    def make(**changes):
        return from_table({**PLAIN, **changes}, "x", toys.registry)

    return make


@pytest.mark.parametrize(
    ("key", "outside"),
    [
        ("threads", (0, 10**6 + 1, 1.0, True, "1")),
        ("tolerance", (0, 1, -0.5, 1.5, "0.1", True)),
        ("seeds", (0, -1, [], [1, 1], [0.5], [-1], [2**63], "3", 2.0)),
        ("description", (1,)),
        ("measure", ("time", 3)),
    ],
)
def test_values_that_make_no_sense_are_refused(made, key, outside):
    for value in outside:
        with pytest.raises(UsageError, match=f"^x: {key}: "):
            made(**{key: value})


def test_an_error_of_the_command_line_is_said_to_be_its(read, toys, tmp_path):
    read(GOOD)
    with pytest.raises(UsageError, match=r"^command line: seeds: must be a number of seeds"):
        load(tmp_path / "mine.toml", toys.registry, {"seeds": -1})
    text = GOOD + "[[problem]]\nname = 'leading-subspace'\nk = 1\n"
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=r"mine\.toml: problem 3: two entries"):
        load(tmp_path / "mine.toml", toys.registry, {"seeds": 1})


@pytest.fixture
def known(toys, monkeypatch):
    """The toys in place of all that is installed."""
    registry = toys.registry.extended()
    monkeypatch.setattr("orthobench.registry.suite_file.catalogue", lambda: registry)
    return registry


def test_problems_of_a_caller_make_a_suite_of_their_own(known):
    suite = requested_suite(None, ["leading-subspace n=5"], ["power"], 2)
    assert [(p.label, p.budget.limits) for p in suite.problems] == [
        ("leading-subspace n=5", {"samples": 10_000})
    ]
    assert (suite.name, suite.seeds) == ("command-line", (0, 1))
    limits = {"steps": 7, "samples": None, "name": "python", "tolerance": 0.25}
    suite = requested_suite(problems=["leading-subspace"], solvers=["power"], seeds=(3,), **limits)
    assert suite.problems[0].budget.limits == {"steps": 7}
    assert (suite.name, suite.seeds, suite.tolerance) == ("python", (3,), 0.25)


def test_a_suite_is_named_by_its_file_its_path_or_its_name(known, read, tmp_path):
    read(GOOD)
    path = tmp_path / "mine.toml"
    known.suites["quickstart"] = known.suites["mine"] = Provided(path, Plugin("toys"))
    for suite in (path, str(path), "mine", None):
        found = requested_suite(suite, seeds=1)
        assert (found.name, len(found.problems), found.seeds) == ("mine", 3, (0,))
    assert requested_suite("mine", solvers=["power"], seeds=0).seeds == (0, 1, 2)
    assert [s.label for s in requested_suite("mine", solvers=["power"]).solvers] == ["power"]
    with pytest.raises(UsageError, match="leave one out"):
        requested_suite("mine", ["leading-subspace"])


def test_by_default_all_solvers_run_over_their_grids(known, toys):
    class Elsewhere(toys.Oracle):
        n = k = 1

    names = {"other": {"needs": Elsewhere}, "needy": {"size": parameter(help="size")}}
    for name, own in names.items():
        hints = {"__annotations__": {"size": int}} if "size" in own else {}
        bases, attributes = (toys.Solver,), {"name": name, **own, **hints}
        known.register(dataclass(frozen=True, kw_only=True)(type("Own", bases, attributes)))
    suite = requested_suite(problems=["leading-subspace"], solvers=[])
    assert [(s.label, s.tuned) for s in suite.solvers] == [
        ("power", {"step": 0.5}), ("power", {"step": 1.0}),
    ]  # fmt: skip
    del known.solvers["power"]
    with pytest.raises(UsageError, match="no installed solver takes these"):
        requested_suite(problems=["leading-subspace"])
    with pytest.raises(UsageError, match=r"problem 1\.name: unknown problem 'leading-subspac'"):
        requested_suite(problems=["leading-subspac"])
