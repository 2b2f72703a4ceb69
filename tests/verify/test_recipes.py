"""The recipes that verify submissions: isolated for real where this system can, with stand-ins."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from orthobench.cli.verifying import verify
from orthobench.results import tiers

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs" / "ci" / "atlas.sh"
WORKFLOW = ROOT / "docs" / "ci" / "atlas.yml"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts")

PYTHON = r"""#!/bin/sh
# stands for "python -m venv FOLDER", and makes stand-ins for what is in it
mkdir -p "$3/bin"
printf '#!/bin/sh\necho "$@" > %s/pip\n' "$LOG" > "$3/bin/python"
sed "s|LOG|$LOG|g" "$LOG/orthobench" > "$3/bin/orthobench"
chmod +x "$3/bin/python" "$3/bin/orthobench"
"""

ORTHOBENCH = r"""#!/bin/sh
# does what a submission says that was written for it: a shell script
if [ "$1" = verify ]; then
    echo "$@" > words
    . "$2"
fi
mkdir -p site
echo "$@" > site/words
for file in *; do echo "$file"; done > site/index.html
if [ -f linked.zip ]; then ln -s /etc/passwd site/users; fi
"""

RECORD = 'echo "{}" > tiers.json'


def isolates():
    """Whether this system lets a process leave its network."""
    words = ["unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words += [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
    if not all(map(shutil.which, ("unshare", "setpriv", "timeout"))):
        return False
    return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def recipe(tmp_path):
    """Call atlas.sh with submissions, given as what a stand-in for `orthobench verify` does."""
    log = tmp_path / "log"
    log.mkdir()
    tmp_path.chmod(0o755)
    (log / "python").write_text(PYTHON)
    (log / "python").chmod(0o755)
    (log / "orthobench").write_text(ORTHOBENCH)

    def call(*, settings=(), before=None, **submissions):
        files = []
        for name, script in submissions.items():
            file = tmp_path / f"{name}.zip"
            file.write_text(f"{script}\n")
            files.append(file.name)
        if before:
            before()
        others = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        env = {**others, "PYTHON": str(log / "python"), "LOG": str(log), **dict(settings)}
        return subprocess.run(
            ["sh", str(RECIPE), *files],  # noqa: S607
            cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    call.out = tmp_path / "atlas"
    return call


isolated = pytest.mark.skipif(not isolates(), reason="unshare is not allowed, or not there")


@isolated
def test_a_submission_is_verified_with_a_seed_of_its_own_and_goes_into_the_site(recipe):
    done = recipe(mine=f"{RECORD}; cp words site-words; echo said")
    assert (done.returncode, done.stderr) == (0, "")
    assert "mine.zip: exit code 0\nsaid\n" in done.stdout
    out = {path.name: path.read_text() for path in recipe.out.iterdir() if path.is_file()}
    assert out == {"mine.zip.txt": "said\n", "mine.zip.tiers.json": "{}\n", "site.txt": ""}
    site = recipe.out / "site"
    assert (site / "words").read_text() == "atlas ./mine.zip --out site\n"
    assert {"mine.zip", "mine.zip.tiers.json"} <= set((site / "index.html").read_text().split())
    assert (recipe.out.parent / "log" / "pip").read_text().split()[-1] == "orthobench"


@isolated
def test_the_call_has_options_that_there_are_and_a_seed_that_nobody_knows(recipe):
    seeds = set()
    for _ in range(2):
        words = recipe(mine=f"{RECORD}; cat words").stdout.splitlines()[1].split()
        assert words[:2] == ["verify", "./mine.zip"]
        known = {option for parameter in verify.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known
        seeds.add(words[words.index("--seed") + 1])
    assert len(seeds) == 2
    said = recipe(mine=f"{RECORD}; cat words", settings={"SEED": "7", "SHARE": "1"}.items()).stdout
    assert "--share 1 --seed 7 " in said


@isolated
def test_nothing_is_within_reach_of_a_submission(recipe, tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    secret.chmod(0o600)
    look = f"""
        {RECORD}
        echo links $(tail -n +3 /proc/net/dev | cut -d: -f1)
        echo user $(id -u)
        echo processes $(ls -d /proc/[0-9]* | wc -l)
        echo token "$TOKEN"
        cat {secret} 2> errors
        touch {tmp_path}/made 2> errors && echo wrote
        (sleep 300 &)
    """
    done = recipe(mine=look, settings={"TOKEN": "x"}.items())
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert "links lo" in said
    assert "token" in [line.strip() for line in said]
    (processes,) = (int(line.split()[1]) for line in said if line.startswith("processes"))
    assert processes < 10
    if os.geteuid() == 0:
        assert "user 65534" in said
        assert not {"hidden", "wrote"} & set(said)


@isolated
def test_the_exit_code_is_that_of_the_worst_and_a_mismatch_is_the_worst(recipe):
    fine, differs, unchecked = RECORD, f"{RECORD}; exit 1", "exit 2"
    assert recipe(a=fine, b=unchecked, c=differs, d=unchecked).returncode == 1
    assert recipe(a=unchecked, b=fine).returncode == 2
    assert recipe(a="kill -9 $$").returncode == 2
    assert recipe().returncode == 2


@isolated
def test_what_cannot_be_read_is_not_in_the_site_and_links_are_not_followed(recipe):
    assert recipe(a=RECORD, c="ln -s /etc/passwd tiers.json").returncode == 2
    assert recipe(a=RECORD, b="exit 2", c="ln -s /etc/passwd tiers.json").returncode == 2
    listed = set((recipe.out / "site" / "index.html").read_text().split())
    assert {"a.zip", "a.zip.tiers.json"} <= listed
    assert not {"b.zip", "c.zip"} & listed
    assert not (recipe.out / "c.zip.tiers.json").exists()


@isolated
def test_a_site_with_anything_but_files_is_not_taken(recipe):
    done = recipe(linked=RECORD)
    assert (done.returncode, done.stderr) == (2, "atlas.sh: the site has more than files\n")
    assert not (recipe.out / "site").exists()


@isolated
def test_tiers_that_maintainers_wrote_are_kept(recipe, tmp_path):
    known = tiers.Tiers(withdrawn={tiers.ALL: "a bug"})
    path = tmp_path / "mine.zip.tiers.json"
    done = recipe(mine="cat tiers.json", before=lambda: tiers.write(known, path))
    assert done.returncode == 0
    assert json.loads((recipe.out / "mine.zip.tiers.json").read_text())["withdrawn"]


@isolated
def test_a_submission_that_takes_too_long_is_ended(recipe):
    done = recipe(mine="sleep 60", settings={"HOURS": "0.0003"}.items())
    assert done.returncode == 2
    assert "mine.zip: exit code 124" in done.stdout


def test_a_container_has_no_network_no_rights_and_can_write_nowhere_else(recipe, tmp_path):
    docker = tmp_path / "bin"
    docker.mkdir()
    (docker / "docker").write_text('#!/bin/sh\necho "$@"\n')
    (docker / "docker").chmod(0o755)
    path = f"{docker}:{os.environ['PATH']}"
    settings = {"PATH": path, "CONTAINER": "atlas@sha256:1"}.items()
    done = recipe(mine="", settings=settings)
    words = shlex.split(done.stdout.splitlines()[1])
    for option in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges",
        "--user 65534:65534", "--rm",
    ):  # fmt: skip
        assert option in " ".join(words)
    assert words[words.index("atlas@sha256:1") + 1 :][:3] == ["orthobench", "verify", "./mine.zip"]
    assert not (tmp_path / "log" / "pip").exists()


def test_the_workflow_may_only_read_and_runs_nothing_of_a_pull_request():
    yaml = pytest.importorskip("yaml")
    text = WORKFLOW.read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)
    assert jobs["permissions"] == {"contents": "read"}
    assert set(jobs[True]) == {"pull_request", "push", "workflow_dispatch"}  # "on" is a truth value
    assert not any("permissions" in job for job in jobs["jobs"].values())
    assert "secrets." not in text
    steps = [step for job in jobs["jobs"].values() for step in job["steps"]]
    checkouts = [step["with"] for step in steps if "actions/checkout" in step.get("uses", "")]
    assert all(one["persist-credentials"] is False for one in checkouts)
    scripts = [step["run"] for step in steps if "run" in step]
    # what a pull request's author writes is never pasted into a script, nor run
    assert not any("${{" in script for script in scripts)
    assert not re.search(r"(sh|python|\.)\s+theirs/", "\n".join(scripts))


def git(folder, *words):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", "-C", folder, *who, *words],  # noqa: S607
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def added(folder, name, content="x"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)


CHANGES = {
    "a submission": (lambda f: added(f, "submissions/my-results_2.zip"), 0),
    "two": (lambda f: [added(f, f"submissions/{n}.zip") for n in "ab"], 0),
    "tiers": (lambda f: added(f, "submissions/old.zip.tiers.json"), 1),
    "another one's": (lambda f: added(f, "submissions/old.zip", "changed"), 1),
    "its removal": (lambda f: (f / "submissions" / "old.zip").unlink(), 1),
    "its new name": (
        lambda f: (f / "submissions" / "old.zip").rename(f / "submissions" / "b.zip"),
        1,
    ),
    "a script": (lambda f: added(f, "atlas.sh", "echo run"), 1),
    "a hidden name": (lambda f: added(f, "submissions/.zip"), 1),
    "an option": (lambda f: added(f, "submissions/-rf.zip"), 1),
    "a folder": (lambda f: added(f, "submissions/b/c.zip") if mkdir(f) else None, 1),
    "a strange name": (lambda f: added(f, "submissions/a b;$(id).zip"), 1),
    "a link": (lambda f: (f / "submissions" / "b.zip").symlink_to("/etc/passwd"), 1),
}


def mkdir(folder):
    (folder / "submissions" / "b").mkdir()
    return True


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with one submission."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    added(folder, "submissions/old.zip")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "target")
    return folder


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_pull_request_adds_submissions_and_nothing_else(repository, tmp_path, name):
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["verify"]["steps"]
    (script,) = (step["run"] for step in steps if step.get("name") == "Which submissions")
    theirs = shutil.copytree(repository, tmp_path / "theirs")
    target = git(theirs, "rev-parse", "HEAD")
    change, code = CHANGES[name]
    change(theirs)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-qm", "change")
    submitted = git(theirs, "rev-parse", "HEAD")
    env = {"PATH": os.environ["PATH"], "PULL_REQUEST": "true", "TARGET": target}
    done = subprocess.run(
        ["bash", "-e", "-c", script],  # noqa: S607
        cwd=tmp_path, env={**env, "SUBMITTED": submitted}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    if code == 0:
        assert all(path.name.endswith(".zip") for path in (tmp_path / "taken").iterdir())
        assert not (tmp_path / "taken" / "old.zip").exists()
