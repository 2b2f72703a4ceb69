"""Writes what pages take from code and measurements: ``python docs/write.py [--check]``.

A part of a page between ``<!-- write: WHAT -->`` and ``<!-- end -->`` is written by the function
of that name below, so that pages can be read without building them. With ``--check`` nothing is
written: the exit code is 1 if a page is out of date, and its name is printed.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_ext"))

from curves import shown, svg  # noqa: E402
from facts import (  # noqa: E402
    computes,
    homes,
    markdown,
    namesakes,
    oracle_rows,
    parameter_rows,
    references,
    solver_rows,
)
from orthobench_papers.reproduce import catalogue as with_papers  # noqa: E402
from reference import helps, public_names  # noqa: E402
from venues import VENUES, link, linked_papers  # noqa: E402

from orthobench.atlas.answers import (  # noqa: E402
    NOBODY,
    VIEWS,
    opened,
    origin,
    short,
    views,
)
from orthobench.atlas.table import Atlas  # noqa: E402
from orthobench.decide.answer import Answer  # noqa: E402
from orthobench.decide.rule import TOLERANCE  # noqa: E402
from orthobench.tools.formatting import clean  # noqa: E402

PART = re.compile(r"(<!-- write: ([\w-]+)(?: ([^\n]+?))? -->\n).*?(<!-- end -->\n)", re.DOTALL)
COUNTS = re.compile(r"^Of (\d+ claims?, .+)\.$", re.MULTILINE)
RECORD = re.compile(r"(\d+) of (\d+) problems of (.+?) \(cheapest on (\w+)\)")
"""Counts of the atlas about a solver in a family."""

ATLAS = "[the atlas](../guide/atlas.md)"
CURVE = "![{name} beside the cheapest call, by problem.](../pictures/methods/{name}.svg)"
PICTURES = DOCS / "pictures" / "methods"

NUMBERS = (
    f"At the solver's own end, within {100 * TOLERANCE:g} % of the gap between start and best "
    "value; for high accuracy a millionth of it. In brackets: the problems on which it is as good "
    "as the best, of those tested with five seeds. Then its mean cost over the cheapest; a miss "
    "counts ten."
)
"""The meaning of the numbers of the table of answers."""

MAKERS = {
    "Stiefel manifold": "ob.stiefel(cost, gradient, n=50, p=4)  # functions of X (n, p)",
    "eigenbasis stream": "ob.gram_stream(gradients)  # (steps, n, m)",
    "canonical correlation": "ob.cca(X, Y, k=2)  # samples in rows",
    "generalized eigenvectors": "ob.generalized_eigenvectors(A, B, k=2)  # symmetric, B > 0",
    "orthogonal group": "ob.orthogonal_group(cost, gradient, n=20)  # functions of U (n, n)",
    "orthogonal tensor": "ob.orthogonal_tensor(T)  # symmetric, of order 3",
    "pca": "ob.pca(X, k=8)  # samples in rows",
    "polar factor": "ob.polar(A)",
    "sparse PCA": "ob.sparse_pca(X, m=3)  # samples in rows",
    "stochastic PCA": "ob.stochastic_pca(X, k=8)  # samples in rows",
    "training": 'ob.instance("train-digits")  # or train-mnist, train-text',
    "symmetric Tucker": "ob.symmetric_tucker(X, order=3, rank=4)  # samples in rows",
}
"""How you make a problem of each family from your data."""


WORDS = {
    "pca": "PCA or truncated SVD of a matrix",
    "stochastic PCA": "PCA of samples that come one after another",
    "sparse PCA": "components with few nonzero loadings",
    "canonical correlation": "CCA: what two tables with the same rows have in common",
    "generalized eigenvectors": "A x = λ B x, linear discriminant analysis",
    "polar factor": "nearest orthogonal matrix, nearest rotation, Procrustes, the step of Muon",
    "Stiefel manifold": "any smooth function of a matrix with orthonormal columns",
    "orthogonal group": "any smooth function of a rotation, ICA of whitened data",
    "orthogonal tensor": "components of a tensor of moments: topics, mixtures of Gaussians",
    "symmetric Tucker": "subspace of higher moments: skewness, kurtosis",
    "eigenbasis stream": "eigenvectors that change slowly, as in Shampoo and SOAP",
    "training": "networks with orthogonal layers or updates",
}
"""The words that people have for the problems of each family."""


def call(name: str) -> str:
    """Return the lines of Python that run a solver; one problem for each of its families."""
    families = [family for cls in namesakes(name) for family in homes(cls)]
    problems = [f"problem = {MAKERS[family]}" for family in families if family in MAKERS]
    lines = ["```py", "import orthobench as ob", "", *problems]
    return "\n".join([*lines, f'outcome = ob.solve("{name}", problem)', "```"])


def record(name: str) -> str:
    """Return the number of problems of the atlas on which a solver is as good as the best."""
    sentence: str = opened(None, rows=False).about["records"].get(name, "")
    counts = [
        f"{kind} {good} of {count} ({cheapest.replace('none', '0')})"
        for good, count, kind, cheapest in RECORD.findall(sentence)
        if " by " not in kind or int(good)  # by other metrics often no solver is
    ]
    text = f"As good as the best (cheapest) in {ATLAS}: {', '.join(counts)}." if counts else ""
    return f"{text}\n\n{CURVE.format(name=name)}".strip() if shown(name) else text


def details(name: str) -> str:
    """Return where a solver computes, a table of its parameters, and a link to its code."""
    parts = []
    for cls in namesakes(name):
        if len(namesakes(name)) > 1:
            parts.append(f"On problems of {' and '.join(homes(cls))}:")
        parts += [computes(cls), "\n".join(parameter_rows(cls))]
        path = Path(inspect.getfile(cls)).resolve().relative_to(ROOT.resolve()).as_posix()
        parts.append(f"[Code](../../{path})")
    return "\n\n".join(filter(None, parts))


def source(name: str) -> str:
    """Return the references of a solver, and the DOI of a library, with links."""
    own = namesakes(name)
    papers = [linked_papers(markdown(references(cls))) for cls in own]
    dois = [link(cls.doi) for cls in own if cls.doi]
    return "\n\n".join(dict.fromkeys([*papers, *dois]))


def solvers(family: str) -> str:
    """Return the table of a family's solvers."""
    return "\n".join(solver_rows(family))


