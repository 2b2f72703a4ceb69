"""Builds the recipe and runs its tests from a channel that is made here, of what pip installs.

    pip install py-rattler py-rattler-build && python packaging/conda/trial.py

For machines that reach no conda channel: each distribution becomes a package, without its scripts,
and `python` is a package with a link to the interpreter that runs this. So it shows that the recipe
builds, that its dependencies are complete and that its tests pass; not that a channel has these
versions. Linux on x86-64 only.
"""

from __future__ import annotations

import asyncio
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import rattler_build
from rattler.index import index_fs

RECIPE = Path(__file__).with_name("recipe.yaml")
PLATFORM = "linux-64"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Distributions whose conda packages have another name."""

SHORT = "{}.{}".format(*sys.version_info)
SITE = Path("lib", f"python{SHORT}", "site-packages")


def named(distribution: str) -> str:
    """Return the name of the conda package of a distribution."""
    name = re.sub(r"[-_.]+", "-", distribution).lower()
    return CONDA_NAMES.get(name, name)


def python_package(work: Path) -> Path:
    """Stage a package with an environment around the interpreter that runs this."""
    stage = work / "python"
    (stage / "bin").mkdir(parents=True)
    (stage / SITE).mkdir(parents=True)
    (stage / SITE / "README.txt").write_text("packages\n")
    base = Path(sys._base_executable)  # noqa: SLF001
    (stage / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    for name in ("python", "python3", f"python{SHORT}"):
        (stage / "bin" / name).symlink_to(base)
    return stage


def package(one: Distribution, known: set[str], stage: Path) -> list[str]:
    """Stage the files of a distribution, and return the packages that it depends on."""
    for file in one.files or ():
        source = Path(str(one.locate_file(file)))
        if ".." not in file.parts and source.is_file():
            (stage / SITE / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, stage / SITE / file)
    required = (re.match(r"[\w.-]+", text) for text in one.requires or () if "extra ==" not in text)
    return sorted({named(found[0]) for found in required if found} & known)


def make_channel(work: Path) -> Path:
    """Make a channel with Python and all that the recipe asks for."""
    wanted = set(re.findall(r"^    - ([a-z][a-z0-9-]*)", RECIPE.read_text(), re.MULTILINE))
    pip_names = {conda: name for name, conda in CONDA_NAMES.items()}
    names = sorted(pip_names.get(name, name) for name in wanted - {"python"})
    site, packages = work / "site", work / "channel" / PLATFORM
    packages.mkdir(parents=True)
    (work / "channel" / "noarch").mkdir()
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), *names]
    subprocess.run(command, check=True)

    def assemble(name: str, version: str, files: Path, depends: list[str]) -> None:
        rattler_build.assemble_package(
            name, version, PLATFORM, "0", packages,
            files_dir=files, depends=depends, compression_level=1,
        )  # fmt: skip

    assemble("python", platform.python_version(), python_package(work), [])
    found = list(distributions(path=[str(site)]))
    known = {named(one.name) for one in found}
    for one in found:
        stage = work / "stage" / named(one.name)
        assemble(named(one.name), one.version, stage, package(one, known, stage))
    asyncio.run(index_fs(work / "channel"))
    return work / "channel"


def main() -> None:
    """Make the channel, build the package, and run the tests of the recipe on it."""
    with tempfile.TemporaryDirectory() as scratch:
        channel = make_channel(Path(scratch))
        out = Path(scratch) / "out"
        rattler_build.build_recipes(
            [str(RECIPE)], channel=[channel.as_uri()], output_dir=out, test="native"
        )
        (built,) = out.rglob("orthobench-*.conda")
        print(f"{built.name}: {built.stat().st_size / 1e6:.1f} MB, built and tested")  # noqa: T201


if __name__ == "__main__":
    main()
