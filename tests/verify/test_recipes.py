"""The recipes that verify submissions: isolated for real where this system can, with stand-ins."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import uuid
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
    words += ["--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    if not all(map(shutil.which, ("unshare", "setpriv", "timeout", "prlimit"))):
        return False
    mounts = ["mount", "-t", "tmpfs", "tmpfs", "/run"]
    return subprocess.run([*words, *mounts], capture_output=True, check=False).returncode == 0


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
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


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
def test_nothing_is_within_reach_of_a_submission(recipe, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    secret.chmod(0o600)
    shared = uuid.uuid4().hex
    look = f"""
        {RECORD}
        echo links $(tail -n +3 /proc/net/dev | cut -d: -f1)
        echo user $(id -u)
        echo processes $(ls -d /proc/[0-9]* | wc -l)
        echo token "$TOKEN"
        cat {secret} 2> errors
        for folder in {tmp_path} /tmp /var/tmp /dev /run $(dirname "$PWD"); do
            touch $folder/{tmp_path.name} 2> errors && echo "wrote to $folder"
        done
        echo shared > /dev/shm/{shared} && cat /dev/shm/{shared}
        echo sockets $(find /run -type s | wc -l)
        mount -o remount,bind,rw / 2> errors && echo remounted
        echo core $(ulimit -c)
        (sleep 300 &)
    """
    done = recipe(mine=look, settings={"TOKEN": "x"}.items())
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert not [line for line in said if line.startswith("wrote to")]
    assert "remounted" not in said
    assert {"shared", "sockets 0", "core 0"} <= set(said)
    assert not Path("/dev/shm", shared).exists()  # noqa: S108
    assert "links lo" in said
    assert "token" in [line.strip() for line in said]
    (processes,) = (int(line.split()[1]) for line in said if line.startswith("processes"))
    assert processes < 10
    if os.geteuid() == 0:
        assert "user 65534" in said
        assert "hidden" not in said


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
def test_the_site_of_what_has_tiers_is_made_without_verifying_anything(recipe, tmp_path):
    known = tiers.Tiers(withdrawn={tiers.ALL: "a bug"})
    path = tmp_path / "known.zip.tiers.json"
    scripts = {"known": "echo run > ran", "new": f"{RECORD}; echo run > ran"}
    recipe.out.mkdir()
    (recipe.out / "new.zip.tiers.json").write_text("of another time")
    done = recipe(
        **scripts, settings={"SHARE": "0"}.items(), before=lambda: tiers.write(known, path)
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    site = recipe.out / "site"
    assert (site / "words").read_text() == "atlas ./known.zip --out site\n"
    listed = set((site / "index.html").read_text().split())
    assert {"known.zip", "known.zip.tiers.json"} <= listed
    assert not {"ran", "new.zip"} & listed
    assert (recipe.out / "known.zip.tiers.json").read_text() == path.read_text()
    path.unlink()
    assert recipe(**scripts, settings={"SHARE": "0"}.items()).returncode == 2


@isolated
def test_data_sets_that_were_downloaded_before_can_be_read_and_not_be_changed(recipe, tmp_path):
    look = f'{RECORD}; cd "$ORTHOBENCH_DATA"; cat set; touch more || echo fixed'
    with tempfile.TemporaryDirectory(prefix="my data") as folder:
        added(Path(folder), "set", "content")
        Path(folder).chmod(0o755)
        for name in (folder, os.path.relpath(folder, tmp_path)):
            done = recipe(mine=look, settings={"ORTHOBENCH_DATA": name}.items())
            assert done.returncode == 0, done.stderr
            assert "\ncontent" in done.stdout
            assert "fixed" in done.stdout
    assert "content" not in recipe(mine=look).stdout
    assert recipe(mine=look, settings={"ORTHOBENCH_DATA": "nowhere"}.items()).returncode == 2


@isolated
def test_tiers_may_be_written_where_they_were_read(recipe, tmp_path):
    known = tiers.Tiers(withdrawn={tiers.ALL: "a bug"})
    path = tmp_path / "mine.zip.tiers.json"
    for share in ("0.1", "0"):
        done = recipe(
            mine="cat tiers.json", settings={"OUT": ".", "SHARE": share}.items(),
            before=lambda: tiers.write(known, path),
        )  # fmt: skip
        assert done.returncode == 0
        assert tiers.read(path) == known


@pytest.mark.wide
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
        "--user 65534:65534", "--rm", "--pids-limit 512", "--memory 8g", "--ulimit core=0",
    ):  # fmt: skip
        assert option in " ".join(words)
    mounted = [words[i + 1] for i, word in enumerate(words) if word in ("--volume", "--mount")]
    assert [one.split(":")[1:] for one in mounted] == [["/box"]]
    assert words[words.index("atlas@sha256:1") + 1 :][:3] == ["orthobench", "verify", "./mine.zip"]
    data = {**dict(settings), "ORTHOBENCH_DATA": str(tmp_path)}.items()
    said = recipe(mine="", settings=data).stdout.splitlines()[1]
    assert f"--volume {tmp_path}:/data:ro --env ORTHOBENCH_DATA=/data --workdir /box " in said
    assert not (tmp_path / "log" / "pip").exists()


def test_a_container_does_not_outlive_its_time(recipe, tmp_path):
    docker = tmp_path / "bin"
    docker.mkdir()
    (docker / "docker").write_text(
        f'#!/bin/sh\necho "$1 $2 $3 $4" >> {tmp_path}/said\n[ "$1" = rm ] || sleep 60\n'
    )
    (docker / "docker").chmod(0o755)
    path = f"{docker}:{os.environ['PATH']}"
    settings = {"PATH": path, "CONTAINER": "atlas@sha256:1", "HOURS": "0.0001"}.items()
    assert recipe(mine="", settings=settings).returncode == 2
    begun, removed = (line.split() for line in (tmp_path / "said").read_text().splitlines())
    assert begun[:3] == ["run", "--rm", "--name"]
    assert removed == ["rm", "--force", begun[3]]


@pytest.fixture(scope="module")
def workflow():
    """Return the workflow as data; "on" is a truth value in YAML 1.1."""
    return pytest.importorskip("yaml").safe_load(WORKFLOW.read_text(encoding="utf-8"))


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def uses(workflow, action):
    """What the steps that use an action of GitHub's are given, in their order."""
    used = f"actions/{action}@"
    return [step["with"] for step in steps_of(workflow) if step.get("uses", "").startswith(used)]


