"""How long a fresh interpreter takes to get ready."""

from __future__ import annotations


def timeraw_import():
    return "import orthobench"


def timeraw_load_all_plugins():
    return "import orthobench; orthobench.catalogue()"


def timeraw_command_help():
    return _command("--help")


def timeraw_command_list():
    return _command("list")


def _command(*words: str) -> str:
    return f"""
    import contextlib, io
    from orthobench.cli.main import main
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main({list(words)})
    """
