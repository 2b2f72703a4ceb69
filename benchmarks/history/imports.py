"""CPU seconds in which a fresh interpreter gets ready, the better of two."""

from __future__ import annotations

from pathlib import Path

from calls import called

ROUNDS = 2


def track_import():
    return _cpu("-c", "import orthobench")


def track_load_all_plugins():
    return _cpu("-c", "import orthobench; orthobench.catalogue()")


def track_command_help():
    return _cpu("-m", "orthobench", "--help")


def track_command_list():
    return _cpu("-m", "orthobench", "list")


def _cpu(*words: str) -> float:
    return min(called(("-P", *words), Path.cwd()).cpu for _ in range(ROUNDS))


for _track in (track_import, track_load_all_plugins, track_command_help, track_command_list):
    _track.unit = "seconds"
