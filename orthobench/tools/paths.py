"""Paths in texts that others will read: home is ``~``, and folders can be left out."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = r"""[^\s/\\'"<>|:,;=(){}\[\]]+[/\\]"""
_FOLDERS = re.compile(rf"(?<![\w./\\~:])(?:~[/\\](?:{_FOLDER})*|(?:[A-Za-z]:)?[/\\](?:{_FOLDER})+)")


def homeless(text: str) -> str:
    """Return a text in which the user's home folder is ``~``.

    Parameters
    ----------
    text : str
        Such as a traceback or a command.
    """
    home = str(Path("~").expanduser())
    if len(home) < 2:  # there is none, or it is the root
        return text
    return re.sub(rf"(?<![\w.~/\\-]){re.escape(home)}(?![\w.-])", "~", text)


def bare(text: str) -> str:
    """Return a text in which an absolute path is only the name at its end.

    Parameters
    ----------
    text : str
    """
    return _FOLDERS.sub("", homeless(text))
