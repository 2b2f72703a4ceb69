"""Clusters that cannot be reached, and the security of own clusters."""

import pytest
from orthobench_clusters import clusters
from orthobench_clusters.clusters import ClusterError, _security, connected

from orthobench.errors import UsageError
from orthobench.harness import placement
from orthobench.harness.executors import Executor

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


def test_own_cluster_requires_encryption():
    security = _security("folder")
    assert security.require_encryption
    for part in ("scheduler", "worker", "client"):
        assert getattr(security, f"tls_{part}_key") == "folder/key.pem"
        assert getattr(security, f"tls_{part}_cert") == security.tls_ca_file


def test_own_scheduler_listens_on_this_machine_only(monkeypatch):
    monkeypatch.setattr(distributed, "SpecCluster", lambda **words: words)
    found = clusters._scheduler("folder")
    head, options = found["scheduler"]["cls"], found["scheduler"]["options"]
    assert found["workers"] == {}  # they are processes of their own
    assert found["security"] is options["security"]
    assert options["security"].require_encryption
    where = {name: options[name] for name in ("protocol", "host", "port", "dashboard")}
    assert where == {"protocol": "tls://", "host": "127.0.0.1", "port": 0, "dashboard": False}
    assert issubclass(head, distributed.Scheduler)
    assert head.start_http_server is clusters.Silent.start_http_server


@pytest.mark.parametrize(
    ("name", "scheduler", "said"),
    [("dask", None, "dask needs a scheduler"), ("local", "tls://a:1", "local takes no scheduler")],
)
def test_executor_and_scheduler_that_do_not_fit_are_refused(name, scheduler, said):
    with pytest.raises(UsageError, match=said):
        Executor(name, scheduler=scheduler)


def test_installation_without_its_entry_points_is_named(monkeypatch):
    monkeypatch.setattr(placement, "entry_points", lambda **_: [])
    with pytest.raises(UsageError, match="no part for dask: install orthobench again"):
        Executor("dask", scheduler="tls://a:1").facts()
