"""How often a race calls a winner as good that is not, although it looks after every seed."""

from __future__ import annotations

import numpy as np
import pytest
from race_errors import KINDS, simulate

from orthobench.decide.rule import LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_looking_after_every_seed_keeps_the_level(kind: str, noise: float) -> None:
    races = 200
    wrong, _ = simulate(kind, races, noise=noise)
    assert wrong <= LEVEL + 3 * np.sqrt(LEVEL / races)


def test_clearly_equal_solvers_are_as_good() -> None:
    assert simulate("normal", 2, behind=5.0, noise=0.2) == (0.0, 1.0)
