"""Every page: its examples work, its links lead somewhere, every method has its own."""

import ast
import json
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import click
import numpy as np
import pytest
from facts import families, memory, solver_rows
from fences import blocks, commands, environment, expect, run, texts

from orthobench.cli.main import main
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    p for p in DOCS.rglob("*.md") if "_build" not in p.parts and p.parent.parent.name != "papers"
)
FRESH = {DOCS / "guide" / "install.md", DOCS / "plugins" / "tutorial.md"}  # test_tutorial.py
TYPED = [page for page in PAGES if texts(page, "console") and page not in FRESH]
RUNNING = [page for page in PAGES if texts(page, "python") and not texts(page, "console")]
OTHERS = ("README", "CONTRIBUTING", "RELEASING", "SECURITY")
READ = [*PAGES, *(ROOT / f"{name}.md" for name in OTHERS)]
ASKED = ("Problem", "Formula", "Cost", "When to use it", "Source")
BUILT_IN = [n for n, p in catalogue().solvers.items() if p.plugin.distribution == "orthobench"]


def named(page):
    return str(page.relative_to(ROOT))


def executed(code, names):
    if match := re.match(r"# (\w+\.py)\n", code):
        Path(match[1]).write_text(code, encoding="utf-8")
    exec(code, names)  # noqa: S102 - the page's own code


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNING, ids=named)
def test_python_runs(page, tmp_path, monkeypatch):
    if "cc" in page.read_text(encoding="utf-8").split('"') and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code in texts(page, "python"):
        executed(code, names)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("page", TYPED, ids=named)
@pytest.mark.usefixtures("own_core")
def test_commands_of_a_page_print_their_output(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orthobench").symlink_to(ROOT)
    shell = environment(PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    names = {"__name__": "__main__"}
    for language, text in blocks(page, "python", "toml", "console"):
        if language == "python":
            executed(text, names)
        elif language == "toml":
            (tmp_path / text.split()[1]).write_text(text, encoding="utf-8")
        else:
            for command, shown in commands(text):
                expect(command, shown, run(command, tmp_path, shell))


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a ... c\n", "x a  1\n2   c  \n"),
        ("a\nb  c ... c", "a  \n b c c\nc"),
        ("a... ...b\n", "a b\n"),
        ("... " * 200 + "end", "  " * 200 + "end"),
    ],
)
def test_shown_lines_are_found_in_order(shown, printed):
    expect("", shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("a ... b", "b a"), ("a ... a", "a "), ("a b", "ab"), ("a...\n" * 40 + "b", "a\n" * 80)],
)
def test_lines_out_of_order_are_refused_in_linear_time(shown, printed):
    with pytest.raises(AssertionError, match="does not show"):
        expect("", shown, printed)


@pytest.mark.wide
def test_the_notebook_runs_as_in_a_kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kernel = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", kernel)
    shown = []
    for cell in json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            *first, last = ast.parse("".join(cell["source"])).body
            if isinstance(last, ast.Expr):
                last = ast.parse(f"_ = {ast.unparse(last)}").body[0]
            kernel._ = None
            exec(compile(ast.Module([*first, last], []), "cell", "exec"), vars(kernel))  # noqa: S102
            shown.append(getattr(kernel._, "_repr_html_", lambda: str(kernel._))())
    assert any("<pre" in text for text in shown)
    assert not any(": failed" in text for text in shown)
    assert "my-oja" in "".join(shown)
    assert not kernel.results.failures


SUITES = [(named(page), text) for page in PAGES for text in texts(page, "toml") if "[[" in text]


@pytest.mark.parametrize(("page", "text"), SUITES)
def test_suites_are_valid_and_named(page, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.eye(20))
    assert re.match(r"# [\w-]+\.toml\n", text)
    for code in texts(ROOT / page, "python"):
        if file := re.match(r"# (\w+\.py)\n", code):
            Path(file[1]).write_text(code, encoding="utf-8")
    suite = from_table(tomllib.loads(text), page, catalogue())
    for problem in suite.problems:
        assert all(s.solver.refuses(problem.problem) is None for s in suite.solvers)


