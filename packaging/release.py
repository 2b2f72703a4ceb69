"""Makes a release of orthobench from a clone: ``python packaging/release.py check``, and so on.

RELEASING.md has the order. Nothing is sent anywhere: pushing the tag does that.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "build" / "index"
LIMIT = 3_000_000
"""Bytes that the sdist may have."""

CHECKS = (
    "bash .ci/run",
    "bash .ci/lowest",
    "pytest -n auto -m slow",
    "pytest -m papers",
    "pytest -m faults",
    "pytest -n auto tests/plugins",
    "python tests/mutation.py",
    "orthobench compare {last} .",
)

REHEARSED = "999.0.0"
"""The version of a rehearsal."""

TRIAL = (
    "python -m pip check",
    "orthobench --version",
    "orthobench doctor",
    "orthobench run",
    "orthobench report orthobench-results/quickstart",
)
"""Commands of the installed package in an empty folder; the last two are README's commands."""


def run(command: str, folder: Path = ROOT, **variables: str) -> str:
    """Run a command, show it, and stop if it fails; return what it printed if it is git's."""
    print(f"$ {command}", flush=True)  # noqa: T201
    words = shlex.split(command)
    output = subprocess.PIPE if words[0] == "git" else None
    environment = {**os.environ, **variables}
    done = subprocess.run(words, cwd=folder, env=environment, stdout=output, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: exit code {done.returncode}")
    return (done.stdout or "").strip()


def check() -> None:
    """Run all that takes long, on a machine with nothing else to do, against the last version."""
    last = run("git describe --tags --abbrev=0")
    for command in CHECKS:
        run(command.format(last=last), NUMBA_BOUNDSCHECK=str(int("tests/plugins" in command)))


def replace(file: str, pattern: str, new: str) -> None:
    """Replace the one place of a file that a pattern matches."""
    path = ROOT / file
    text, count = re.subn(
        pattern, new, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE
    )
    if not count:
        sys.exit(f"{file}: nothing matches {pattern}")
    path.write_text(text, encoding="utf-8")


def name_version(version: str) -> None:
    """Write the version everywhere that it stands, check that they agree, commit and tag."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{version}: a version is three numbers, such as 1.2.0")
    if run("git status --porcelain"):
        sys.exit("the clone has changes: commit them first")
    today = dt.datetime.now(dt.UTC).date()
    replace("orthobench/_version.py", r"^__version__ = .*$", f'__version__ = "{version}"')
    replace("CITATION.cff", r"^version: .*$", f"version: {version}")
    replace("CITATION.cff", r"^date-released: .*$", f"date-released: {today}")
    replace("packaging/conda/recipe.yaml", r"^  version: .*$", f'  version: "{version}"')
    replace("CHANGELOG.md", r"^## Unreleased$", f"## Unreleased\n\n## {version} - {today}")
    run(f"{sys.executable} -m pytest -q tests/docs/test_release.py")
    run(f"git commit --all --message 'Release {version}'")
    run(f"git tag --annotate v{version} --message 'orthobench {version}'")


def build() -> None:
    """Build the sdist, from it the wheel, and a local index with all that the wheel needs."""
    for made in (ROOT / "dist", INDEX):
        shutil.rmtree(made, ignore_errors=True)
    run(f"{sys.executable} -m build --outdir dist .")
    (source,) = (ROOT / "dist").glob("*.tar.gz")
    size = source.stat().st_size
    print(f"{source.name}: {size / 1e6:.1f} MB")  # noqa: T201
    if size > LIMIT:
        sys.exit(
            f"{source.name} is larger than {LIMIT / 1e6:g} MB: see [tool.hatch] in pyproject.toml"
        )
    (wheel,) = (ROOT / "dist").glob("*.whl")
    run(f"{sys.executable} -m pip wheel --quiet --wheel-dir {INDEX} '{wheel}'")


def attempt() -> None:
    """Install from the local index alone, in a fresh environment, and use it in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        environment, empty = Path(folder, "environment"), Path(folder, "empty")
        venv.create(environment, with_pip=True)
        empty.mkdir()
        scripts = environment / ("Scripts" if os.name == "nt" else "bin")
        path = os.pathsep.join([str(scripts), os.environ["PATH"]])
        index = f"--no-index --find-links {INDEX}"
        python = scripts / "python"
        run(f"'{python}' -m pip install --quiet {index} orthobench", empty)
        for command in TRIAL:
            name, *rest = command.split()
            run(" ".join([f"'{scripts / name}'", *rest]), empty, PATH=path)


def rehearse() -> None:
    """Make version, build and trial in a clone that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        run(f"git clone --quiet '{ROOT}' '{clone}'")
        run("git config user.name rehearsal", clone)
        run("git config user.email rehearsal@localhost", clone)
        for step in (f"version {REHEARSED}", "build", "try"):
            run(f"'{sys.executable}' packaging/release.py {step}", clone)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--dry-run", action="store_true", help="make version, build and trial in another clone"
    )
    steps = parser.add_subparsers(dest="step")
    for name in ("check", "build", "try"):
        steps.add_parser(name)
    steps.add_parser("version").add_argument("version")
    asked = parser.parse_args()
    if asked.dry_run:
        rehearse()
    elif asked.step is None:
        parser.error("name a step, or --dry-run")
    elif asked.step == "version":
        name_version(asked.version)
    else:
        {"check": check, "build": build, "try": attempt}[asked.step]()


if __name__ == "__main__":
    main()
