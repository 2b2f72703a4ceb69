"""Functions of your own: their oracle, and checks of their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, copied, is_number
from orthobench.tools.geometry import polar, random_point
from orthobench.tools.places import Place
from orthobench_stiefel.autodiff import Differentiated
from orthobench_stiefel.judge import projected
from orthobench_stiefel.oracle import Cost, Gradient, Hessian, StiefelOracle


class FunctionOracle(StiefelOracle):
    """A function of your own, checked at each call in NumPy, otherwise once before the run.

    Parameters
    ----------
    cost : callable
        Maps X (n, p) to a float.
    n, p : int
        Rows and columns of X.
    gradient : callable, optional
        Maps X to the matrix of partial derivatives (n, p), not projected.
    start : ndarray, shape (n, p), optional
        Orthonormal columns; default: a random point.
    both : callable, optional
        Maps X to cost and gradient, if both share work.
    determinant : int, optional
        Component of a square X to begin on: 1, -1, or 0 for both in turn [default: that of the
        start].
    hessian : callable, optional
        Maps X and V to the derivative of the gradient at X along V, (n, p).
    """

    portable = True

    def __init__(
        self,
        cost: Cost,
        n: int,
        p: int,
        gradient: Gradient | None = None,
        start: Array | None = None,
        both: Callable[[Array], tuple[float, Array]] | None = None,
        determinant: int | None = None,
        hessian: Hessian | None = None,
    ) -> None:
        self.hessian = hessian
        self.determinant, self.components = determinant, 2 if determinant == 0 else 1
        self.cost, self.partials, self.n, self.k = cost, gradient, n, p
        self._given, self.both = start, both

    @property
    def start(self) -> Any:
        return vars(self)["start"]

    @start.setter
    def start(self, drawn: Any) -> None:
        self._begin_at(drawn if self._given is None else copied(self._given))

    def start_again(self, number: int, rng: np.random.Generator) -> None:
        """Draw another start; on both components reflect every other one."""
        again = self.components == 1 or number % 2 == 0
        drawn = random_point(self.n, self.k, rng)
        self._begin_at(self.placed(drawn) if again else reflected(self.start, self.place))

    def _begin_at(self, X: Any) -> None:
        wrong = self.determinant and np.linalg.slogdet(X)[0] != self.determinant
        vars(self)["start"] = reflected(X, self.place) if wrong else X

    def to(self, place: Place) -> Self:
        """Return a copy with functions of arrays at a place; UsageError if they refuse them."""
        moved = super().to(place)
        if place.library == "numpy":
            return moved
        if isinstance(own := self.cost, Differentiated):
            moved.cost, moved.partials = own.value_there, own.gradient_there
            moved.both = own.both_there
        X = random_point(self.n, self.k, np.random.default_rng(0))
        check_there(moved, place.array(X))
        return moved

    def value(self, X: Any) -> Any:
        """Return the cost; DataError if it is not a finite real number."""
        value = self.cost(X)
        return checked_value(value) if isinstance(X, np.ndarray) else value

    def gradient(self, X: Any) -> Any:
        """Return the gradient, checked: UsageError or DataError."""
        if self.partials is None:
            raise UsageError(
                "this solver needs the gradient of the cost: pass it to ob.stiefel or "
                "ob.orthogonal_group"
            )
        return self._checked(self.partials(X), X)

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        if self.both is None:
            return super().value_and_gradient(X)
        value, gradient = self.both(X)
        if isinstance(X, np.ndarray):
            value = checked_value(value)
        return value, self._checked(gradient, X)

    def _checked(self, gradient: Any, X: Any) -> Any:
        if not isinstance(X, np.ndarray):
            return gradient
        return checked_matrix(gradient, (self.n, self.k)).astype(X.dtype, copy=False)


def reflected(X: Any, place: Place) -> Any:
    """Return X with its last column negated."""
    signs = np.append(np.ones(X.shape[1] - 1), -1.0)
    return X * (place.array(signs) if place.moves else signs)


def check_there(oracle: FunctionOracle, X: Any) -> None:
    """Refuse functions that do not map X, in a solver's library, to its arrays: UsageError."""
    place = oracle.place
    remedy = f"write it for {place.library}, or leave out on"
    for what, call, shape in (("cost", oracle.value, ()), ("gradient", oracle.gradient, X.shape)):
        if what == "gradient" and oracle.partials is None:
            continue
        asked = f"on={place} calls the {what} with arrays of {place.library}, {X.dtype}"
        try:
            found = call(X)
        except Exception as error:
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UsageError(f"{asked}, and it raised {said}; {remedy}") from error
        kind, form = getattr(found, "dtype", type(found).__name__), getattr(found, "shape", ())
        if type(found) is not type(X) or kind != X.dtype or tuple(form) != tuple(shape):
            raise UsageError(
                f"{asked}, and must get such an array of shape {tuple(shape)}, not {kind} of shape "
                f"{tuple(form)}; {remedy}"
            )


