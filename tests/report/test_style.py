"""Styles: distinct, stable, never by colour alone."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.report import page
from orthobench.report.style import COLOURS, solver_styles


@given(st.sets(st.text(), max_size=60))
def test_no_two_solvers_share_a_style(names):
    assert len(set(solver_styles(names).values())) == len(names)


@given(st.lists(st.text(), max_size=20), st.randoms())
def test_depend_on_the_set_of_names_alone(names, rnd):
    shuffled = [*names, *names]
    rnd.shuffle(shuffled)
    assert solver_styles(names) == solver_styles(shuffled)


def test_twelve_solvers_have_hues_of_their_own():
    names = ["oja", "msg", "meg", "batch-pca", *map(str, range(8))]
    assert len({style.colour for style in solver_styles(names).values()}) == 12


def test_a_name_decides_the_hue_unless_another_one_has_it():
    alone = {name: solver_styles([name])[name].colour for name in map(str, range(12))}
    names = ("oja", "batch-pca", "tensor-power")  # as on the pages that were published
    published = {name: solver_styles([name])[name].colour for name in names}
    assert published == {"oja": "#BB3197", "batch-pca": "#931913", "tensor-power": "#BB3197"}
    together = solver_styles(["0", "5"])
    assert together["0"].colour == alone["0"]
    assert together["5"].colour == alone["5"] or alone["5"] == alone["0"]


SEEN = {
    "by anyone": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
"""What is seen of linear RGB: Machado, Oliveira and Fernandes 2009, table 1, severity 1."""

TO_LMS = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
          [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
TO_LAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
          [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
"""OKLab (Ottosson 2020)."""


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """Return the contrast of WCAG 2."""
    dark, light = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b))
    return (light + 0.05) / (dark + 0.05)


def oklab(colour, seen):
    return TO_LAB @ np.cbrt(TO_LMS @ np.clip(seen @ linear(colour), 0, 1))


CSS = (Path(page.__file__).parent / "page.css").read_text()
MIXED = int(re.search(r"color-mix\(in oklab, var\(--own\) (\d+)%, white\)", CSS)[1]) / 100


def on_dark(colour):
    """Return linear RGB of a colour as the style sheet mixes it with white in OKLab."""
    lab = MIXED * oklab(colour, np.eye(3)) + (1 - MIXED) * oklab("#ffffff", np.eye(3))
    return np.clip(np.linalg.solve(TO_LMS, np.linalg.solve(TO_LAB, lab) ** 3), 0, 1)


def test_lines_contrast_with_the_page_light_and_dark():
    (dark,) = re.findall(r"--page: (#[0-9a-f]{6});", CSS)
    weights = [0.2126, 0.7152, 0.0722]
    for colour in COLOURS:
        assert contrast(colour, "#ffffff") > 3
        lit = float(on_dark(colour) @ weights)
        assert (lit + 0.05) / (float(linear(dark) @ weights) + 0.05) > 4.5


@pytest.mark.parametrize("seen", SEEN)
def test_any_two_colours_differ_for_everybody(seen):
    least = 0.12 if seen == "by anyone" else 0.08
    for a, b in combinations(COLOURS, 2):
        assert np.linalg.norm(oklab(a, SEEN[seen]) - oklab(b, SEEN[seen])) > least
