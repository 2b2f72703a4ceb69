"""Stochastic PCA: msg, capped-msg, meg, warmuth-kuzmin, incremental-pca and their rivals."""

from __future__ import annotations

from orthobench.contract import AnySolver, hookimpl
from orthobench_stochastic_pca.batch_pca import BatchPCA
from orthobench_stochastic_pca.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.incremental import IncrementalPCA
from orthobench_stochastic_pca.msg import MSG, CappedMSG
from orthobench_stochastic_pca.rotating import GrassmannianSGD, Oja


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of stochastic PCA."""
    return [MSG, CappedMSG, MEG, WarmuthKuzmin, IncrementalPCA, GrassmannianSGD, Oja, BatchPCA]
