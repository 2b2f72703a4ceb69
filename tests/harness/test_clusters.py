"""Clusters that cannot be reached, and loggers that are quiet meanwhile."""

import pytest

from orthobench.harness import clusters
from orthobench.harness.clusters import ClusterError, _security, connected

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


def test_nobody_talks_to_a_cluster_of_ours_without_encryption():
    security = _security("folder")
    assert security.require_encryption
    for part in ("scheduler", "worker", "client"):
        assert getattr(security, f"tls_{part}_key") == "folder/key.pem"
        assert getattr(security, f"tls_{part}_cert") == security.tls_ca_file


class Part:
    """A process or a scheduler that notes when it begins and ends."""

    def __init__(self, name, alive=True):
        self.name, self.alive, self.last_words = name, alive, f"{name} said"
        self.scheduler_address = "tls://127.0.0.1:1"

    def __enter__(self):
        NOTED.append(f"begin {self.name}")
        return self

    def __exit__(self, *_):
        NOTED.append(f"end {self.name}")


NOTED = []


@pytest.fixture
def workers(monkeypatch):
    """A function that starts workers, of which some are dead or cannot be started."""
    NOTED.clear()

    def start(count, dead=(), broken=None):
        numbers = iter(range(count))
        where = []

        def process(module, settings):
            where.append((module, settings))
            number = next(numbers)
            if number == broken:
                raise OSError("too many processes")
            return Part(f"worker {number}", number not in dead)

        monkeypatch.setattr(clusters, "make_key", lambda folder: where.append(folder))
        monkeypatch.setattr(clusters, "_scheduler", lambda folder: Part("scheduler"))
        monkeypatch.setattr(clusters, "Process", process)
        return clusters.Workers(count), where

    return start


def test_each_worker_is_told_where_scheduler_and_key_are_in_a_folder_that_goes(workers):
    found, (folder, *started) = workers(2)
    settings = {"address": "tls://127.0.0.1:1", "folder": str(folder)}
    assert started == 2 * [("orthobench.harness.clusters", settings)]
    assert folder.is_dir()
    found.__exit__()
    assert not folder.exists()


def test_what_was_started_ends_where_a_worker_cannot_be(workers):
    with pytest.raises(OSError, match="too many processes"):
        workers(3, broken=1)
    assert NOTED == ["begin scheduler", "begin worker 0", "end worker 0", "end scheduler"]


@pytest.mark.parametrize(
    ("dead", "alive", "said"),
    [
        ((), True, ""),
        ((1,), True, "worker 1 said"),
        ((0, 1), False, "worker 0 said; worker 1 said"),
    ],
)
def test_workers_are_alive_while_one_is_and_the_dead_have_last_words(workers, dead, alive, said):
    with workers(2, dead)[0] as found:
        assert (found.alive, found.last_words) == (alive, said)


def test_a_scheduler_of_ours_listens_on_this_machine_alone_and_serves_no_page(monkeypatch):
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