def oracles(_: str) -> str:
    """Return the table of all oracles, and what each shows a black box."""
    return "\n".join(oracle_rows())


def answers(_: str) -> str:
    """Return the table of the methods to use, from the atlas."""
    return answers_of(opened(None))


def answers_of(atlas: Atlas) -> str:
    """Return the table of an atlas: the method to use for each family.

    A family without a named method has no row.
    """
    lines = [f"| | {' | '.join(VIEWS)} |", f"|---|{'---|' * len(VIEWS)}"]
    for kind, rows in atlas.kinds.items():
        found = views(rows)
        cells = [linked(found[view]) if view in found else NOBODY for view in VIEWS]
        if kind == rows[0].family and set(cells) != {NOBODY}:
            lines.append(f"| {clean(kind)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{origin(atlas)} {NUMBERS}"])


def problems(_: str) -> str:
    """Return the table of problems, in the words of people, with how to make and solve them."""
    kinds = opened(None).kinds
    lines = ["| your problem | in Python | least time |", "|---|---|---|"]
    for family, words in WORDS.items():
        found = views(kinds[family]).get("Least time") if family in kinds else None
        advised = linked(found, "methods/") if found else NOBODY
        lines.append(f"| {words} | `{MAKERS[family].partition('  #')[0]}` | {advised} |")
    return "\n".join(lines)


def linked(one: Answer, folder: str = "") -> str:
    """Return the named method, with a link to its page."""
    page = f"[{clean(one.solver)}]({folder}{one.use}.md)"
    return short(one).replace(clean(one.solver), page, 1) if one.use else NOBODY


def papers(_: str) -> str:
    """Return the table of papers, with the counts of their published pages."""
    lines = [
        "| paper | venue | DOI or address | claims that hold | others | in short |",
        "|---|---|---|---|---|---|",
    ]
    for name, provided in with_papers().papers.items():
        page = ROOT / "reports" / name / "README.md"
        (counts,) = COUNTS.findall(page.read_text(encoding="utf-8"))
        total, *parts = re.split(r" claims?, |, | and ", counts)
        holding = [part.split()[0] for part in parts if re.fullmatch(r"\d+ holds?", part)]
        others = [part for part in parts if not re.fullmatch(r"\d+ holds?", part)]
        reference, ended, _ = provided.item.reference.partition("*. ")
        venue, address = VENUES[name]
        cells = [
            f"[{name}](../../reports/{name}/README.md): {reference}{ended.strip()}",
            venue, link(address),
            f"{holding[0] if holding else 0} of {total}", ", ".join(others), provided.item.summary,
        ]  # fmt: skip
        shown = [cell.replace("|", r"\|") for cell in cells]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def names(page: str) -> str:
    """Return the table of the public names of a reference page."""
    return "\n".join(public_names(page))


def commands(_: str) -> str:
    """Return the help of each command."""
    return "\n".join(helps())


WRITERS: dict[str, Callable[[str], str]] = {
    writer.__name__: writer
    for writer in (
        answers,
        call,
        commands,
        details,
        names,
        oracles,
        papers,
        problems,
        record,
        solvers,
        source,
    )
}


def written(text: str) -> str:
    """Return a page with all its parts written anew."""
    return PART.sub(lambda m: f"{m[1]}{WRITERS[m[2]](m[3] or '').strip()}\n{m[4]}", text)


def files() -> Iterator[tuple[Path, str]]:
    """Yield the pages, and the pictures of methods, with their texts written anew."""
    for page in sorted(DOCS.rglob("*.md")):
        yield page, written(page.read_text(encoding="utf-8"))
    for page in sorted((DOCS / "methods").glob("*.md")):
        if shown(page.stem):
            yield PICTURES / f"{page.stem}.svg", svg(page.stem)


def main(arguments: list[str]) -> int:
    """Write pages and pictures, or check that they are up to date; return the exit code."""
    old = []
    for path, new in files():
        if not path.is_file() or path.read_text(encoding="utf-8") != new:
            old.append(path.relative_to(ROOT).as_posix())
            if "--check" not in arguments:
                path.parent.mkdir(exist_ok=True)
                path.write_text(new, encoding="utf-8")
    if "--check" not in arguments:
        return 0
    for name in old:
        sys.stderr.write(f"{name} is out of date: run python docs/write.py\n")
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
