"""The command ``orthobench plugin new``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


@click.command()
@click.argument("name")
@click.option(
    "-o",
    "--folder",
    type=click.Path(path_type=Path),
    help="Where to write it.  [default: a folder NAME here]",
)
@click.option("--author", help="Who wrote it.  [default: whom git knows]")
def new(name: str, folder: Path | None, author: str | None) -> None:
    """Write a plugin: a distribution NAME with a solver, a problem, a suite and tests.

    It passes its tests as written; then replace the method by your own.
    """
    from orthobench.registry.plugins import catalogue
    from orthobench.registry.scaffold import Names, refuse_taken, write

    names = Names.of(name)
    refuse_taken(names, catalogue())
    target = folder or Path(name)
    paths = write(names, target, author)
    click.echo(f"{len(paths)} files written in {target}; the method is in")
    click.echo(target / "src" / names.package / "solver.py")
    click.echo("\nNext:\n")
    for step in (
        f"cd {shlex.quote(str(target))}",
        "python -m pip install -e '.[test]'",
        "pytest",
        f"orthobench plugin check {names.plugin}",
        f"orthobench show {names.plugin}",
        f"orthobench run {names.plugin}-comparison",
    ):
        click.echo(f"    {step}")
