"""Optimizers of torch: geoopt, POGO and parametrizations."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import Peer

from orthobench.contract import Array, Solution, flops, parameter
from orthobench_stiefel import StiefelOracle
from orthobench_stiefel.descent import Iterate, batch_parameter, check_batch, momentum_parameter

MAPS = {"matrix-exp": 45, "cayley": 6, "householder": 4}
"""Parametrizations of torch, and the number of (n, n) products of each, the last (n, n, p)."""


@dataclass(slots=True, kw_only=True)
class TorchState(Iterate):
    """The iterate and the memory of the optimizer."""

    memory: dict[str, Any]


def step_parameter() -> Any:
    """Declare the parameter ``step`` of the optimizers of torch."""
    return parameter(
        0.01, name="step", above=0.0, grid=(0.01, 0.03, 0.1, 0.3, 1.0), help="learning rate"
    )


class TorchPeer(Peer[StiefelOracle, TorchState]):
    """Base of optimizers of torch, which never converge."""

    extra: ClassVar[str] = "peers-torch"

    batch: int
    products: ClassVar[int]
    """Products of an (n, p) and a (p, p) matrix in a step; a QR decomposition counts as two."""

    def begin(self, oracle: StiefelOracle, rng: np.random.Generator) -> TorchState:
        check_batch(oracle, self.batch)
        return TorchState(X=oracle.start.copy(), factor=1, memory={})

    def advance(self, oracle: StiefelOracle, state: TorchState, count: int) -> None:
        import torch

        point, optimizer = self.made(state.X)
        if state.memory:
            optimizer.param_groups[0].update(state.memory["counters"])
            optimizer.state[point].update(_copied(state.memory["means"]))
        for _ in range(count):
            G = state.estimated(oracle, state.X, self.batch)
            point.grad = torch.tensor(G).reshape(point.shape)
            optimizer.step()
            state.X = point.detach().numpy().reshape(G.shape).copy()
            state.work.steps += 1
            state.work.flops += self.products * flops.gemm(oracle.n, oracle.k, oracle.k)
        state.memory = _memory(optimizer, point)

    def solution(self, state: TorchState) -> Solution:
        return Solution(state.X.copy())

    @abstractmethod
    def made(self, start: Array) -> tuple[Any, Any]:
        """Return a parameter of torch at a point, and its optimizer."""


def _memory(optimizer: Any, point: Any) -> dict[str, Any]:
    """Return the counters and means of an optimizer of one point.

    Torch's ``load_state_dict`` turns counters into 32-bit floats, and geoopt has its own tensors.
    """
    counters = {name: v for name, v in optimizer.param_groups[0].items() if name != "params"}
    return {"counters": counters, "means": _copied(optimizer.state[point])}


def _copied(means: dict[str, Any]) -> dict[str, Any]:
    import torch

    return {
        name: value.detach().as_subclass(torch.Tensor).clone()
        if isinstance(value, torch.Tensor)
        else value
        for name, value in means.items()
    }


@dataclass(frozen=True)
class TorchOrthogonal(TorchPeer):
    """SGD of torch on its own parametrization of orthonormal columns.

    X = X0 f(W), with the start X0 completed to n columns and a free W (n, p): ``matrix-exp`` and
    ``cayley`` of a skew-symmetric (n, n) matrix, ``householder`` a product of p reflections.

    Notes
    -----
    Flops of a step: a gradient and about 90n³, 12n³ and 8n²p. Memory: 8n², of the first 40n².

    References
    ----------
    Lezcano-Casado 2019, "Trivializations for gradient-based optimization on manifolds"; PyTorch,
    torch.nn.utils.parametrizations.orthogonal.
    """

    name: ClassVar[str] = "torch-orthogonal"
    source: ClassVar[str] = "torch: torch.nn.utils.parametrizations.orthogonal"
    doi: ClassVar[str] = "10.1145/3620665.3640366"
    extra: ClassVar[str] = "torch"
    packages: ClassVar[tuple[str, ...]] = ("torch",)

    map: str = parameter("matrix-exp", choices=tuple(MAPS), help="from free to orthonormal columns")
    step_size: float = step_parameter()
    momentum: float = momentum_parameter()
    batch: int = batch_parameter()

    def advance(self, oracle: StiefelOracle, state: TorchState, count: int) -> None:
        layer, optimizer = self.made(state.X)
        if state.memory:
            layer.load_state_dict(state.memory["layer"])
            optimizer.load_state_dict(state.memory["optimizer"])
        X, n = layer.weight, oracle.n
        columns = oracle.k if self.map == "householder" else n
        for _ in range(count):
            optimizer.zero_grad()
            X.backward(X.new_tensor(state.estimated(oracle, state.X, self.batch)))
            optimizer.step()
            X = layer.weight
            state.X = X.detach().numpy().copy()
            state.work.steps += 1
            state.work.flops += MAPS[self.map] * flops.gemm(n, n, columns)
        state.memory = deepcopy({"layer": layer.state_dict(), "optimizer": optimizer.state_dict()})

    def made(self, start: Array) -> tuple[Any, Any]:
        import torch
        from torch.nn.utils.parametrizations import orthogonal

        with torch.random.fork_rng(devices=()):
            torch.manual_seed(0)  # of the columns that complete the start
            layer = torch.nn.Linear(*start.shape[::-1], bias=False, dtype=torch.float64)
            layer.weight = torch.nn.Parameter(torch.tensor(start))
            orthogonal(layer, orthogonal_map=self.map.replace("-", "_"))
        rates = {"lr": self.step_size, "momentum": self.momentum}
        return layer, torch.optim.SGD(layer.parameters(), **rates)


class Geoopt(TorchPeer):
    """Base of geoopt's optimizers, on its Stiefel manifold in the Euclidean metric."""

    packages: ClassVar[tuple[str, ...]] = ("geoopt", "torch")

    def made(self, start: Array) -> tuple[Any, Any]:
        import geoopt
        import torch

        manifold = geoopt.EuclideanStiefel()
        point = geoopt.ManifoldParameter(torch.tensor(start), manifold=manifold)
        return point, self.optimizer([point])

    @abstractmethod
    def optimizer(self, points: list[Any]) -> Any:
        """Return the optimizer of points."""


