"""The problems of the plugins in the registry, and the cost of their import."""

from __future__ import annotations

import subprocess
import sys
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


def test_the_names_are_the_pinned_ones():
    assert {problem.name for problem in PROBLEMS} == {
        "orthogonal-distribution",
        "incremental-trap",
        "spiked-covariance",
        "generated-pca",
        "generated-factor",
        "missing-entries",
        "digits",
        "mnist",
        "npy-stochastic-pca",
        "prostate",
        "planted-sparse",
        "digits-sparse",
        "npy-sparse",
        "classic-sparse",
        "procrustes",
        "brockett",
        "ica",
        "odeco",
        "odeco-4",
        "gmm-moments",
        "lda-moments",
        "npy-tensor",
        "nig-factor",
        "gaussian-factor",
        "random-symmetric",
        "npy-moment",
        "hsi-anomaly",
        "portfolio",
        "stiefel-brockett",
        "stiefel-procrustes",
        "stiefel-procrustes-batch",
        "quadratic-assignment",
        "joint-diagonalization",
        "nonlinear-eigenvalue",
        "weight-rotation",
        "orthogonal-network",
        "npy-brockett",
        "npy-procrustes",
        "npy-joint-diagonalization",
        "npy-weight-rotation",
    }


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


def test_importing_the_plugin_is_light():
    heavy = {"numba", "scipy", "sklearn", "matplotlib", "pandas", "pooch", "rdata"}
    code = f"import sys, orthobench as ob; ob.catalogue(); print(*({heavy!r} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
