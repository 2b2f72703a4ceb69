"""`orthobench run`: what its options become, and what it says, without a run."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from commands import typed

from orthobench import api
from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.harness.executors import Limits
from orthobench.registry import suite_file
from orthobench.report.terminal.progress import Progress


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Call the command; and what was asked for, run and printed."""
    monkeypatch.chdir(tmp_path)
    seen = SimpleNamespace(asked=None, ran=None, printed=None)

    def call(*words, seeds=5, solvers="ab", failing=(), shown=("1", "2"), error=None):
        def requested(suite, **changes):
            seen.asked = {"suite": suite, **changes}
            labels = [SimpleNamespace(label=label) for label in solvers]
            return SimpleNamespace(name="mine", solvers=labels, seeds=(*range(seeds),), measure="")

        def runs(requested, path, **settings):
            seen.ran = {"path": path, **settings}
            if error:
                raise error
            failures = [SimpleNamespace(key=key) for key in failing]
            return SimpleNamespace(path=path, failures=failures, reported_keys={*shown}, records=())

        monkeypatch.setattr(suite_file, "requested_suite", requested)
        monkeypatch.setattr(api, "run", runs)
        monkeypatch.setattr(
            "orthobench.cli.run.print_results",
            lambda results, folder, as_json, **more: setattr(seen, "printed", (folder, as_json)),
        )
        return CliRunner().invoke(main, ["run", *words])

    call.seen = seen
    return call


def test_options_of_the_suite_are_passed_on(run):
    words = ["mine", "-p", "digits", "-s", "oja", "--seeds", "3", "--samples", "9"]
    words += ["--seconds", "1.5", "--steps", "7", "--flops", "1e6", "--on", "numpy"]
    words += ["--on", "blocks"]
    run(*words, "--measure", "memory", "--tolerance", "0.05")
    assert run.seen.asked == {
        "suite": "mine", "problems": ("digits",), "solvers": ("oja",), "seeds": 3, "samples": 9,
        "seconds": 1.5, "steps": 7, "flops": 1e6, "on": ("numpy", "blocks"), "measure": "memory",
        "tolerance": 0.05,
    }  # fmt: skip
    run()
    assert not any(run.seen.asked.values())


@pytest.mark.parametrize(
    ("words", "seeds", "solvers", "warned"),
    [((), 3, "ab", True), ((), 5, "ab", False), ((), 3, "a", False), (("-q",), 3, "ab", False),
     (("--json",), 3, "ab", False), (("--decide", "12"), 3, "ab", False)],
)  # fmt: skip
def test_too_few_seeds_are_said_before_the_run(run, words, seeds, solvers, warned):
    done = run("mine", *words, seeds=seeds, solvers=solvers, error=UsageError("stop"))
    assert ("3 seeds cannot decide" in done.stderr) is warned


def test_options_of_the_run_are_passed_on(run):
    words = ["--only", "* oja", "--retry", "--decide", "30", "--executor", "dask", "-w", "3"]
    words += ["--isolate", "--timeout", "9", "--memory-limit", "1k", "--scheduler", "tls://a:1"]
    run("mine", *words, "--store", "s.sqlite")
    observer, command = (run.seen.ran.pop(name) for name in ("observer", "command"))
    assert isinstance(observer, Progress)
    assert isinstance(command, str)
    assert run.seen.ran == {
        "path": Path("s.sqlite"), "only": "* oja", "retry": True, "decide": 30,
        "executor": "dask", "workers": 3, "scheduler": "tls://a:1",
        "limits": Limits(9.0, 1024, True),
    }  # fmt: skip
    assert run("mine", "--decide").exit_code == 2


def test_figures_are_drawn_beside_the_store_unless_they_are_off(run):
    last = (
        "tables   orthobench show 'x/s q.sqlite' --tolerance 0.25\n"
        "page     orthobench report 'x/s q.sqlite' --tolerance 0.25 --open\n"
    )
    for words, folder, as_json in (
        ([], Path("x"), False), (["--no-figures"], None, False), (["--json"], Path("x"), True),
    ):  # fmt: skip
        done = run("mine", "--store", "x/s q.sqlite", "--tolerance", "0.25", *words)
        assert run.seen.printed == (folder, as_json), words
        assert done.stdout == ("" if as_json else last), words
    plain = run("mine", "--store", "s.sqlite").stdout
    assert plain == (
        "tables   orthobench show s.sqlite\npage     orthobench report s.sqlite --open\n"
    )


def test_a_failed_run_that_reports_show_gives_exit_code_1(run):
    codes = {(): 0, ("1",): 1, ("3",): 0, ("3", "2"): 1}
    assert {failing: run("mine", failing=failing).exit_code for failing in codes} == codes


def test_a_run_of_which_a_limit_cut_every_cell_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(
        "import time\ndef run(problem, steps, rng):\n    time.sleep(60)\n"
    )
    words = ["run", "-p", "digits k=2", "-s", "slow.py:run", "--seeds", "1", "--timeout", "0.5"]
    typed(*words, "--no-figures", "-q", code=1)
