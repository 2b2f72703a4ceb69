"""Files that a stranger's store names: none is opened unless the user named its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from orthobench.errors import DataError


def refuse_files(parameters: Mapping[str, Any], folders: Sequence[Path] = ()) -> None:
    """Refuse parameters that may name a file elsewhere than below some folders, links resolved.

    Parameters
    ----------
    parameters : mapping
        Of a problem or a solver.
    folders : sequence of Path

    Raises
    ------
    DataError
    """
    allowed = [folder.resolve() for folder in folders]
    for name, value in parameters.items():
        if isinstance(value, str) and names_file(name, value):
            where = Path(value).expanduser().resolve()
            if not any(where.is_relative_to(folder) for folder in allowed):
                raise DataError(
                    f"it reads the file {value!r:.200}: name a folder that has it with --data"
                )


def names_file(parameter: str, value: str) -> bool:
    """Return whether a text may be the name of a file."""
    absolute = any(kind(value).is_absolute() for kind in (PurePosixPath, PureWindowsPath))
    if parameter == "path" or absolute or value.startswith(("~", "..")):
        return True
    try:
        return Path(value).exists()
    except (OSError, ValueError):  # too long, or with a NUL
        return False
