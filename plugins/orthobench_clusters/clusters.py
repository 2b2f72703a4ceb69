"""Dask clusters: connecting to one, and starting one on this machine.

Schedulers and workers run the code of their clients. Those started here listen on the loopback
address only, and need a key in a folder that other users cannot read.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from orthobench.errors import OrthobenchError
from orthobench.tools.processes import Process

if TYPE_CHECKING:
    from distributed import Client, Security

    from orthobench.tools.child import Channel

SCHEDULER_PATIENCE = 10
"""Maximum time for a scheduler to answer, in seconds."""


class ClusterError(OrthobenchError):
    """A cluster cannot be reached, or was lost."""


@contextmanager
def connected(scheduler: Any) -> Iterator[Client]:
    """Yield a client of a scheduler: an address such as ``tls://10.0.0.1:8786``, or a cluster.

    Raises
    ------
    ClusterError
        If the scheduler cannot be reached.
    """
    from distributed import Client

    try:
        client = Client(scheduler, timeout=SCHEDULER_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"there is no Dask scheduler at {scheduler}: {error}") from error
    except TypeError:
        raise ClusterError(
            f"{scheduler} needs the key of the cluster: name it in Dask's configuration, "
            "distributed.comm.tls"
        ) from None
    with client:
        yield client


class Silent:
    """A part of a cluster without its HTTP server."""

    def start_http_server(self, *_: object, **__: object) -> None:
        """Do nothing."""


@contextmanager
def silenced(name: str) -> Iterator[None]:
    """Silence a logger, whose messages are also errors."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


LOOPBACK = "127.0.0.1"

KEY = (
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
    "-nodes", "-days", "365", "-subj", "/CN=orthobench",
)  # fmt: skip
"""Command that makes a key and its certificate."""


class Workers:
    """A scheduler in this process, and workers in other processes.

    Parameters
    ----------
    count : int
        Number of workers.
    """

    def __init__(self, count: int) -> None:
        with ExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory(prefix="orthobench-dask-"))
            make_key(Path(folder))
            self.cluster = stack.enter_context(_scheduler(folder))
            address = self.cluster.scheduler_address
            where = {"address": address, "folder": folder}
            self.processes = [stack.enter_context(Process(__name__, where)) for _ in range(count)]
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def alive(self) -> bool:
        """Whether any worker is alive."""
        return any(process.alive for process in self.processes)

    @property
    def last_words(self) -> str:
        """The end of the standard error of workers that died."""
        return "; ".join(process.last_words for process in self.processes if not process.alive)


def main(channel: Channel, address: str, folder: str) -> None:
    """Serve as a worker until the scheduler or the parent process is gone."""
    del channel
    asyncio.run(_serve(address, folder))


async def _serve(address: str, folder: str) -> None:
    from distributed import Worker

    class Hand(Silent, Worker):  # type: ignore[misc]
        pass

    settings = {
        "nthreads": 1, "memory_limit": 0, "host": LOOPBACK, "security": _security(folder),
        "local_directory": folder, "dashboard": False,
    }  # fmt: skip
    async with Hand(address, **settings) as worker:
        await worker.finished()


def make_key(folder: Path) -> None:
    """Write a key and its certificate."""
    where = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"))
    subprocess.run([*KEY, *where], check=True, capture_output=True)


def _security(folder: str) -> Security:
    from distributed import Security

    key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
    words = {
        f"tls_{part}_{kind}": path
        for part in ("scheduler", "worker", "client")
        for kind, path in (("key", key), ("cert", certificate))
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **words)


def _scheduler(folder: str) -> Any:
    from distributed import Scheduler, SpecCluster

    class Head(Silent, Scheduler):  # type: ignore[misc]
        pass

    security = _security(folder)
    settings = {
        "protocol": "tls://", "host": LOOPBACK, "port": 0, "security": security, "dashboard": False,
    }  # fmt: skip
    return SpecCluster(workers={}, scheduler={"cls": Head, "options": settings}, security=security)
