"""Dask clusters: connecting to one, and starting one on this machine.

Dask workers and their scheduler listen, and who can connect to them can run code. So those of here
are processes with one thread, for one run, that listen on the loopback address only, and talk to
nobody who does not have the key of this one run, which is in a folder that other users of the
machine cannot read.
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

PATIENCE = 10
"""Seconds that a scheduler has to answer."""


class ClusterError(OrthobenchError):
    """A cluster that cannot be reached, or was lost."""


@contextmanager
def connected(scheduler: Any) -> Iterator[Client]:
    """Connect to a scheduler, meanwhile.

    Parameters
    ----------
    scheduler : str or Cluster
        An address, as ``tls://10.0.0.1:8786``, or a cluster that was started here.

    Raises
    ------
    ClusterError
        Where the scheduler cannot be reached.
    """
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE)
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
    """A part of a cluster without the HTTP server that Dask starts with every part."""

    def start_http_server(self, *_: object, **__: object) -> None:
        """Start nothing."""


@contextmanager
def silenced(name: str) -> Iterator[None]:
    """Keep a logger quiet whose messages also come as errors."""
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
"""The command that makes a key and its certificate."""


class Workers:
    """A scheduler in this process, and workers in processes of their own.

    Parameters
    ----------
    count : int

    Attributes
    ----------
    cluster : SpecCluster
        The scheduler, with the key to connect to it.
    processes : list of Process
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
        """Whether any worker is left."""
        return any(process.alive for process in self.processes)

    @property
    def last_words(self) -> str:
        """What the workers that died wrote to standard error at last."""
        return "; ".join(process.last_words for process in self.processes if not process.alive)


def main(channel: Channel, address: str, folder: str) -> None:
    """Be a worker until the scheduler, or the process that started this one, is gone.

    Parameters
    ----------
    channel : Channel
        Not used.
    address : str
        Of the scheduler.
    folder : str
        Where the key is, and what the worker writes.
    """
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
    """Make a key and its certificate, in a folder that only this user can read."""
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
