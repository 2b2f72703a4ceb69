"""Clusters that cannot be reached, and loggers that are quiet meanwhile."""

import logging

import pytest

from orthobench.harness.clusters import ClusterError, _security, connected, silenced

distributed = pytest.importorskip("distributed")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("timed out"), "there is no Dask scheduler at tls://a:1: timed out"),
        (TimeoutError("too late"), "there is no Dask scheduler at tls://a:1: too late"),
        (ValueError("unknown scheme"), "there is no Dask scheduler at tls://a:1: unknown scheme"),
        (TypeError("no context"), "tls://a:1 needs the key of the cluster"),
    ],
)
def test_a_scheduler_that_cannot_be_reached_is_named(monkeypatch, error, said):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(ClusterError, match=said), connected("tls://a:1"):
        pass


def test_a_logger_is_quiet_until_the_end_also_after_an_error():
    logger = logging.getLogger("orthobench.tests.quiet")
    logger.setLevel(logging.INFO)

    def fail():
        with silenced(logger.name):
            assert not logger.isEnabledFor(logging.ERROR)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert logger.level == logging.INFO


def test_nobody_talks_to_a_cluster_of_ours_without_encryption():
    security = _security("folder")
    assert security.require_encryption
    for part in ("scheduler", "worker", "client"):
        assert getattr(security, f"tls_{part}_key") == "folder/key.pem"
        assert getattr(security, f"tls_{part}_cert") == security.tls_ca_file