def script(workflow, name):
    (found,) = (step["run"] for step in steps_of(workflow) if step.get("name") == name)
    return found


def test_the_workflow_may_only_read_and_has_no_secrets(workflow):
    assert workflow["permissions"] == {}
    rights = [job["permissions"] for job in workflow["jobs"].values()]
    assert rights == [{"contents": "read"}] * 3
    assert set(workflow[True]) == {"pull_request", "push", "schedule", "workflow_dispatch"}
    text = WORKFLOW.read_text(encoding="utf-8")
    assert not re.search(r"secrets\.|github\.token|GITHUB_TOKEN", text)
    checkouts = uses(workflow, "checkout")
    assert [one["persist-credentials"] for one in checkouts] == [False] * 5
    assert all("submodules" not in one and "lfs" not in one for one in checkouts)


def test_tiers_come_from_the_run_itself_and_from_what_was_committed(workflow):
    """Not from another run, such as that of a pull request, nor from a cache that one may fill."""
    (taken,) = uses(workflow, "download-artifact")
    assert set(taken) == {"pattern", "path", "merge-multiple"}
    assert uses(workflow, "cache") == []
    verified, _ = uses(workflow, "upload-artifact")
    assert verified["path"] == "atlas/*.zip.*"
    assert re.fullmatch(taken["pattern"].replace("*", ".*"), verified["name"])


