"""Methods for any smooth function of orthonormal columns, on the Stiefel manifold or near it."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_stiefel.cdopt import CDOpt
from orthobench_stiefel.landing import Landing
from orthobench_stiefel.landing_newton import LandingNewton
from orthobench_stiefel.manifold_muon import ManifoldMuon
from orthobench_stiefel.pogo import POGO
from orthobench_stiefel.random_submanifold import RandomSubmanifold
from orthobench_stiefel.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.spel import SPEL
from orthobench_stiefel.wen_yin import WenYin


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        RiemannianGradient, WenYin, Landing, POGO, RandomSubmanifold, SPEL, ManifoldMuon,
        LandingNewton, CDOpt,
    ]  # fmt: skip
