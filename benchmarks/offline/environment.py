"""Environments for asv, made without a network from the packages of asv's environment.

Each sees the dependencies of the environment that runs asv, and finds orthobench in the checkout of
the commit that is measured: a wheel would take longer to build and to install than what asv times.
Found through ``plugins`` of ``asv.conf.json``.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import tomllib
import venv
from configparser import ConfigParser
from pathlib import Path

from asv.environment import Environment, EnvironmentUnavailable


class Offline(Environment):
    """An environment of the standard library's venv, beside the one that runs asv."""

    tool_name = "offline"
    matches_python_fallback = False

    def __init__(self, conf, python, requirements, tagged_env_vars):
        if not self.matches(python):
            raise EnvironmentUnavailable(f"asv runs on Python {sys.version}, not on {python}")
        self._python, self._requirements = python, requirements
        super().__init__(conf, python, requirements, tagged_env_vars)

    @classmethod
    def matches(cls, python):
        return python == "{}.{}".format(*sys.version_info)

    def _setup(self):
        venv.create(self._path, symlinks=os.name != "nt")
        around = site.getsitepackages()
        if site.ENABLE_USER_SITE:
            around.append(site.getusersitepackages())
        # the .pth files of a folder that a .pth file names are not read: an editable orthobench out
        # there cannot get in between
        self._inside("around.pth").write_text("\n".join(around) + "\n", encoding="utf-8")

    def _inside(self, name):
        return Path(sysconfig.get_path("purelib", "venv", {"base": self._path}), name)

    def _install_project(self, repo, commit_hash, build_dir):
        """Name the folders of a checkout, and its entry points."""
        del repo, commit_hash
        checkout = Path(build_dir)
        self._inside("1.pth").write_text(f"{checkout}\n{checkout / 'plugins'}\n", encoding="utf-8")
        with (checkout / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file)["project"]
        metadata = self._inside(f"{project['name']}-0.dist-info")
        metadata.mkdir(exist_ok=True)
        words = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n"
        (metadata / "METADATA").write_text(words, encoding="utf-8")
        groups = ConfigParser()
        groups.read_dict(project["entry-points"])
        with (metadata / "entry_points.txt").open("w", encoding="utf-8") as file:
            groups.write(file)

    def run(self, args, **kwargs):
        return self.run_executable("python", args, **kwargs)
