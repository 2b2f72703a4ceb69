"""Styles: distinct, stable, never by colour alone."""

from hypothesis import given
from hypothesis import strategies as st
from texts import texts

from orthobench.report.style import solver_styles


@given(st.sets(texts(), max_size=60))
def test_no_two_solvers_share_a_style(names):
    assert len(set(solver_styles(names).values())) == len(names)


@given(st.lists(texts(), max_size=20), st.randoms())
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
