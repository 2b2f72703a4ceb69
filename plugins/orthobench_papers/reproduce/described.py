"""Papers as TOML files describe them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from orthobench_papers.reproduce.claims import Claim, Paper, Picture, Verdict
from orthobench_papers.reproduce.estimates import ESTIMATES, Estimate

T = TypeVar("T")


def papers_of(package: str) -> list[Paper]:
    """Return the papers that the TOML files of a package describe, one a file, by name.

    ::

        name = "msg-2013"
        reference = "Raman Arora, ...: *Stochastic Optimization of PCA with Capped MSG*. 2013."
        summary = "Theorem 1 has a misprint."
        notes = "Markdown"

        [claims.msg-costs-more]
        sentence = "An iteration of MSG costs more than one of capped MSG."
        source = "section 3"
        check = "figure_3.costs_more"
        with = { k = 4, step = "@figure_3.msg_step" }
        suites = ["mnist"]

        [pictures.figure-3]
        source = "Figure 3"
        caption = "Suboptimality against samples."
        plot = "figure_3.draw"

        [claims.msg-drifts]
        sentence = "MSG stays feasible."
        source = "section 3"
        check = "section_3.defects"
        with = { steps = 100 }
        always = { high = 1e-12 }
        text = "largest defect after {steps} steps"

    The file ``msg_2013.toml`` names functions of the module ``msg_2013`` beside it, with suites in
    the folder ``msg_2013/suites``. ``with`` has keyword arguments of a check or plot; a text that
    begins with ``@`` names an object there. With ``always``, ``mean``, ``median`` or ``share`` the
    check returns values for an `Estimate` with these bounds and ``text``, which may name arguments.
    With ``trials = 400`` it returns the value of a seed instead, and is called for the first 400.
    Other keys are attributes of `Claim` and `Picture`.

    Parameters
    ----------
    package : str
        The package's ``__name__``.

    Raises
    ------
    ValueError
        If a file is not such a description; names the file, and the claim or picture.
    """
    # digests of a package that imports by computed names would have all papers
    folder = Path(resolve_name(package).__path__[0])
    return [_paper(path, f"{package}.{path.stem}") for path in sorted(folder.glob("*.toml"))]


def _paper(path: Path, code: str) -> Paper:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        claims = table.pop("claims", {}).items()
        pictures = table.pop("pictures", {}).items()
        return Paper(
            claims=tuple(_item(Claim, "check", name, own, code) for name, own in claims),
            suites=path.parent / path.stem / "suites",
            pictures=tuple(_item(Picture, "plot", name, own, code) for name, own in pictures),
            **table,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def _item(kind: Callable[..., T], call: str, name: str, table: dict[str, Any], code: str) -> T:
    """Return a claim or a picture of a table; `call` is the key of its function."""
    own: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    try:
        given = {k: _meant(v, code) for k, v in own.pop("with", {}).items()}
        if call in own:
            function = resolve_name(f"{code}.{own[call]}")
            own[call] = partial(function, **given) if given else function
        for estimate in ESTIMATES.keys() & own.keys():
            own[call] = Estimate(
                own[call], ESTIMATES[estimate], own.pop("text", ""), own.pop(estimate), given,
                own.pop("trials", 0),
            )  # fmt: skip
        if "known" in own:
            own["known"] = Verdict(own["known"])
        return kind(name=name, **own)
    except (AttributeError, ImportError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def _meant(value: object, code: str) -> Any:
    """Return the argument that a value of ``with`` stands for."""
    if isinstance(value, str) and value.startswith("@"):
        return resolve_name(f"{code}.{value[1:]}")
    return tuple(value) if isinstance(value, list) else value
