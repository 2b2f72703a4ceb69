"""Checks the text of this project against docs/style.md: ``python docs/style.py [PATH ...]``.

Reads docstrings, help and messages of code, pages, and names of tests. Prints each place that
breaks a rule; the exit code is 1 if there is any.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNREAD = ("reports/", "CHANGELOG", "docs/style.md")
"""Texts of other times and authors, and the examples of what to avoid."""
LONGEST_SENTENCE = 40  # words
LONGEST_MESSAGE = 400  # characters
LONGEST_NAME = 60  # characters
START = r"(?:^|(?<=[.!:;] ))"
RULES = {
    "if": re.compile(rf"{START}Where (?![^.]*\?)|\bwhere (?=[a-z]{{2,}}\b)"),
    "start": re.compile(rf"{START}(?:Of|What|Whose|Who|Whoever)\b(?![^.?]*\?)"),
    "maximum": re.compile(
        r"\b[Tt]he (?:most|least) (?:[a-z]+s|of)\b|\bso (?:many|few)\b(?! that\b)"
        r"|\b(?:at the|the very) (?:most|least)\b"
    ),
    "word": re.compile(r"\b(?:dear|dearer|dearest|untold|ere)\b"),
    "person": re.compile(
        r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|hands (?:over|out|to)|tells of|lets go|is told"
        r"|are told|knows of|takes? no part|gets? there|got there)\b"
    ),
    "filler": re.compile(r"\bthat (?:is|are|was|were) there\b|\bmeanwhile\b|\bas such\b"),
}
"""Patterns that a sentence may not contain, by rule."""


@dataclass(frozen=True)
class Text:
    """A text of a file, with the line on which it begins."""

    line: int
    text: str


@dataclass(frozen=True)
class Place:
    """A place that breaks a rule."""

    file: str
    line: int
    rule: str
    text: str


def main(paths: list[str]) -> int:
    """Print the places that break a rule; return the exit code."""
    places = [place for file in tracked(paths) for place in places_of(file)]
    for place in places:
        _say(f"{place.file}:{place.line}: {place.rule}: {place.text}")
    _say(f"{len(places)} places; docs/style.md has the rules")
    return int(bool(places))


def tracked(paths: list[str]) -> list[Path]:
    """Return the files of the repository, or those below some paths, that have text to check."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *map(_absolute, paths)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split("\0") if name.endswith((".py", ".md"))]
    kept = [ROOT / name for name in names if not name.startswith(UNREAD)]
    return [path for path in kept if path.exists()]


def places_of(path: Path) -> Iterator[Place]:
    """Yield the places of a file that break a rule."""
    name, content = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        texts, names, messages = list(of_page(content)), [], []
    else:
        tree = ast.parse(content)
        texts, names, messages = list(of_code(tree)), list(tests(tree)), list(messages_of(tree))
    for text in texts:
        for sentence in sentences(text):
            yield from (Place(name, sentence.line, *found) for found in broken(sentence.text))
    for text in names:
        if re.match(r"test_(?:of|what|whose|who|where|whoever|that)_", text.text):
            yield Place(name, text.line, "start", text.text)
        if len(text.text.removeprefix("test_")) > LONGEST_NAME:
            yield Place(name, text.line, "name", text.text)
    for text in messages:
        if len(text.text) > LONGEST_MESSAGE:
            yield Place(name, text.line, "message", text.text)


def broken(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the rules that a sentence breaks, each with the words that break it."""
    for rule, pattern in RULES.items():
        for match in pattern.finditer(sentence):
            yield rule, sentence[match.start() : match.start() + 60]
    if len(sentence.split()) > LONGEST_SENTENCE:
        yield "long", sentence[:60]


def of_page(content: str) -> Iterator[Text]:
    """Yield the paragraphs, items and cells of a page, without code and formulas."""
    paragraph: list[str] = []
    fence, begin = "", 1
    for number, line in enumerate([*content.splitlines(), ""], 1):
        mark = re.match(r"\s*(`{3,}|\${2})", line)
        if mark and not fence:
            fence = mark[1] if not line.strip().endswith("$$", 2) else ""
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif fence or line.startswith("<!--"):
            continue
        elif line.lstrip().startswith("|"):
            yield from (Text(number, cell.strip()) for cell in line.split("|"))
            continue
        elif line.strip() and not re.match(r"\s*(#|[-*] |\d+\. |:\w+:|>)", line):
            begin = begin if paragraph else number
            paragraph.append(line.strip())
            continue
        if paragraph:
            yield Text(begin, " ".join(paragraph))
            paragraph = []
        if not mark and line.strip():
            begin = number
            paragraph = [re.sub(r"^\s*(?:#+|[-*]|\d+\.|>)\s*", "", line)]


def of_code(tree: ast.Module) -> Iterator[Text]:
    """Yield paragraphs of docstrings, those of attributes too, and texts of help."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            values = [s.value for s in node.body if isinstance(s, ast.Expr)]
        elif isinstance(node, ast.keyword) and node.arg in ("help", "short_help", "epilog"):
            values = [node.value]
        else:
            continue
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield from _paragraphs(value)


def _paragraphs(node: ast.Constant) -> Iterator[Text]:
    """Yield the paragraphs of a docstring, without examples; a parameter's text is one."""
    lines, begin, paragraph = str(node.value).splitlines(), node.lineno, list[str]()
    code = False
    for number, line in enumerate([*lines, ""]):
        if code and line.startswith(" " * 8):
            continue
        code = line.rstrip().endswith("::")
        plain = line.strip()
        heading = bool(re.fullmatch(r"-{3,}", plain)) or bool(re.match(r"\w[\w, *]* : ", plain))
        text = plain and not heading and not plain.startswith((">>>", "...", "python "))
        if paragraph and (not text or plain.startswith("- ")):
            yield Text(begin, " ".join(paragraph))
            paragraph = []
        if text:
            begin = begin if paragraph else node.lineno + number
            paragraph.append(plain)


def sentences(text: Text) -> Iterator[Text]:
    """Yield the sentences of a paragraph, with the names in backquotes replaced by one letter."""
    plain = re.sub(r"`+[^`]*`+|\$[^$]*\$", "X", text.text)
    plain = re.sub(r"\]\([^)]*\)|[*\[\]]", "", plain)
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain):
        yield Text(text.line, sentence)


def tests(tree: ast.Module) -> Iterator[Text]:
    """Yield the names of tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Text(node.lineno, node.name)


def messages_of(tree: ast.Module) -> Iterator[Text]:
    """Yield what is fixed in the messages of exceptions that are raised."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            parts = [
                part.value
                for argument in node.exc.args
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            yield Text(node.lineno, "".join(parts))


def _absolute(path: str) -> str:
    return str(Path(path).resolve())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
