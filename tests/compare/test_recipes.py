"""The recipes for CI do what they say: the shell form is run, of the other what can be."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from orthobench.cli.comparing import compare
from orthobench.compare.reports import MARKER

ROOT = Path(__file__).parents[2]
GATE = ROOT / "docs" / "ci" / "gate.sh"
WORKFLOW = ROOT / "docs" / "ci" / "github-actions.yml"
PLUGIN = ROOT / "tests" / "third_party_plugin"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts")

PYTHON = """#!/bin/sh
# stands for "python -m venv FOLDER", and makes stand-ins for what is in it
mkdir -p "$3/bin"
cat > "$3/bin/python" << 'END'
#!/bin/sh
echo "$@" >> "$LOG/pip"
if [ "$3" = wheel ]; then
    mkdir "$7"
    touch "$7/toy_plugin-1.0-py3-none-any.whl"
    cat "$8/toy_solver.py" > "$LOG/built"
fi
exit ${PIP:-0}
END
cat > "$3/bin/orthobench" << 'END'
#!/bin/sh
for word; do echo "$word"; done > "$LOG/words"
echo told
exit ${CODE:-0}
END
chmod +x "$3/bin/python" "$3/bin/orthobench"
echo "$3" > "$LOG/environment"
"""


@pytest.fixture
def gate(project, tmp_path):
    """Call gate.sh in a clone of the project, with stand-ins for python and what it installs."""
    log, clone = tmp_path / "log", tmp_path / "clone"
    log.mkdir()
    (log / "python").write_text(PYTHON)
    (log / "python").chmod(0o755)
    project.git("clone", "-q", str(project.root), str(clone))

    def call(*words, **variables):
        others = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        env = others | {"PYTHON": str(log / "python"), "LOG": str(log)} | variables
        done = subprocess.run(
            ["sh", str(GATE), *words],  # noqa: S607
            cwd=clone, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = {path.name: path.read_text().splitlines() for path in log.iterdir()}
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr, **said)

    call.clone = clone
    return call


def test_the_gate_compares_with_where_the_branch_left_its_target(gate, project):
    project.git("-C", str(gate.clone), "checkout", "-q", "-b", "change", project.first)
    done = gate("--tolerance", "time=5 %", SUITE="a suite")
    assert (done.code, done.out, done.err) == (0, "told\n", "")
    work = Path(done.environment[0]).parent
    wheel = f"{work}/wheel/toy_plugin-1.0-py3-none-any.whl"
    assert done.words == [
        "compare", wheel, "HEAD", "--suite", "a suite",
        "--markdown", "gate/comparison.md", "--junit", "gate/comparison.xml",
        "--tolerance", "time=5 %",
    ]  # fmt: skip
    assert done.pip == [
        f"-m pip wheel --quiet --no-deps --wheel-dir {work}/wheel {work}/base/",
        f"-m pip install --quiet orthobench {wheel}",
    ]
    assert done.built[0] == "VERSION = 'first'"
    assert (gate.clone / "gate" / "comparison.txt").read_text() == "told\n"
    assert not work.exists()
    assert project.git("-C", str(gate.clone), "worktree", "list").count("\n") == 0


def test_the_gate_takes_the_revisions_that_it_is_given(gate):
    done = gate(BASE="v1.0", HEAD="main", OUT="some where", ORTHOBENCH="orthobench==9")
    assert done.words[2] == "main"
    assert done.words[3:5] == ["--markdown", "some where/comparison.md"]
    assert done.built[0] == "VERSION = 'first'"
    assert done.pip[1].startswith("-m pip install --quiet orthobench==9 /")


@pytest.mark.parametrize("name", ["TARGET", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET"])
def test_the_target_is_what_the_ci_system_says(gate, project, name):
    done = gate(**{name: "feature/fast"})
    assert done.built[0] == "VERSION = 'first'"


@pytest.mark.parametrize("code", ["1", "2", "130"])
def test_the_gates_exit_code_is_that_of_the_comparison(gate, code):
    assert gate(CODE=code).code == int(code)


def test_a_gate_that_cannot_be_set_up_is_neither_green_nor_a_regression(gate):
    done = gate(TARGET="nowhere")
    assert (done.code, done.out) == (2, "")
    assert "origin/nowhere have no commit in common; fetch the whole history" in done.err
    assert gate(PIP="1").code == 2
    assert gate(PYTHON="false").code == 2
    (gate.clone / "file").touch()
    assert gate(OUT="file").code == 2


def commands(text):
    """Return the words of every call of ``orthobench compare``."""
    joined = re.sub(r"\\\n\s*", "", text)
    found = re.findall(r"(?<!<!-- )orthobench\"? (compare .*?)(?:\n|&&|> )", joined)
    return [shlex.split(words) for words in found]


@pytest.mark.parametrize("path", [GATE, WORKFLOW], ids=lambda path: path.name)
def test_recipes_use_options_that_there_are(path):
    (words,) = commands(path.read_text(encoding="utf-8"))
    known = {option for parameter in compare.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
    assert {"--markdown", "--junit"} <= set(words)


def test_actions_are_pinned_by_the_same_digests_everywhere():
    """A tag can be moved to other code; a digest cannot."""
    templates = ROOT / "orthobench" / "registry" / "templates" / "plugin" / "dot-github"
    places = (WORKFLOW.parent, ROOT / ".github")
    files = [*(path for place in places for path in place.rglob("*.yml")), *templates.rglob("*.in")]
    used = [
        line.partition("uses: ")[2]
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses: " in line
    ]
    assert len({line.partition("@")[0] for line in used}) == len(set(used)) == 8
    assert all(re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+.*", line) for line in used)


def test_the_workflow_is_yaml_and_its_second_job_alone_may_write():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert jobs["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs["jobs"].items() if "permissions" in job] == ["comment"]
    assert jobs["jobs"]["compare"]["needs"] == "build"
    assert jobs["jobs"]["comment"]["needs"] == "compare"
    scripts = [
        step["run"] for job in jobs["jobs"].values() for step in job["steps"] if "run" in step
    ]
    # what a pull request's author writes is never pasted into a script
    assert not any("${{" in script for script in scripts)


GH = """#!/bin/sh
# stands for GitHub: lists comments by the filter, and writes down what else it is asked
echo "$@" >> "$LOG"
case "$*" in
*--jq*) for word; do filter=$word; done; printf '%s' "$COMMENTS" | jq "$filter" ;;
esac
"""

COMMENTS = (
    '{"id": 1, "user": {"type": "User"}, "body": "MARKER quoted"}',
    '{"id": 2, "user": {"type": "Bot"}, "body": "coverage, not MARKER"}',
    '{"id": 3, "user": {"type": "Bot"}, "body": "MARKER\\n### orthobench"}',
    '{"id": 4, "user": {"type": "Bot"}, "body": "coverage"}',
)


@pytest.mark.skipif(shutil.which("jq") is None, reason="gh filters with jq")
@pytest.mark.parametrize(("there", "asked"), [
    (COMMENTS, "api --silent -X PATCH repos/me/toy/issues/comments/3 -F body=@comparison.md"),
    (COMMENTS[:2], "api --silent repos/me/toy/issues/7/comments -F body=@comparison.md"),
    ((), "api --silent repos/me/toy/issues/7/comments -F body=@comparison.md"),
])  # fmt: skip
def test_the_workflow_updates_its_own_comment_and_no_other(tmp_path, there, asked):
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["comment"]["steps"]
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    env = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(tmp_path / "log"), "NUMBER": "7",
        "GH_REPO": "me/toy", "COMMENTS": f"[{', '.join(there)}]".replace("MARKER", MARKER),
    }  # fmt: skip
    subprocess.run(["bash", "-e", "-c", steps[-1]["run"]], env=env, check=True)  # noqa: S607
    assert (tmp_path / "log").read_text().splitlines()[-1] == asked


SUITE = """
seeds = 1
budget = { samples = 20000 }
[[problem]]
name = "spiked-covariance"
[[solver]]
name = "minibatch-oja"
"""

STEP = "eta = self.step_size / state.work.steps**0.5"
WORSE = "eta = 0.01 * self.step_size / state.work.steps**0.5"
UPDATE = "state.U = orthonormalize(state.U + eta"
USELESS = "orthonormalize(state.U + X.T @ X @ state.U);"


def git(folder, *words):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(
        ["git", "-C", folder, *who, *words],  # noqa: S607
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not PLUGIN.exists(), reason="there is no tests/third_party_plugin")
@pytest.mark.parametrize(
    ("changed", "code", "worse"),
    [
        ({}, 0, set()),
        ({STEP: WORSE, UPDATE: f"{USELESS} {UPDATE}"}, 1, {"result", "work", "time"}),
    ],
    ids=["the-same", "worse-and-slower"],
)
def test_the_gate_of_a_plugin_of_its_own(changed, code, worse, tmp_path):
    """A real distribution, installed by pip: the gate is red where it should be, and only there."""
    plugin = tmp_path / "plugin"
    shutil.copytree(PLUGIN, plugin, ignore=shutil.ignore_patterns(".*_cache", "__pycache__"))
    (plugin / "suite.toml").write_text(SUITE)
    git(plugin, "init", "-q")
    git(plugin, "add", ".")
    git(plugin, "commit", "-qm", "before")
    (solver,) = plugin.glob("src/*/solver.py")
    text = solver.read_text()
    for old, new in changed.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    solver.write_text(f"{text}\n")
    git(plugin, "commit", "-qam", "after")
    variables = {"BASE": "HEAD~1", "SUITE": "suite.toml", "ORTHOBENCH": str(ROOT)}
    done = subprocess.run(
        ["sh", str(GATE), "--budget", "60", "--tolerance", "time=20%"],  # noqa: S607
        cwd=plugin, env=os.environ | variables | {"PYTHON": sys.executable},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    suites = ET.parse(plugin / "gate" / "comparison.xml").getroot()  # noqa: S314
    assert all(int(suite.get("tests")) == 1 for suite in suites)
    failed = {suite.get("name").split()[-1] for suite in suites if suite.get("failures") != "0"}
    assert failed == worse
    assert "regression" in (plugin / "gate" / "comparison.md").read_text(encoding="utf-8")
