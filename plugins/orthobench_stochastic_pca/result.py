"""Components of a stream and their variances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from orthobench_kit.second_moments import SecondMoment
from orthobench_kit.signs import signs

from orthobench.contract import Array, Result, Solution


@dataclass(frozen=True, repr=False, eq=False)
class StreamResult(Result):
    """Components of a stream of samples.

    Attributes
    ----------
    components : ndarray, shape (d, k)
        Orthonormal columns, the largest variance first; the entry of largest absolute value is
        positive.
    variance : ndarray, shape (k,)
        Mean squares of the scores of the judge's data, not centred, in the squared unit of the
        samples.
    """

    components: Annotated[Array, "orthonormal columns, the largest variance first"]
    variance: Annotated[Array, "mean square of the scores, unit of the samples squared"]


def components(moment: SecondMoment, unit: float, solution: Solution) -> StreamResult:
    """Return the components in the span of a point, along the axes of the judge's data.

    `moment` is C, `unit` the divisor of the samples. U'CU follows from k(k + 1)/2 variances.
    """
    U = solution.point
    k = U.shape[1]
    i, j = np.triu_indices(k, 1)
    found = moment.variances(np.hstack([U, U[:, i] + U[:, j]]))
    inner = np.diag(found[:k])
    inner[i, j] = inner[j, i] = (found[k:] - found[i] - found[j]) / 2
    values, rotation = np.linalg.eigh(inner)
    V = U @ rotation[:, ::-1]
    return StreamResult(V * signs(V), np.maximum(values[::-1], 0.0) * unit**2)
