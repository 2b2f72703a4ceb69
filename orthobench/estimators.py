"""Estimators with the interface of scikit-learn, which the families bring.

`fit` chooses a solver by the shape of the data; ``solver_`` is its name. A family names its
estimators as entry points of the group ``orthobench.estimators``.

Examples
--------
>>> import numpy as np
>>> from orthobench.estimators import PCA
>>> X = np.random.default_rng(0).standard_normal((500, 20)) * np.linspace(2, 1, 20) + 3
>>> pca = PCA(n_components=3).fit(X)
>>> pca.components_.shape, pca.solver_
((3, 20), 'gram-pca')
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP = "orthobench.estimators"
"""The group of entry points whose classes are attributes here."""


def __getattr__(name: str) -> Any:
    for found in () if name.startswith("_") else _estimators().select(name=name):
        return found.load()
    raise AttributeError(f"no installed family brings an estimator {name!r}")


def __dir__() -> list[str]:
    return sorted(_estimators().names)


def _estimators() -> "EntryPoints":
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)
