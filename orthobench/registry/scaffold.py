"""The files of a new plugin, which passes its tests as written."""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from orthobench._version import __version__
from orthobench.errors import UsageError, unknown
from orthobench.registry.plugins import GROUP, Registry
from orthobench.tools.formatting import clean
from orthobench.tools.git import GitError, git

LONGEST = 40
"""Maximum length of a name, for lines of the templates."""

OWN = "own"
"""The family of one's own."""

GATE = "gate.toml"
"""The suite of a gate."""

TEMPLATES = Path(__file__).with_name("templates")
"""The folder of the templates that are of no family."""

_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9]|[-_.](?=[A-Za-z0-9]))*")
_PLACEHOLDER = re.compile(r"@([a-z]+)@")


def names_of(name: str) -> dict[str, str]:
    """Return the names of package, entry point and class of a distribution."""
    wrong = f"{name!r} cannot be the name of a plugin"
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        rule = f"letters, digits and single hyphens, a letter first, at most {LONGEST} of them"
        raise UsageError(f"{wrong}: write {rule}, such as orthobench-my-solver")
    package = _normal(name)
    plugin = package.removeprefix(f"{GROUP}_").replace("_", "-")
    own = {_normal(p.dist.name) for p in entry_points(group=GROUP) if p.dist} - {GROUP}
    hides = package in ("src", "tests") or (find_spec(package) and package not in own)
    if hides or keyword.iskeyword(package):
        why = f"its package {package!r} would hide another"
        raise UsageError(f"{wrong}: {why}; another name is orthobench-{name}")
    return {"distribution": name, "package": package, "plugin": plugin, "solver": _class(plugin)}


def families(registry: Registry) -> dict[str, Path]:
    """Return the folders of templates by family: ``polar-factor``.

    They are ``scaffold/polar-factor`` in the package of the family's base class.
    """
    found = {OWN: TEMPLATES / OWN}
    for provided in registry.problems.values():
        slug = _slug(provided.item.family)
        for base in provided.item.__mro__:
            package = sys.modules[base.__module__.partition(".")[0]]
            for root in getattr(package, "__path__", ()):
                if (folder := Path(root, "scaffold", slug)).is_dir():
                    found[slug] = folder
    return found


def templates_of(family: str, registry: Registry) -> Path:
    """Return the templates of a family; an unknown one is a `UsageError`."""
    found = families(registry)
    if _slug(family) not in found:
        raise UsageError(f"{unknown('family', family, found)}; --family {OWN} writes one of yours")
    return found[_slug(family)]


def write(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files of a plugin, as `render` returns them; return their paths, sorted."""
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} exists already; name another folder with --folder")
    return _written(texts, folder)


def write_ci(folder: Path, ci: str) -> list[Path]:
    """Write the files of a CI system into a project; return them, sorted.

    A file with the same text stays.
    """
    if not (folder / "pyproject.toml").is_file():
        raise UsageError(f"{folder.absolute()} has no pyproject.toml; call this in a project's "
                         "folder, or give the name of a new plugin")  # fmt: skip
    texts = _of_ci(ci)
    for path, text in texts.items():
        there = folder / path  # the systems share some files
        if there.exists() and (not there.is_file() or there.read_bytes() != text.encode()):
            raise UsageError(f"{there} exists already; move it away first")
    return _written(texts, folder)


def _written(texts: Mapping[str, str], folder: Path) -> list[Path]:
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}") from None
    return sorted(folder / path for path in texts)


def render(
    names: Mapping[str, str], family: Path | None, author: str | None = None, ci: str = ""
) -> dict[str, str]:
    """Return the text of each file by its path."""
    release = ".".join(__version__.split(".")[:2])
    values = {**names, "author": _author(names["distribution"], author), "orthobench": release}
    texts = _templates(TEMPLATES / "plugin")
    texts |= _templates(family, "src/@package@/") if family else {}
    texts |= _of_ci(ci) if ci else {}
    code = "\n".join(text for path, text in texts.items() if path.endswith(".py"))
    if names["solver"] in re.findall(r"\w+", code):  # an import or a class has this name
        values["solver"] += "Method"

    def filled(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: values[match[1]], text)

    found = {filled(path): filled(text) for path, text in texts.items()}
    if ci:
        comparison = "src/{package}/{plugin}-comparison.toml".format(**names)
        found[GATE] = _gate(found[comparison], names["plugin"])
    return found


def _gate(comparison: str, plugin: str) -> str:
    """Return a suite of the solver alone, untuned, on the same problems."""
    kept = comparison.partition("\n[[solver]]")[0]
    kept = re.sub(r"\[tuning\][^\[]*", "", kept)
    head = f'description = "{plugin}, for comparisons of each change with its target"\nseeds = 3'
    kept = re.sub(r"description = .*\nseeds = .*", head, kept)
    return f'{kept}\n[[solver]]\nname = "{plugin}"\n'


def _of_ci(ci: str) -> dict[str, str]:
    return _templates(TEMPLATES / "ci" / "common") | _templates(TEMPLATES / "ci" / ci)


def _author(distribution: str, author: str | None) -> str:
    """Return the TOML table of the author, by default the user of git."""
    with suppress(OSError, GitError):
        author = author or git(Path(), "config", "--get", "user.name")
    name = clean(author or "") or f"The {distribution} developers"
    return f"{{ name = {json.dumps(name, ensure_ascii=False)} }}"


def _normal(distribution: str) -> str:
    """Return the name of a distribution's package."""
    return re.sub(r"[-_.]+", "_", distribution.lower())


def _class(plugin: str) -> str:
    name = "".join(word.capitalize() for word in plugin.split("-"))
    if not name.isidentifier():
        name = f"The{name}"
    return f"{name}Method" if keyword.iskeyword(name) else name


def _slug(family: str) -> str:
    return re.sub("[ _]", "-", family.lower())


def _templates(folder: Path, into: str = "") -> dict[str, str]:
    """Return the text of each template in a folder, by the path of its file in a plugin."""
    texts = {}
    for template in sorted(folder.rglob("*.in")):
        path = re.sub("(^|/)dot-", r"\1.", template.relative_to(folder).as_posix())
        texts[into + path.removesuffix(".in")] = template.read_text("utf-8")
    return texts