def test_each_submission_has_a_machine_of_its_own_and_none_keeps_another_from_the_site(workflow):
    which, verify_, site = workflow["jobs"].values()
    assert verify_["strategy"] == {
        "fail-fast": False,
        "matrix": {"name": "${{ fromJSON(needs.which.outputs.names) }}"},
    }
    assert which["outputs"] == {"names": "${{ steps.which.outputs.names }}"}
    assert site["needs"] == ["which", "verify"]
    assert site["if"] == "${{ !cancelled() && needs.which.result == 'success' }}"


def test_the_workflow_runs_on_a_machine_that_is_thrown_away_and_ends(workflow):
    for job in workflow["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        assert 0 < job["timeout-minutes"] <= 360
        assert not {"container", "services", "continue-on-error"} & set(job)


def test_the_workflow_runs_nothing_of_a_pull_request(workflow):
    scripts = [step["run"] for step in steps_of(workflow) if "run" in step]
    # what a pull request's author writes is never pasted into a script, nor run
    assert not any("${{" in script for script in scripts)
    assert not re.search(r"(sh|python|\.|-r)\s+theirs/", "\n".join(scripts))
    refs = {(one["path"], one["ref"]) for one in uses(workflow, "checkout")}
    assert refs == {
        ("ours", "${{ github.event.pull_request.base.sha || github.sha }}"),
        ("theirs", "${{ github.event.pull_request.head.sha || github.sha }}"),
    }


def test_what_the_workflow_uses_is_pinned_by_digest(workflow):
    used = [step["uses"] for step in steps_of(workflow) if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", one) for one in used)
    installed = workflow["env"]["ORTHOBENCH"].split()
    assert "--require-hashes" in installed
    assert installed[-2:] == ["-r", "ours/requirements.txt"]


def bash(text, folder, **variables):
    """Run a step as a runner does."""
    return subprocess.run(
        ["bash", "-e", "-c", text],  # noqa: S607
        cwd=folder, env={"PATH": os.environ["PATH"], **variables}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@needs_bash
@pytest.mark.parametrize("code", [0, 1, 2])
def test_what_a_submission_says_is_no_command_of_the_runner(workflow, tmp_path, code):
    sudo = tmp_path / "sudo"
    sudo.write_text(f"#!/bin/sh\necho '::error::mine'\nexit {code}\n")
    sudo.chmod(0o755)
    done = bash(script(workflow, "Verify"), tmp_path, PATH=f"{tmp_path}:{os.environ['PATH']}")
    begun, said, ended = done.stdout.splitlines()
    assert begun.startswith("::stop-commands::")
    assert len(word := begun.removeprefix("::stop-commands::")) == 32
    assert (said, ended) == ("::error::mine", f"::{word}::")
    assert done.returncode == code


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
    "a submission": (lambda f: added(f, "submissions/my-results_2.zip"), ["my-results_2.zip"]),
    "two": (lambda f: [added(f, f"submissions/{n}.zip") for n in "ab"], ["a.zip", "b.zip"]),
    "tiers": (lambda f: added(f, "submissions/old.zip.tiers.json"), None),
    "its own tiers": (
        lambda f: [added(f, f"submissions/a.zip{suffix}") for suffix in ("", ".tiers.json")],
        None,
    ),
    "another one's": (lambda f: added(f, "submissions/old.zip", "changed"), None),
    "its removal": (lambda f: (f / "submissions" / "old.zip").unlink(), None),
    "its new name": (
        lambda f: (f / "submissions" / "old.zip").rename(f / "submissions" / "b.zip"),
        None,
    ),
    "a script": (lambda f: added(f, "atlas.sh", "echo run"), None),
    "a hidden name": (lambda f: added(f, "submissions/.zip"), None),
    "an option": (lambda f: added(f, "submissions/-rf.zip"), None),
    "a folder": (lambda f: added(f, "submissions/b/c.zip") if mkdir(f) else None, None),
    "a strange name": (lambda f: added(f, "submissions/a b;$(id).zip"), None),
    "more JSON": (lambda f: added(f, 'submissions/a","b.zip'), None),
    "a line more": (lambda f: added(f, "submissions/a.zip\nsubmissions/b.zip"), None),
    "a link": (lambda f: (f / "submissions" / "b.zip").symlink_to("/etc/passwd"), None),
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


def which(workflow, folder, **variables):
    """Which submissions a run verifies, as GitHub has it; none where the step fails."""
    output = folder / "output"
    done = bash(script(workflow, "Which submissions"), folder, GITHUB_OUTPUT=output, **variables)
    if done.returncode:
        assert not output.exists()
        return None
    name, _, value = output.read_text().strip().partition("=")
    output.unlink()
    assert name == "names"
    return json.loads(value)


@pytest.mark.parametrize("name", CHANGES)
@needs_bash
def test_a_pull_request_adds_submissions_and_nothing_else(repository, workflow, tmp_path, name):
    theirs = shutil.copytree(repository, tmp_path / "theirs")
    target = git(theirs, "rev-parse", "HEAD")
    change, names = CHANGES[name]
    change(theirs)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-qm", "change")
    told = {"TARGET": target, "SUBMITTED": git(theirs, "rev-parse", "HEAD")}
    assert which(workflow, tmp_path, EVENT="pull_request", **told) == names


@needs_bash
def test_a_push_verifies_what_has_no_tiers_and_a_maintainer_all(repository, workflow, tmp_path):
    theirs = shutil.copytree(repository, tmp_path / "theirs")
    added(theirs, "submissions/new.zip")
    assert which(workflow, tmp_path, EVENT="push") == ["new.zip", "old.zip"]
    added(theirs, "submissions/old.zip.tiers.json")
    assert which(workflow, tmp_path, EVENT="push") == ["new.zip"]
    for event in ("schedule", "workflow_dispatch"):
        assert which(workflow, tmp_path, EVENT=event) == ["new.zip", "old.zip"]
    added(theirs, "submissions/new.zip.tiers.json")
    assert which(workflow, tmp_path, EVENT="push") == []
    added(theirs, 'submissions/a".zip')
    assert which(workflow, tmp_path, EVENT="push") is None


@needs_bash
def test_the_site_is_of_what_maintainers_committed_and_of_what_was_verified(workflow, tmp_path):
    log = tmp_path / "bin"
    log.mkdir()
    (log / "sudo").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\necho ::error::mine\n')
    (log / "sudo").chmod(0o755)
    for side, name in (
        ("ours", "old.zip"), ("ours", "old.zip.tiers.json"), ("ours", "both.zip"),
        ("ours", "both.zip.tiers.json"), ("theirs", "both.zip"), ("theirs", "new.zip"),
        ("theirs", "unread.zip"), ("theirs", "unread.zip.tiers.json"),
    ):  # fmt: skip
        (tmp_path / side).mkdir(exist_ok=True)
        added(tmp_path / side, f"submissions/{name}", side)
    for name in ("both.zip.tiers.json", "new.zip.tiers.json", "unread.zip.txt"):
        added(tmp_path, f"atlas/{name}", "verified")
    done = bash(script(workflow, "Site"), tmp_path, PATH=f"{log}:{os.environ['PATH']}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name: path.read_text() for path in (tmp_path / "taken").iterdir()} == {
        "old.zip": "ours", "old.zip.tiers.json": "ours", "both.zip": "theirs",
        "both.zip.tiers.json": "verified", "new.zip": "theirs", "new.zip.tiers.json": "verified",
    }  # fmt: skip
    words = (tmp_path / "said").read_text().split()
    assert "SHARE=0" in words
    assert words[-4:] == ["ours/atlas.sh", *(f"taken/{n}.zip" for n in ("both", "new", "old"))]