EVALUATED = (
    "where a solver evaluated it; it must be finite at every matrix with orthonormal columns"
)


def checked_value(
    value: object, name: str = "the cost", where: str = EVALUATED, error: Any = DataError
) -> float:
    """Return the value of a cost as a float; raise `error` if it is not a finite real number.

    `name` and `where` are its name and the point, for messages.
    """
    if type(value) is not float:
        given = np.asarray(value)
        if given.ndim or given.dtype.kind not in "fiub":
            raise error(f"{name} must be a real number, not {given.dtype} of shape {given.shape}")
        value = float(given)
    if not np.isfinite(value):
        raise error(f"{name} is {value!r} {where}")
    return value


def checked_matrix(
    value: object, shape: tuple[int, ...], name: str = "the gradient", error: Any = DataError
) -> Array:
    """Return a derivative as float64; raise `error` if it is not a real matrix of a shape."""
    G = np.asarray(value)
    if G.shape != shape or G.dtype.kind not in "fiu":
        raise error(f"{name} must be a real matrix of shape {shape}, not {G.dtype} of {G.shape}")
    return G.astype(np.float64, copy=False)


STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Lengths of steps for Taylor errors."""

TOLERANCE = 1e-3
"""Maximum relative error of a correct derivative, apart from rounding."""

SLOPE = 1.5
"""Minimum slope of log error over log step: 3 for a right derivative, 1 for a wrong one."""

NOISE = 100 * float(np.finfo(np.float64).eps)
"""Minimum relative rounding of values."""


def check_functions(
    cost: Cost,
    gradient: Gradient | None,
    best: float | None,
    X: Array,
    letter: str,
    where: str,
    hessian: Hessian | None = None,
) -> None:
    """Refuse a cost that is not finite at X, and derivatives that are not its own.

    Parameters
    ----------
    cost, gradient, best, hessian
        See `orthobench.stiefel`.
    X : ndarray, shape (n, p)
        Orthonormal columns.
    letter, where : str
        Names of X in messages: ``"U"``, ``"a random orthogonal (5, 5) matrix"``.

    Raises
    ------
    UsageError
    """
    given = {"cost": cost, "gradient": gradient, "hessian": hessian}
    for what, function in given.items():
        if not callable(function) and (what == "cost" or function is not None):
            raise UsageError(f"the {what} must be a function of {letter}, not {function!r}")
    if best is not None and not (is_number(best) and np.isfinite(best)):
        raise UsageError(f"best must be a finite number, not {best!r}")
    if hessian is not None and gradient is None:
        raise UsageError("a Hessian without a gradient is used by no solver: pass the gradient too")
    probe = _Probe(cost, X, letter, where)
    value = probe.value(X)
    if gradient is not None:
        probe.check_gradient(gradient, value)
    if hessian is not None and gradient is not None:
        probe.check_hessian(gradient, hessian)


DEGENERATE = (
    "; at every matrix with orthonormal columns all singular values are 1, where vectors of an SVD "
    "of it, or of eigh, have no derivative, and the values alone have one"
)
"""Advice about a cost whose automatic gradient is wrong."""


class _Probe:
    def __init__(self, cost: Cost, X: Array, letter: str, where: str) -> None:
        automatic = isinstance(cost, Differentiated) and cost.partials is None
        self.hint = DEGENERATE if automatic else ""
        self.cost, self.X, self.letter, self.where = cost, X, letter, where
        self.D = projected(X, np.random.default_rng(1).standard_normal(X.shape))
        self.D /= max(float(np.linalg.norm(self.D)), 1e-12)

    def value(self, X: Array) -> float:
        value, name = self._called(self.cost, X, "cost"), f"cost({self.letter})"
        return checked_value(value, name, f"at {self.where}", UsageError)

    def matrix(self, function: Callable[[Array], Any], X: Array, what: str) -> Array:
        name = f"{what}({self.letter}{', V' if what == 'hessian' else ''})"
        G = checked_matrix(self._called(function, X, what), X.shape, name, UsageError)
        if not np.isfinite(G).all():
            raise UsageError(f"{name} is not finite at {self.where}{self.hint}")
        return G

    def check_gradient(self, gradient: Gradient, value: float) -> None:
        G = self.matrix(gradient, self.X, "gradient")
        derivative = float(np.vdot(G, self.D))
        tangent = float(np.linalg.norm(projected(self.X, G)))
        differences = _Differences(self.value, self.X, self.D, value)
        if not differences.explain(derivative, TOLERANCE * tangent):
            raise UsageError(
                f"the gradient is not that of the cost: along a random direction it gives "
                f"{derivative:.6g}, differences of the cost give {float(differences.shown):.6g}; "
                f"it must be the matrix of partial derivatives with respect to the entries of "
                f"{self.letter}{self.hint}"
            )

    def check_hessian(self, gradient: Gradient, hessian: Hessian) -> None:

        def along(X: Array) -> Array:
            return self.matrix(gradient, X, "gradient")

        product = self.matrix(lambda X: hessian(X, self.D.copy()), self.X, "hessian")
        differences = _Differences(along, self.X, self.D, along(self.X))
        if not differences.explain(product, 0.0):
            raise UsageError(
                f"the Hessian is not that of the cost: along a random direction V its product has "
                f"norm {np.linalg.norm(product):.6g}, and differences of the gradient one of "
                f"{np.linalg.norm(differences.shown):.6g}, "
                f"{np.linalg.norm(differences.shown - product):.2g} away; "
                f"hessian({self.letter}, V) must be the derivative of the gradient along V"
            )

    def _called(self, function: Callable[[Array], Any], X: Array, what: str) -> Any:
        given = X.copy()
        try:
            result = function(given)
        except Exception as error:
            raise UsageError(f"the {what} raised {error!r} at {self.where}") from error
        if not np.array_equal(given, X):
            raise UsageError(
                f"the {what} writes into the matrix that it is given; "
                f"let it copy {self.letter} first"
            )
        return result


class _Differences:
    """Differences of a function along a curve through X, forward and back, by `STEPS`."""

    def __init__(self, function: Callable[[Array], Any], X: Array, D: Array, there: Any) -> None:
        ends = [[function(polar(X + t * D)) for t in (step, -step)] for step in STEPS]
        self._half = [(ahead - behind) / 2 for ahead, behind in ends]
        bent = [np.linalg.norm(ahead - 2 * there + behind) for ahead, behind in ends[-2:]]
        # second differences of the shortest steps are rounding
        self.noise = NOISE * float(np.linalg.norm(there)) + 4 * float(max(bent))
        # a step neither long nor lost in rounding
        self.shown = self._half[3] / STEPS[3]

    def explain(self, derivative: Any, slack: float) -> bool:
        """Return whether a derivative is right, up to TOLERANCE, `slack` and noise."""
        allowed = TOLERANCE * (float(np.linalg.norm(derivative)) + slack)
        seen = [
            (step, float(np.linalg.norm(half - step * derivative)))
            for half, step in zip(self._half, STEPS, strict=True)
        ]
        if any(max(error, self.noise) <= allowed * step for step, error in seen):
            return True
        clear = [pair for pair in seen if pair[1] > self.noise]
        if len(clear) < 2:
            return True
        (far, large), (near, small) = clear[-2:]
        return bool(np.log(large / small) / np.log(far / near) >= SLOPE)
