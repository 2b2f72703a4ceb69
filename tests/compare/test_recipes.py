"""The recipes for CI do what they say: the shell form is run, of the other what can be."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from orthobench.compare.reports import MARKER

from .conftest import git

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "orthobench" / "registry" / "templates"
GATE = TEMPLATES / "ci" / "common" / "gate.sh.in"
WORKFLOW = TEMPLATES / "ci" / "github" / "dot-github" / "workflows" / "gate.yml.in"
GITLAB = TEMPLATES / "ci" / "gitlab" / "dot-gitlab-ci.yml.in"
PLUGIN = ROOT / "tests" / "third_party_plugin"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts")

PYTHON = f"""#!/bin/sh
# stands for "python -m venv FOLDER", and makes stand-ins for what is in it
[ "$1" = -m ] || exec {sys.executable} "$@"
echo made >> "$LOG/environments"
mkdir -p "$3/bin"
cat > "$3/bin/python" << 'END'
#!/bin/sh
echo "$@" >> "$LOG/pip"
cat "$7" > "$LOG/requirements"
exit ${{PIP:-0}}
END
cat > "$3/bin/orthobench" << 'END'
#!/bin/sh
for word; do echo "$word"; done > "$LOG/words"
echo told
echo why >&2
exit ${{CODE:-0}}
END
chmod +x "$3/bin/python" "$3/bin/orthobench"
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
    call.git = lambda *words: project.git("-C", str(clone), *words)
    return call


def test_gate_compares_with_the_merge_base(gate, project):
    gate.git("checkout", "-q", "-b", "change", project.first)
    done = gate("--tolerance", "time=5 %", SUITE="a suite")
    assert (done.code, done.out, done.err) == (0, "told\n", "why\n")
    short = project.first[:12]
    assert done.words == [
        "compare", project.first, "HEAD", "--suite", "a suite",
        "--name-base", f"main@{short}", "--name-head", f"change@{short}",
        "--markdown", "gate/comparison.md", "--junit", "gate/comparison.xml",
        "--tolerance", "time=5 %",
    ]  # fmt: skip
    assert (gate.clone / "gate" / "comparison.txt").read_text() == "told\n"


def test_gate_takes_given_revisions_and_names(gate, project):
    done = gate(BASE="v1.0", HEAD="main", NAME="mine", OUT="some where", ORTHOBENCH="orthobench==9")
    assert done.words[1:5] == ["v1.0", "main", "--suite", "gate.toml"]
    assert done.words[8].startswith("mine@")
    assert "some where/comparison.md" in done.words
    assert done.pip[0].startswith("-m pip install --quiet orthobench==9 -r ")


def test_environment_with_both_sides_dependencies_is_made_once(gate, project):
    file = gate.clone / "pyproject.toml"
    for dependencies in (["numpy>=2"], ["numpy>=2.1", "scipy; python_version > '3'"]):
        file.write_text(f"{file.read_text().split('dependencies')[0]}dependencies = {dependencies}")
        gate.git("commit", "-qam", "need more")
    done = gate(BASE="HEAD~1")
    assert done.requirements == ["numpy>=2", "numpy>=2.1", "scipy; python_version > '3'"]
    assert len(gate(BASE="HEAD~1").environments) == 1
    assert gate(BASE="HEAD~2", EXTRA="cython").requirements == [
        "cython", "numpy>=2.1", "scipy; python_version > '3'",
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["1", "2", "130"])
def test_the_gates_exit_code_is_that_of_the_comparison(gate, code):
    assert gate(CODE=code).code == int(code)


