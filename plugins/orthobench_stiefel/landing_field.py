"""The landing field, and the length of safe steps along it."""

from __future__ import annotations

from typing import Any

from orthobench_kit.arrays import maximum, minimum, ratio, sqrt
from orthobench_kit.ending import unless_ended
from orthobench_kit.stacks import lengths, plural, sizes, transposed

from orthobench.contract import flops, identity, namespace
from orthobench_stiefel import ProductOracle
from orthobench_stiefel.descent import ArrayDescent, Iterate, IterateT, size_of


def landing_field(X: Any, G: Any, attraction: float) -> tuple[Any, Any, int]:
    """Return skew(GX')X + attraction X(X'X - I), the defect |X'X - I|, and the flops, 8np².

    The two terms are orthogonal. X and G have the shape (n, p), or (m, n, p) with a defect for
    each matrix.
    """
    m, n, p = sizes(X)
    S = transposed(X) @ X
    D = S - identity(p, X)
    field = G @ (S / 2) + X @ (attraction * D - (transposed(G) @ X) / 2)
    done = m * (4 * flops.gemm(n, p, p) + n * p + 7 * p * p)
    return field, lengths(D), done


def safe_step(defect: Any, norm: Any, attraction: float, eps: float) -> Any:
    """Return the longest step that keeps |X'X - I| <= eps, of each matrix of a stack.

    `defect` d and `norm` |F| are numbers, or arrays (m,). A step t <= 1/(2a) along the field F,
    with the attraction a, changes d to at most d - 2t a d(1 - d) + t²|F|².
    """
    longest = 1 / (2 * attraction) if attraction > 0 else float("inf")
    if isinstance(norm, float) and norm == 0:  # elsewhere a run ends there, whatever the step is
        return longest
    pull = attraction * defect * (1 - defect)
    room = sqrt(maximum(pull**2 + norm**2 * (eps - defect), 0.0))
    if plural(norm):
        each = minimum(ratio(pull + room, norm**2, longest), longest)
        return namespace(each).min(each)
    return minimum((pull + room) / norm**2, longest)


class FieldDescent(ArrayDescent[IterateT]):
    """Base of methods that step along the landing field."""

    step_size: float
    safe_step: bool
    batch: int
    tolerance: float

    def followed(self, state: Any, G: Any) -> Any:
        """Return the direction; here the gradient G."""
        return G

    def move(self, oracle: ProductOracle, state: Iterate, attraction: float, eps: float) -> bool:
        """Take a step along the field; return False if the run ends instead.

        The field pulls with `attraction`, and a safe step leaves a defect of at most `eps`.
        """
        G = state.estimated(oracle, state.X, self.batch)
        if state.measured(G):
            return False
        followed = self.followed(state, G)
        field, defect, done = landing_field(state.X, followed, attraction)
        state.work.flops += done + 2 * size_of(G)
        norm = state.norm_of(field)
        exact = followed is G and not self.batch
        if state.settle(norm, self.tolerance if exact else 0.0):
            return False
        step: Any = self.step_size
        if self.safe_step:
            own = lengths(field) if plural(defect) else norm
            step = minimum(step, safe_step(defect, own, attraction, eps))
        state.X = unless_ended(state, state.X - step * field, state.X)
        return True
