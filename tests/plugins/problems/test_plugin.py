"""The problems of the plugins in the registry."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from cases import case
from orthobench_orthogonal_tensor import OrthogonalTensor
from orthobench_sparse_pca import SparsePCA
from orthobench_stiefel import Stiefel
from orthobench_stiefel.orthogonal_group import OrthogonalGroup
from orthobench_stochastic_pca import StochasticPCA
from orthobench_tucker import SymmetricTucker

from orthobench.contract.parameters import parameters_of
from orthobench.registry.plugins import catalogue

CLASSES = (StochasticPCA, SparsePCA, OrthogonalGroup, OrthogonalTensor, SymmetricTucker, Stiefel)
FAMILIES = {family.family: family for family in CLASSES}
PROBLEMS = [
    provided.item for provided in catalogue().problems.values() if provided.item.family in FAMILIES
]


def test_problems_are_documented_frozen_recipes_of_their_family():
    for problem in PROBLEMS:
        with case(problem.name):
            assert issubclass(problem, FAMILIES[problem.family])
            assert problem.__doc__.strip()
            assert all(parameter.help for parameter in parameters_of(problem))
            settings = {p.field: "x.npy" for p in parameters_of(problem) if p.required}
            made = problem(**settings)
            with pytest.raises(FrozenInstanceError):
                made.passes = 2
            assert {made: 1}[problem(**settings)] == 1
