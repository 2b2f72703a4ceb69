"""Dask clusters of separate programs, and the ports on which they listen."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listened_to(port):
    """Wait until something listens to a port."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


@contextmanager
def started(module, *words):
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *words],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster(protocol="tcp"):
    """A scheduler and two workers, as an administrator would start them; no nannies."""
    port = free_port()
    address = f"{protocol}://127.0.0.1:{port}"
    worker = ("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    where = ("--protocol", protocol, "--host", "127.0.0.1", "--port", str(port))
    scheduler = ("dask_scheduler", *where, "--no-dashboard")
    with started(*scheduler) as head, started(*worker) as first, started(*worker) as second:
        listened_to(port)
        yield address, head, (first, second)


def of_this_process():
    """Ports of this process and of those that it started, with their owners."""
    psutil = pytest.importorskip("psutil")
    family = psutil.Process().children(recursive=True)
    pids = {os.getpid(), *(process.pid for process in family)}
    everything = psutil.net_connections("all")
    return {c.laddr for c in everything if c.pid in pids and c.status == "LISTEN"}, family
