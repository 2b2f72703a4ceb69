"""Dask clusters: connecting to one, and the parts of those that are started here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orthobench.errors import OrthobenchError

if TYPE_CHECKING:
    from distributed import Client, Security

PATIENCE = 10
"""Seconds that a scheduler has to answer."""


class ClusterError(OrthobenchError):
    """A cluster that cannot be reached, or was lost."""


@contextmanager
def connected(scheduler: Any, security: Security | None = None) -> Iterator[Client]:
    """Connect to a scheduler, meanwhile.

    Parameters
    ----------
    scheduler : str or Cluster
        An address, as ``tls://10.0.0.1:8786``, or a cluster that was started here.
    security : Security, optional
        By default what Dask's configuration says.

    Raises
    ------
    ClusterError
        Where the scheduler cannot be reached.
    """
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, security=security)
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