@dataclass(frozen=True)
class GeooptSGD(Geoopt):
    """geoopt's RiemannianSGD: constant steps along the Q factor, with or without momentum.

    Notes
    -----
    Flops of a step: a gradient and 8np²: a projection and a QR. Memory: 3np.

    References
    ----------
    Kochurov, Karimov and Kozlukov 2020, "Geoopt: Riemannian optimization in PyTorch".
    """

    name: ClassVar[str] = "geoopt-sgd"
    source: ClassVar[str] = "geoopt: geoopt.optim.RiemannianSGD"
    doi: ClassVar[str] = "10.48550/arXiv.2005.02819"
    products: ClassVar[int] = 4

    step_size: float = step_parameter()
    momentum: float = momentum_parameter()
    batch: int = batch_parameter()

    def optimizer(self, points: list[Any]) -> Any:
        from geoopt.optim import RiemannianSGD

        return RiemannianSGD(points, lr=self.step_size, momentum=self.momentum)


@dataclass(frozen=True)
class GeooptAdam(Geoopt):
    """geoopt's RiemannianAdam: the means of Adam in the tangent space, along the Q factor.

    Notes
    -----
    Flops of a step: a gradient and 12np²: two projections and a QR. Memory: 4np.

    References
    ----------
    Bécigneul and Ganea 2019, "Riemannian adaptive optimization methods"; Kochurov, Karimov and
    Kozlukov 2020.
    """

    name: ClassVar[str] = "geoopt-adam"
    source: ClassVar[str] = "geoopt: geoopt.optim.RiemannianAdam"
    doi: ClassVar[str] = "10.48550/arXiv.2005.02819"
    products: ClassVar[int] = 6

    step_size: float = step_parameter()
    batch: int = batch_parameter()

    def optimizer(self, points: list[Any]) -> Any:
        from geoopt.optim import RiemannianAdam

        return RiemannianAdam(points, lr=self.step_size)


@dataclass(frozen=True)
class PogoTorch(TorchPeer):
    """The authors' POGO, with their SGD or VectorAdam, judged at the nearest feasible point.

    The first buffer of ``sgd`` is (1 + momentum) G.

    Notes
    -----
    Flops of a step: a gradient and 12np². Memory: 4np.

    References
    ----------
    Javaloy and Vergari 2026, "An embarrassingly simple way to optimize orthogonal matrices at
    scale".
    """

    name: ClassVar[str] = "pogo-torch"
    source: ClassVar[str] = "pogo-torch: pogo.POGO"
    packages: ClassVar[tuple[str, ...]] = ("pogo-torch", "torch")
    products: ClassVar[int] = 6

    step_size: float = step_parameter()
    base: str = parameter("sgd", choices=("sgd", "vector-adam"), help="base optimizer")
    momentum: float = momentum_parameter()
    batch: int = batch_parameter()

    def made(self, start: Array) -> tuple[Any, Any]:
        import torch
        from pogo import POGO, base

        point = torch.nn.Parameter(torch.tensor(start)[None])
        means = base.VectorAdam() if self.base == "vector-adam" else base.SGD(self.momentum)
        return point, POGO([point], means, lr=self.step_size, flatten_fn=_same, rows=False)


def _same(stack: Any) -> Any:
    """Return matrices as they are; POGO's own function does not pickle."""
    return stack
