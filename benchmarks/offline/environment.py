"""Environments for asv that are made without a network, from what is installed where asv runs.

Each sees the dependencies of the environment that runs asv, and holds an orthobench of its own,
built from the commit that is measured. Found through ``plugins`` of ``asv.conf.json``.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import venv
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
        venv.create(self._path, with_pip=True, symlinks=os.name != "nt")
        inside = sysconfig.get_path("purelib", "venv", {"base": self._path})
        around = site.getsitepackages()
        if site.ENABLE_USER_SITE:
            around.append(site.getusersitepackages())
        # a folder named in a .pth file comes after what is installed inside, and its own .pth
        # files are not read: an editable orthobench out there cannot get in between
        Path(inside, "around.pth").write_text("\n".join(around) + "\n", encoding="utf-8")

    def run(self, args, **kwargs):
        return self.run_executable("python", args, **kwargs)