def test_failed_setup_of_the_gate_is_in_every_report(gate):
    """Neither green nor a regression; and the comment of an earlier push is replaced."""
    for variables, said in (
        ({"TARGET": "nowhere"}, "origin/nowhere is not here"),
        ({"REMOTE": "upstream"}, "no remote upstream"),
        ({"PIP": "1"}, "pip cannot install orthobench"),
        ({"CODE": "2"}, "why"),
    ):
        done = gate(**variables)
        assert done.code == 2
        assert said in done.err
        markdown = (gate.clone / "gate" / "comparison.md").read_text()
        assert markdown.startswith(f"{MARKER}\n### orthobench · not compared")
        assert said in markdown
        junit = ET.parse(gate.clone / "gate" / "comparison.xml").getroot()  # noqa: S314
        assert said in next(junit.iter("error")).get("message")
    assert gate(PYTHON="false").code == 2
    (gate.clone / "file").touch()
    assert gate(OUT="file").code == 2


def test_shallow_clone_and_unrelated_commits_are_named(gate, project):
    gate.git("checkout", "-q", "--orphan", "alone")
    gate.git("commit", "-q", "-m", "alone")
    assert "no commit in common" in gate().err
    shutil.rmtree(gate.clone)
    project.git("clone", "-q", "--depth", "1", project.root.as_uri(), str(gate.clone))
    branch = "feature/fast:refs/remotes/origin/feature/fast"
    gate.git("fetch", "-q", "--depth", "1", "origin", branch)
    assert "the clone is shallow; fetch the whole history" in gate(TARGET="feature/fast").err


def test_actions_are_pinned_by_the_same_digests_everywhere():
    """A tag can be moved to other code; a digest cannot."""
    files = [WORKFLOW, *(ROOT / ".github").rglob("*.yml")]
    used = [
        line.partition("uses: ")[2]
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses: " in line
    ]
    assert len({line.partition("@")[0] for line in used}) == len(set(used)) == 9
    assert all(re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+.*", line) for line in used)


def test_only_the_second_job_of_the_workflow_may_write():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert jobs["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs["jobs"].items() if "permissions" in job] == ["comment"]
    assert jobs["jobs"]["comment"]["needs"] == "gate"
    assert set(jobs[True]) == {"pull_request", "merge_group"}  # "on" is a truth value of YAML
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


SLOWER = "        X = oracle.take(self.batch)\n"
"""The line after which the planted change computes something useless."""


@pytest.mark.slow
def test_gate_of_a_new_plugin_finds_a_slower_kernel(tmp_path):
    """The gate is green for a comment, and red for a slower kernel."""
    command = Path(sys.executable).with_name("orthobench")
    words = ["plugin", "new", "orthobench-my-method", "--ci", "github", "-o", "."]
    subprocess.run([command, *words], cwd=tmp_path, check=True, capture_output=True)
    steps = WORKFLOW.read_text(encoding="utf-8")
    assert "run: sh gate.sh\n" in steps
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "begin")
    solver = tmp_path / "src" / "orthobench_my_method" / "solver.py"
    text = solver.read_text()
    assert text.count(SLOWER) == 1
    wasted = "        for _ in range(3):\n            orthonormalize(state.U)\n"
    wheels = tmp_path / "wheels"  # of a folder the environment would be made again each time
    make = ["-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT]
    subprocess.run([sys.executable, *make], check=True, capture_output=True)
    (wheel,) = wheels.iterdir()
    others = {"BASE": "HEAD~1", "ORTHOBENCH": str(wheel), "PYTHON": sys.executable}
    for subject, changed, code in (
        ("say more", f"{text}# the end\n", 0),
        ("slow it down", text.replace(SLOWER, SLOWER + wasted), 1),
    ):
        solver.write_text(changed)
        git(tmp_path, "commit", "-qam", subject)
        done = subprocess.run(
            ["sh", "gate.sh"],  # noqa: S607
            cwd=tmp_path, env=os.environ | others, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
    suites = ET.parse(tmp_path / "gate" / "comparison.xml").getroot()  # noqa: S314
    failed = {suite.get("name").split()[-1] for suite in suites if suite.get("failures") != "0"}
    assert failed == {"time"}
    assert "main" in (tmp_path / "gate" / "comparison.md").read_text(encoding="utf-8")