def command_lines():
    for page in [*READ, ROOT / "AGENTS.md"]:
        for _, text in blocks(page, "", "console", "text", "sh"):
            for line in re.findall(r"^(?:\$ )?(orthobench [a-z].*)$", text, re.MULTILINE):
                yield pytest.param(line, id=f"{named(page)}: {line}")


@pytest.mark.parametrize("line", command_lines())
def test_commands_and_options_exist(line):
    words = shlex.split(line.partition("   ")[0], comments=True)[1:]
    command = main
    while isinstance(command, click.Group):
        _, command, words = command.resolve_command(click.Context(command), words)
    known = {"--help"}.union(*({*p.opts, *p.secondary_opts} for p in command.params))
    given = words[: words.index("||")] if "||" in words else words
    options = {word.partition("=")[0] for word in given if re.match(r"--?[a-z]", word)}
    assert options <= known


def headings(page):
    """The anchors of a page, as GitHub and MyST make them."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def links():
    for page in READ:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if not re.match(r"\w+:", target):
                yield page, target


def test_links_lead_somewhere():
    found = list(links())
    assert len(found) > 100
    for page, target in found:
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{named(page)}: {target}"
        assert not anchor or anchor in set(headings(file)), f"{named(page)}: {target}"


def literals():
    for page in READ:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for literal in re.findall(r"`([^`\n]+)`", text):
            yield page, literal


def test_files_and_modules_that_are_named_exist():
    folders = r"(?:orthobench|plugins|tests|docs|benchmarks|reports)/[\w/.]*"
    checked = 0
    for page, literal in literals():
        if re.fullmatch(folders, literal) and not re.search("[A-Z]{3}|_build", literal):
            found = (root / literal for root in (ROOT, ROOT / "tests" / "third_party_plugin"))
            assert any(path.exists() for path in found), f"{named(page)}: {literal}"
            checked += 1
        if re.fullmatch(r"orthobench(\.\w+)+", literal) and not re.search("[A-Z]{3}", literal):
            assert resolve_name(literal), f"{named(page)}: {literal}"
            checked += 1
    assert checked > 50, checked


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_solver_has_its_page_with_all_that_is_asked(name):
    text = (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    assert text.startswith(f"# {name}\n")
    for title in ASKED:
        assert len(sections[title].split()) >= (3 if title == "Source" else 8), title
    assert re.search(r"\b(flops|evaluation|costs)\b", sections["Cost"])
    assert memory(name) in " ".join(sections["Cost"].split())
    assert sections["When to use it"].startswith(f"\n<!-- write: record {name} -->\n")
    assert not re.search(r"\bfirst (choice|thing to try)\b", text)  # the record says who is
    assert re.search(r"\bNot\b", sections["When to use it"])
    assert f"<!-- write: call {name} -->\n" in text
    assert f"<!-- write: details {name} -->\n" in sections["Parameters and details"]
    assert f"<!-- write: source {name} -->\n" in sections["Source"]
    assert catalogue().solvers[name].item.source


def test_no_page_is_of_a_solver_that_is_not_there():
    pages = {p.stem for p in (DOCS / "methods").glob("*.md")} - {"index"}
    assert pages == set(BUILT_IN)


def test_every_family_has_its_table_and_every_solver_its_row():
    index = (DOCS / "methods" / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"^<!-- write: solvers (.+) -->$", index, re.MULTILINE)
    assert sorted(shown) == sorted(families())
    rows = [row for family in shown for row in solver_rows(family)]
    assert {name for row in rows for name in re.findall(r"^\| \[.*\]\((.+)\.md\)", row)} == set(
        BUILT_IN
    )
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert len(cells) == 4, row
        assert all(cells), row
