"""Edits of drawn cells are found, and sound stores are confirmed."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import edited_stores as edit
import pytest
from kinds import one_of

from orthobench import api
from orthobench.contract import parameter
from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness import cell as cell_module
from orthobench.harness.executors import run_inline
from orthobench.harness.placement import TRANSFER
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.registry.plugins import Provided, Registry
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store
from orthobench.verify import check
from orthobench.verify.check import called, lines, order, verify

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
    monkeypatch.setattr(check.local, "run", lambda cells, *_: run_inline(cells))


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


def test_sound_store_is_repeated_bit_for_bit_with_any_ending(store, toys):
    found = checked(store, toys.registry)
    assert {cell.stop.status for cell in cells(store)} == {
        RunStatus.BUDGET, RunStatus.ERROR, RunStatus.DIVERGED, RunStatus.INFEASIBLE, RunStatus.DONE
    }  # fmt: skip
    assert (found.cells, found.checkable, found.drawn, found.exact) == (24, 24, 24, 24)
    assert {*found.recomputed} == {cell.key for cell in cells(store)}
    assert (found.mismatches, found.unchecked, found.platforms) == ([], {}, {})


EDITS = {
    "gap": edit.metric("gap", 1 + 1e-15),
    "validation_gap": edit.metric("validation_gap", 1.001, at=5),
    "flops": edit.count("flops", -1),
    "steps": edit.count("steps", 1),
    "samples": edit.count("samples", 1),
    "ending": lambda stop, trace: (replace(stop, status=RunStatus.DONE), trace),
    "checkpoints": lambda stop, trace: (stop, trace[:-1]),
}


@pytest.mark.parametrize("metric", one_of(3, EDITS))
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


def test_a_cell_under_the_name_of_another_is_damage(store, toys):
    with Store(store, write=True) as opened:
        opened._connection.execute("UPDATE cell SET seed = seed + 10")
    with pytest.raises(StoreError, match="not the digest of its content"):
        checked(store, toys.registry)


def test_draw_is_nested_and_does_not_depend_on_other_cells(store):
    keys = [cell.key for cell in cells(store)]
    first = order(keys, 7)
    assert first == order(reversed(keys), 7) != order(keys, 8)
    assert order(keys[::2], 7) == [key for key in first if key in keys[::2]]


def test_cells_of_missing_plugins_are_not_verified(store, toys, monkeypatch):
    found = checked(store, Registry(problems=toys.registry.problems))
    assert (found.checkable, found.recomputed, found.mismatches) == (0, [], [])
    ((reason, left_out),) = found.unchecked.items()
    assert "unknown solver 'power'" in reason
    assert len(left_out) == 24
    monkeypatch.setattr(toys.Solver, "packages", ("no-such-package",))
    found = checked(store, toys.registry)
    assert found.checkable == 0
    assert all("no-such-package" in reason for reason in found.unchecked)


@pytest.mark.parametrize(
    ("column", "change", "reason"),
    [
        ("settings", lambda v: v.update(budget={"years": 1}), "no cell has such values"),
        ("settings", lambda v: v.update(until={"metric": "gap"}), "no cell has such values"),
        ("settings", lambda v: v.update(data="0" * 64), "its data is another here"),
        ("settings", lambda v: v.update(more=1), "its more is another here"),
        ("problem", lambda v: v["parameters"].update(k=0), "k must be >= 1"),
        ("problem", lambda v: v.update(name="os.system"), "unknown problem 'os.system'"),
        ("solver", lambda v: v["parameters"].update(more=1), "unknown parameter of solver power"),
    ],
)
def test_values_that_no_run_here_can_have_are_named(store, toys, column, change, reason):
    edit.described(store, column, change)
    found = checked(store, toys.registry)
    assert (found.checkable, found.recomputed, found.mismatches) == (0, [], [])
    assert all(reason in told for told in found.unchecked)


@pytest.mark.parametrize(
    ("edit_of", "said"),
    [
        (
            lambda v: v.update(blas=["openblas 0.1 Z80"]),
            "BLAS ['openblas 0.1 Z80'] there",
        ),
        (lambda v: v["code"].update(orthobench="0" * 10), "code of orthobench 0000000000 there"),
    ],
)
def test_values_of_another_platform_may_differ_a_little(store, toys, edit_of, said):
    edit.described(store, "settings", edit_of)
    low, high = budgeted(store)[:2]
    edit.rewritten(store, low, edit.metric("gap", 1 + 5e-7, at=1))
    edit.rewritten(store, high, edit.metric("gap", 1 + 5e-6, at=1))
    found = checked(store, toys.registry)
    assert [m.key for m in found.mismatches] == [high]
    assert (len(found.recomputed), found.exact) == (23, 0)
    ((platform, count),) = found.platforms.items()
    assert platform.startswith(said)
    assert count == 24


def test_a_cell_that_fails_here_alone_is_a_mismatch_with_its_reason(store, toys, monkeypatch):
    def broken(self, rng):
        raise ValueError("no such file")

    monkeypatch.setattr(toys.Problem, "build", broken)
    cell_module._shared.cache_clear()
    found = checked(store, toys.registry)
    endings = {m.key: m.recomputed for m in found.mismatches if m.metric == "ending"}
    assert endings.keys() >= {*budgeted(store)}
    assert all("no such file" in said for said in endings.values())


def test_seconds_apart_from_the_clock_are_not_compared(store, toys):
    def moved(stop, trace):
        return stop, [replace(m, metrics={**m.metrics, TRANSFER: 1.0}) for m in trace]

    edit.rewritten(store, budgeted(store)[0], moved)
    assert checked(store, toys.registry).mismatches == []


def test_run_cut_by_a_clock_is_compared_at_common_checkpoints(toys, tmp_path):
    table = {**SUITE, "seeds": 1, "budget": {"seconds": 0.002}, "solver": SUITE["solver"][:1]}
    store = ran(table, tmp_path / "results.sqlite", toys.registry)
    found = checked(store, toys.registry)
    assert (found.exact, found.mismatches) == (4, [])
    first, last = (cell.key for cell in cells(store)[:2])
    edit.rewritten(store, first, edit.metric("gap", 1 + 1e-12, at=0))
    edit.rewritten(store, last, edit.count("samples", 1))
    assert {m.key for m in checked(store, toys.registry).mismatches} == {first, last}


def test_checkpoints_beyond_the_end_of_a_solver_are_found(toys, tmp_path):
    solver = {"name": "power", "fault": "converge"}
    table = {**SUITE, "seeds": 1, "budget": {"seconds": 60.0}, "solver": [solver]}
    store = ran(table, tmp_path / "results.sqlite", toys.registry)
    key = cells(store)[0].key

    def further(stop, trace):
        better = {**trace[-1].metrics, "gap": 0.0}
        last = replace(trace[-1], work=Work(9, 0, 900), metrics=better)
        return replace(stop, status=RunStatus.BUDGET), [*trace, last]

    edit.rewritten(store, key, further)
    found = checked(store, toys.registry).mismatches
    assert {(m.key, m.metric) for m in found} >= {(key, "steps"), (key, "gap")}


def test_timeout_is_not_checked_but_its_checkpoints_are(store, toys):
    stop = Termination(RunStatus.TIMEOUT, "killed after its time limit of 1 s")
    whole, none, false = budgeted(store)[:3]
    edit.rewritten(store, whole, lambda _, trace: (stop, trace[:9]))
    edit.rewritten(store, none, lambda *_: (stop, []))
    edit.rewritten(store, false, lambda _, trace: edit.metric("gap", 2)(stop, trace[:9]))
    found = checked(store, toys.registry)
    ((reason, left_out),) = found.unchecked.items()
    assert reason.startswith("its ending, timeout, is a matter of the machine")
    assert len(left_out) == 2
    assert not {whole, none, false} & {*found.recomputed}
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
    assert reason.startswith("its data is another here: that of power on from-file")
    read.clear()
    file.rename(elsewhere / "size")
    file.symlink_to(elsewhere / "size")
    assert checked(store, registry, folders=[data]).checkable == 0
    for path in ("size", "../elsewhere/size", "~/size", "C:\\size", "\0"):
        edit.described(store, "problem", lambda v, path=path: v["parameters"].update(path=path))
        assert checked(store, registry, folders=[data]).checkable == 0
    assert read == []
