"""The packages of the environment that compares, for a side to fall back on.

This file is copied into the side's environment, where a ``.pth`` file imports it at startup.
"""

from __future__ import annotations

import site
import sys
from collections.abc import Iterable
from pathlib import Path


def fall_back(folders: Iterable[str], skipped: Iterable[str]) -> None:
    """Append folders of packages to the path, with what their ``.pth`` files add.

    The side's own packages come first on the path and win.

    Parameters
    ----------
    folders : iterable of str
        The ``site-packages`` of another environment.
    skipped : iterable of str
        Names of ``.pth`` files there that are left out: those of an editable installation of the
        project itself, the code of which is not this side's.
    """
    left_out = set(skipped)
    known = set(sys.path)
    for folder in folders:
        if folder not in known:
            sys.path.append(folder)
            known.add(folder)
        for file in sorted(Path(folder).glob("*.pth")):
            if file.name not in left_out:
                site.addpackage(folder, file.name, known)
