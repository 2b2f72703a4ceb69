"""Edited stores are found out, with the probability that the share gives; sound ones are not."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import edited_stores as edit
import numpy as np
import pytest

from orthobench import api
from orthobench.contract import parameter
from orthobench.errors import DataError, StoreError, UsageError
from orthobench.harness import cell as cell_module
from orthobench.harness.executors import inline
from orthobench.harness.placement import TRANSFER
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.registry.plugins import Provided, Registry
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store
from orthobench.verify import computing
from orthobench.verify.check import ROUNDING_DECIDES, order, verify
from orthobench.verify.comparing import called
from orthobench.verify.wording import found_with, lines

SUITE = {
    "seeds": 2,
    "budget": {"steps": 20},
    "problem": [{"name": "leading-subspace", "n": [5, 8]}],
    "solver": [
        {"name": "power", "step": [0.5, 1.0]},
        {"name": "power", "fault": ["raise", "nan", "drift", "converge"]},
    ],
}


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    monkeypatch.setattr(computing.local, "run", lambda cells, *_: inline.run(cells))


@pytest.fixture(scope="module")
def original(toys, tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "results.sqlite"
    return ran(SUITE, path, toys.registry)


@pytest.fixture
def store(original, tmp_path):
    return shutil.copy(original, tmp_path / "results.sqlite")


def ran(table, path, registry):
    suite = from_table(table, "toys", registry)
    api.run(suite, path, executor="inline", quiet=True)
    return path


def cells(path):
    with Store(path) as store:
        return list(store.runs())


def budgeted(path):
    """The keys of cells that nothing went wrong in."""
    return [cell.key for cell in cells(path) if cell.stop.status is RunStatus.BUDGET]


def one(path):
    return next(cell for cell in cells(path) if cell.stop.status is RunStatus.BUDGET)


def checked(path, registry, share=1.0, **settings):
    before = path.read_bytes()
    found = verify(path, registry, share=share, quiet=True, **settings)
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir() if "sqlite" in p.name) == [path.name]
    return found


def test_a_sound_store_comes_out_again_bit_for_bit_however_its_cells_ended(store, toys):
    found = checked(store, toys.registry)
    assert {cell.stop.status for cell in cells(store)} == {
        RunStatus.BUDGET, RunStatus.ERROR, RunStatus.DIVERGED, RunStatus.INFEASIBLE, RunStatus.DONE
    }  # fmt: skip
    assert (found.cells, found.checkable, found.drawn, found.exact) == (24, 24, 24, 24)
    assert found.recomputed.keys() == {cell.key for cell in cells(store)}
    assert (found.mismatches, found.unchecked, found.platforms) == ([], {}, {})


EDITS = {
    "gap": edit.metric("gap", 1 + 1e-15),
    "validation_gap": edit.metric("validation_gap", 1.001, at=5),
    "flops": edit.count("flops", -1),
    "steps": edit.count("steps", 1),
    "samples": edit.count("samples", 1),
    "ending": lambda stop, trace: (replace(stop, status=RunStatus.DONE), trace),
    "reason": lambda stop, trace: (replace(stop, reason="converged after 20 steps"), trace),
    "checkpoints": lambda stop, trace: (stop, trace[:-1]),
}


@pytest.mark.parametrize("metric", EDITS)
def test_an_edit_is_found_and_named(store, toys, metric):
    cell = one(store)
    edit.rewritten(store, cell.key, EDITS[metric])
    found = checked(store, toys.registry)
    (mismatch,) = found.mismatches
    assert (mismatch.key, mismatch.metric) == (cell.key, metric)
    assert mismatch.stored != mismatch.recomputed
    assert len(found.recomputed) == 23
    assert any(called(cell) in line for line in lines(found))


def test_a_failure_made_up_is_found(store, toys):
    cell = one(store)
    made_up = Termination(RunStatus.DIVERGED, "the solution at step 7 is not finite")
    edit.rewritten(store, cell.key, lambda stop, trace: (made_up, trace[:6]))
    assert {m.metric for m in checked(store, toys.registry).mismatches} == {"ending", "checkpoints"}


def test_a_metric_named_falsely_as_the_primary_one_is_found_whatever_is_drawn(store, toys):
    edit.described(store, "ranking", lambda value: value.update(primary="validation_gap"))
    found = checked(store, toys.registry, share=0.01)
    assert found.drawn == 1
    assert {(m.metric, m.stored, m.recomputed) for m in found.mismatches} == {
        ("primary", "validation_gap", "gap")
    }
    assert len({m.key for m in found.mismatches}) == 24


def test_plans_that_call_a_solver_something_else_are_told(store, toys):
    with Store(store, write=True) as opened:
        opened._connection.execute("UPDATE text SET value = 'mine' WHERE value = 'power step=0.5'")
    found = checked(store, toys.registry, share=0.01)
    assert (found.renamed, found.mismatches) == ({"mine": "power"}, [])
    assert "power is called 'mine'" in list(lines(found))


def test_a_solver_under_the_name_of_another_is_found(store, toys):
    registry = Registry(solvers=dict(toys.registry.solvers), problems=toys.registry.problems)
    registry.solvers["sgd"] = registry.solvers["power"]
    with Store(store, write=True) as opened:
        opened._connection.execute(
            "UPDATE text SET value = 'sgd, tuned' WHERE value = 'power step=0.5'"
        )
    found = checked(store, registry, share=0.01)
    assert {(m.metric, m.stored, m.recomputed) for m in found.mismatches} == {
        ("label", "sgd, tuned", "power")
    }


def test_plans_that_name_another_tuned_value_are_found(toys, tmp_path):
    table = {**SUITE, "seeds": 1, "solver": [{"name": "power", "step": {"tune": [0.5, 1.0]}}]}
    store = ran(table, tmp_path / "results.sqlite", toys.registry)
    assert checked(store, toys.registry).mismatches == []
    with Store(store, write=True) as opened:
        opened._connection.execute(
            """UPDATE text SET value = '{"step":9.0}' WHERE value = '{"step":0.5}'"""
        )
    found = checked(store, toys.registry, share=0.01)
    assert {(m.metric, m.stored, m.recomputed) for m in found.mismatches} == {
        ("tuned step", 9, 0.5)
    }


def test_a_cell_under_the_name_of_another_is_damage(store, toys):
    with Store(store, write=True) as opened:
        opened._connection.execute("UPDATE cell SET seed = seed + 10")
    with pytest.raises(StoreError, match="not the digest of its content"):
        checked(store, toys.registry)


def test_the_draw_is_the_same_again_nested_and_not_changed_by_other_cells(store):
    keys = [cell.key for cell in cells(store)]
    first = order(keys, 7)
    assert first == order(reversed(keys), 7) != order(keys, 8)
    assert order(keys[::2], 7) == [key for key in first if key in keys[::2]]


def test_an_edit_is_found_with_the_probability_of_its_cell_being_drawn(store, toys):
    """For real on some seeds; on many seeds by whether the draw has the edited cells."""
    edited = budgeted(store)[:3]
    for key in edited:
        edit.rewritten(store, key, EDITS["flops"])
    keys = [cell.key for cell in cells(store)]
    drawn = [set(order(keys, seed)[:3]) for seed in range(2000)]
    for seed in range(6):
        found = checked(store, toys.registry, share=0.1, seed=seed)
        assert found.drawn == 3
        assert {m.key for m in found.mismatches} == drawn[seed] & set(edited)
    expected = found_with(24, 3, 3)
    assert expected == pytest.approx(1 - (21 * 20 * 19) / (24 * 23 * 22))
    observed = np.mean([bool(chosen & set(edited)) for chosen in drawn])
    assert observed == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 2000))


def test_at_least_one_cell_is_drawn_and_the_odds_are_told(store, toys):
    found = checked(store, toys.registry, share=1e-9)
    assert found.drawn == len(found.recomputed) == 1
    assert list(lines(found))[-2].endswith("1: 4.17 %, 10: 41.7 %")


def test_what_is_not_installed_is_never_verified(store, toys):
    without = Registry(problems=toys.registry.problems)
    found = checked(store, without)
    assert (found.checkable, found.recomputed, found.mismatches) == (0, {}, [])
    ((reason, left_out),) = found.unchecked.items()
    assert "unknown solver 'power'" in reason
    assert len(left_out) == 24


def other_code(store, *modules):
    """Change the digests of code, as an older version of it would have them."""
    old = dict.fromkeys(modules, "0" * 16)
    edit.described(store, "settings", lambda value: value["code"].update(old))


OTHERWISE = "its code is another here (gone, orthobench), and comes out otherwise"


def test_other_code_that_makes_no_difference_is_recomputed_and_named(store, toys):
    other_code(store, "orthobench", "gone")
    found = checked(store, toys.registry)
    assert (found.checkable, found.exact, len(found.recomputed)) == (24, 24, 24)
    assert (found.mismatches, found.unchecked) == ([], {})
    assert found.other_code == dict.fromkeys(found.recomputed, ("gone", "orthobench"))
    told = "  24 cells although their code is another here: gone (24), orthobench (24)"
    assert told in list(lines(found))


@pytest.mark.parametrize("settings", [{}, {"blas": ["openblas 0.1 Z80"]}])
def test_who_edits_a_metric_and_the_digest_of_the_code_gets_not_checked(store, toys, settings):
    other_code(store, "orthobench", "gone")
    edit.described(store, "settings", lambda value: value.update(settings))
    cell = one(store)
    edit.rewritten(store, cell.key, edit.metric("gap", 1.001))
    found = checked(store, toys.registry)
    assert (found.mismatches, found.unchecked) == ([], {OTHERWISE: [called(cell)]})
    assert (found.drawn, len(found.recomputed)) == (24, 23)
    assert cell.key not in {*found.recomputed, *found.other_code}
    assert found.mismatches == []


def test_of_other_code_a_false_primary_metric_is_not_checked(store, toys):
    other_code(store, "orthobench", "gone")
    edit.described(store, "ranking", lambda value: value.update(primary="validation_gap"))
    found = checked(store, toys.registry)
    assert (found.checkable, found.recomputed, found.mismatches) == (0, {}, [])
    assert {reason: len(left_out) for reason, left_out in found.unchecked.items()} == {
        OTHERWISE: 24
    }


def test_other_code_leaves_the_draw_as_it_is(store, toys):
    """An edited cell is drawn with the probability that the share gives, of other code or not."""
    other_code(store, "orthobench", "gone")
    edited = budgeted(store)[:3]
    for key in edited:
        edit.rewritten(store, key, EDITS["flops"])
    keys = [cell.key for cell in cells(store)]
    for seed in range(6):
        found = checked(store, toys.registry, share=0.1, seed=seed)
        caught = {*edited} & {*order(keys, seed)[:3]}
        assert found.drawn == 3
        assert len(found.unchecked.get(OTHERWISE, [])) == len(caught)
        assert found.recomputed.keys() == {*order(keys, seed)[:3]} - caught


@pytest.mark.parametrize("code", ["x", ["x"], {"orthobench": {}}])
def test_code_that_no_run_told_of_is_other_code(store, toys, code):
    edit.described(store, "settings", lambda value: value.update(code=code))
    found = checked(store, toys.registry, share=0.01)
    assert all("orthobench" in modules for modules in found.other_code.values())
    assert len(found.other_code) == 1


def test_a_package_that_is_missing_is_named(store, toys, monkeypatch):
    monkeypatch.setattr(toys.Solver, "packages", ("no-such-package",))
    found = checked(store, toys.registry)
    assert found.checkable == 0
    assert all("no-such-package" in reason for reason in found.unchecked)


@pytest.mark.parametrize(
    ("column", "change", "reason"),
    [
        ("settings", lambda v: v.update(threads=10**6), "needs 1000000 threads"),
        ("settings", lambda v: v.update(budget={"years": 1}), "no cell has such values"),
        ("settings", lambda v: v.pop("threads"), "no cell has such values"),
        ("settings", lambda v: v.update(until={"metric": "gap"}), "no cell has such values"),
        ("settings", lambda v: v.update(data="0" * 64), "its data are others here"),
        ("settings", lambda v: v.update(more=1), "its more is another here"),
        ("problem", lambda v: v["parameters"].pop("k"), "leading-subspace has other parameters"),
        ("problem", lambda v: v["parameters"].update(k=0), "k must be >= 1"),
        ("problem", lambda v: v.update(name="os.system"), "unknown problem 'os.system'"),
        ("solver", lambda v: v["parameters"].update(more=1), "unknown parameter of solver power"),
    ],
)
def test_values_that_no_run_here_can_have_are_named(store, toys, column, change, reason):
    edit.described(store, column, change)
    found = checked(store, toys.registry)
    assert (found.checkable, found.recomputed, found.mismatches) == (0, {}, [])
    assert all(reason in told for told in found.unchecked)


def test_on_another_platform_values_may_differ_a_little_and_it_is_named(store, toys):
    edit.described(store, "settings", lambda value: value.update(blas=["openblas 0.1 Z80"]))
    low, high = budgeted(store)[:2]
    edit.rewritten(store, low, edit.metric("gap", 1 + 5e-7, at=1))
    edit.rewritten(store, high, edit.metric("gap", 1 + 5e-6, at=1))
    found = checked(store, toys.registry)
    assert [m.key for m in found.mismatches] == [high]
    assert (len(found.recomputed), found.exact) == (23, 0)
    ((platform, count),) = found.platforms.items()
    assert platform.startswith("BLAS openblas 0.1 Z80 there, openblas")
    assert count == 24


@pytest.fixture
def pictured(toys, tmp_path):
    table = {**SUITE, "problem": [{"name": "pictured"}], "solver": [{"name": "power"}]}
    return ran(table, tmp_path / "pictured.sqlite", toys.registry)


PICTURES = {
    "UPDATE exhibit SET data = (SELECT data FROM exhibit WHERE name = 'truth')"
    " WHERE name = 'point' AND cell = 1": ["exhibit 'point'"],
    "UPDATE exhibit SET meta = '{\"reference\": true, \"signed\": true}'"
    " WHERE name = 'point' AND cell = 1": ["exhibit 'point'"],
    "UPDATE exhibit SET name = 'line' WHERE name = 'curve' AND cell = 1": [
        "exhibit 'curve'", "exhibit 'line'",
    ],
    "DELETE FROM exhibit WHERE name = 'diagonal' AND cell = 1": ["exhibit 'diagonal'"],
}  # fmt: skip


@pytest.mark.parametrize("change", PICTURES)
def test_an_exhibit_that_was_edited_is_found_on_the_same_platform(pictured, toys, change):
    sound = checked(pictured, toys.registry)
    assert (sound.exact, sound.mismatches, sound.unseen) == (2, [], 0)
    with Store(pictured, write=True) as opened:
        opened._connection.execute(change)
    found = checked(pictured, toys.registry)
    assert sorted(one.metric for one in found.mismatches) == PICTURES[change]
    assert len({one.key for one in found.mismatches}) == 1
    assert found.exact == 1


def test_exhibits_are_named_as_not_compared_on_another_platform(pictured, toys):
    edit.described(pictured, "settings", lambda value: value.update(blas=["openblas 0.1 Z80"]))
    found = checked(pictured, toys.registry)
    assert (len(found.recomputed), found.mismatches, found.unseen) == (2, [], 2)
    assert any("exhibits of 2 cells not compared" in line for line in lines(found))


def test_what_depends_on_rounding_is_no_mismatch_on_another_platform(toys, tmp_path):
    """Of two cells that were edited alike, one comes out otherwise with other kernels, too."""

    @dataclass(frozen=True)
    class Chaotic(toys.Solver):
        name: ClassVar[str] = "chaotic"

        def step(self, oracle, state):
            super().step(oracle, state)
            if state.work.steps == 5 and computing.KERNELS in os.environ:
                state.U = np.roll(state.U, 1, axis=0)

    registry = Registry(solvers=dict(toys.registry.solvers), problems=toys.registry.problems)
    registry.solvers["chaotic"] = Provided(Chaotic, toys.registry.solvers["power"].plugin)
    table = {**SUITE, "seeds": 1, "solver": [{"name": "power"}, {"name": "chaotic"}]}
    store = ran(table, tmp_path / "results.sqlite", registry)
    edit.described(store, "settings", lambda value: value.update(blas=["openblas 0.1 Z80"]))
    for cell in cells(store):
        edit.rewritten(store, cell.key, edit.metric("gap", 1.001, at=9))
    found = checked(store, registry)
    assert {m.cell.split()[0] for m in found.mismatches} == {"power"}
    ((reason, left_out),) = found.unchecked.items()
    assert reason == ROUNDING_DECIDES
    assert {cell.split()[0] for cell in left_out} == {"chaotic"}
    assert computing.KERNELS not in os.environ


@pytest.mark.parametrize("at", [0, 3, -1])
def test_the_checksum_of_a_result_changes_with_any_of_its_checkpoints(store, at):
    before = {cell.key: cell.checksum for cell in cells(store)}
    key = budgeted(store)[0]
    edit.rewritten(store, key, edit.metric("gap", 2, at=at))
    after = {cell.key: cell.checksum for cell in cells(store)}
    assert {one for one in before if before[one] != after[one]} == {key}
    with Store(store) as opened:
        assert {run.key: run.checksum for run in opened.runs()} == after


def test_seconds_apart_from_the_clock_are_not_compared(store, toys):
    def moved(stop, trace):
        return stop, [replace(m, metrics={**m.metrics, TRANSFER: 1.0}) for m in trace]

    edit.rewritten(store, budgeted(store)[0], moved)
    assert checked(store, toys.registry).mismatches == []


def test_a_run_that_a_clock_cut_is_compared_where_both_have_checkpoints(toys, tmp_path):
    table = {**SUITE, "seeds": 1, "budget": {"seconds": 0.002}, "solver": SUITE["solver"][:1]}
    store = ran(table, tmp_path / "results.sqlite", toys.registry)
    found = checked(store, toys.registry)
    assert (found.exact, found.mismatches) == (4, [])
    first, last = (cell.key for cell in cells(store)[:2])
    edit.rewritten(store, first, edit.metric("gap", 1 + 1e-12, at=0))
    edit.rewritten(store, last, edit.count("samples", 1))
    assert {m.key for m in checked(store, toys.registry).mismatches} == {first, last}


def test_what_a_machine_did_to_a_run_is_not_checked_but_its_checkpoints_are(store, toys):
    stop = Termination(RunStatus.TIMEOUT, "killed after its time limit of 1 s")
    whole, none, false = budgeted(store)[:3]
    edit.rewritten(store, whole, lambda _, trace: (stop, trace[:9]))
    edit.rewritten(store, none, lambda *_: (stop, []))
    edit.rewritten(store, false, lambda _, trace: edit.metric("gap", 2)(stop, trace[:9]))
    found = checked(store, toys.registry)
    ((reason, left_out),) = found.unchecked.items()
    assert reason == "its ending, timeout, is a matter of the machine"
    assert len(left_out) == 2
    assert not {whole, none, false} & found.recomputed.keys()
    assert [m.key for m in found.mismatches] == [false]


def test_files_are_read_only_below_folders_that_the_user_names(toys, tmp_path):
    registry = Registry(solvers=toys.registry.solvers, problems=dict(toys.registry.problems))
    plugin = toys.registry.problems["leading-subspace"].plugin

    @dataclass(frozen=True)
    class FromFile(toys.Problem):
        name: ClassVar[str] = "from-file"
        path: str = parameter("", help="the file")

        def checksum(self):
            read.append(self.path)
            return Path(self.path).read_text()

    read, data, elsewhere = [], tmp_path / "data", tmp_path / "elsewhere"
    registry.problems["from-file"] = Provided(FromFile, plugin)
    for folder in (data, elsewhere):
        folder.mkdir()
    file = data / "size"
    file.write_text("content")
    problem = {"name": "from-file", "path": str(file)}
    table = {**SUITE, "seeds": 1, "problem": [problem], "solver": [{"name": "power"}]}
    store = ran(table, tmp_path / "results.sqlite", registry)
    read.clear()
    (reason,) = checked(store, registry).unchecked
    assert f"it reads the file {str(file)!r}" in reason
    assert checked(store, registry, folders=[elsewhere]).checkable == 0
    assert read == []
    assert len(checked(store, registry, folders=[data]).recomputed) == 1
    file.write_text("changed")
    (reason,) = checked(store, registry, folders=[data]).unchecked
    assert reason == "its data are others here: those of from-file"
    read.clear()
    file.rename(elsewhere / "size")
    file.symlink_to(elsewhere / "size")
    assert checked(store, registry, folders=[data]).checkable == 0
    for path in ("size", "../elsewhere/size", "~/size", "C:\\size", "\0"):
        edit.described(store, "problem", lambda v, path=path: v["parameters"].update(path=path))
        assert checked(store, registry, folders=[data]).checkable == 0
    assert read == []


def test_where_data_are_missing_a_cell_is_not_checked(toys, tmp_path, monkeypatch):
    registry = Registry(solvers=toys.registry.solvers, problems=dict(toys.registry.problems))
    plugin = toys.registry.problems["leading-subspace"].plugin

    @dataclass(frozen=True)
    class Published(toys.Problem):
        name: ClassVar[str] = "published"

        def build(self, rng):
            if "ABSENT" in os.environ:
                raise DataError("there is no such file")
            return super().build(rng)

    registry.problems["published"] = Provided(Published, plugin)
    table = {**SUITE, "seeds": 1, "problem": [{"name": "published"}]}
    store = ran(table, tmp_path / "results.sqlite", registry)
    monkeypatch.setenv("ABSENT", "1")
    cell_module._shared.cache_clear()
    found = checked(store, registry)
    assert (found.recomputed, found.mismatches) == ({}, [])
    assert list(found.unchecked) == ["its data are not here: there is no such file"]
    monkeypatch.delenv("ABSENT")
    lacks = Termination(
        RunStatus.ERROR, "no such file", "orthobench.errors.DataError: no such file"
    )
    edit.rewritten(store, budgeted(store)[0], lambda *_: (lacks, []))
    found = checked(store, registry)
    assert (len(found.recomputed), found.mismatches) == (5, [])
    assert list(found.unchecked) == ["its data are not there: no such file"]


def test_where_a_package_of_a_problem_is_missing_a_cell_is_not_checked(toys, tmp_path, monkeypatch):
    registry = Registry(solvers=toys.registry.solvers, problems=dict(toys.registry.problems))
    plugin = toys.registry.problems["leading-subspace"].plugin

    @dataclass(frozen=True)
    class Packed(toys.Problem):
        name: ClassVar[str] = "packed"

        def build(self, rng):
            if "ABSENT" in os.environ:
                try:
                    import no_such_package  # noqa: F401
                except ImportError as error:
                    raise UsageError("it needs the package no_such_package") from error
            return super().build(rng)

    registry.problems["packed"] = Provided(Packed, plugin)
    table = {**SUITE, "seeds": 1, "problem": [{"name": "packed"}], "solver": [{"name": "power"}]}
    store = ran(table, tmp_path / "results.sqlite", registry)
    monkeypatch.setenv("ABSENT", "1")
    cell_module._shared.cache_clear()
    found = checked(store, registry)
    assert (found.recomputed, found.mismatches) == ({}, [])
    (reason,) = found.unchecked
    assert reason == "a package is missing here: it needs the package no_such_package"
