"""The server of a run's page: whom it answers, and what it never gives."""

import http.client
import socket

import pytest

from orthobench.errors import UsageError
from orthobench.report.live.server import ADDRESS, Served, serving

POLICY = "policy-of-the-page"


@pytest.fixture
def port():
    served = Served()
    served.show("/", "<p>é", POLICY)
    served.tell("/status", {"finished": 3})
    with serving(served, 0) as address:
        assert address.startswith(f"http://{ADDRESS}:")
        yield int(address.rstrip("/").rpartition(":")[2])


def ask(port, path="/", method="GET", **headers):
    client = http.client.HTTPConnection(ADDRESS, port, timeout=120)
    client.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": f"{ADDRESS}:{port}"} | headers).items():
        for one in [value] if isinstance(value, str) else value:
            client.putheader(name, one)
    client.endheaders()
    reply = client.getresponse()
    body = reply.read()
    client.close()
    return reply, body


def test_what_is_served_is_answered_with_its_policy_and_kept_by_nobody(port):
    reply, body = ask(port)
    assert (reply.status, body.decode()) == (200, "<p>é")
    assert reply.headers["Content-Security-Policy"] == POLICY
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in reply.headers
    assert "Python" not in reply.headers["Server"]
    reply, body = ask(port, "/status", Host=f"localhost:{port}")
    assert (reply.status, body, reply.headers["Content-Type"]) == (
        200, b'{"finished": 3}', "application/json",
    )  # fmt: skip


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil:PORT",
             "[::1]:PORT", "", ["127.0.0.1:PORT", "evil.example"], []],
)  # fmt: skip
def test_another_name_is_refused_as_that_of_a_website_that_points_here(port, host):
    hosts = [host] if isinstance(host, str) else host
    reply, body = ask(port, "/status", Host=[one.replace("PORT", str(port)) for one in hosts])
    assert reply.status == 403
    assert b"finished" not in body


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/../etc/passwd", "//etc/passwd", "/%2e%2e/etc/passwd", "/status?x",
             "*", "/page", "/results.sqlite", "http://evil.example/status", "/status/"],
)  # fmt: skip
def test_no_other_path_leads_anywhere(port, path):
    assert ask(port, path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "HEAD", "X"])
def test_only_get_is_answered(port, method):
    reply, body = ask(port, "/status", method)
    assert reply.status == 501
    assert b"finished" not in body


def test_it_listens_on_the_loopback_address_alone(port):
    names = socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET, socket.SOCK_STREAM)
    others = {where[0] for *_, where in names} - {ADDRESS}
    for address in [*others, "127.0.0.2"]:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, port), timeout=2).close()


def test_a_port_in_use_is_said(port):
    with pytest.raises(UsageError, match=f"port {port}: another program listens") as refusal:
        serving(Served(), port).__enter__()
    assert "--port" in str(refusal.value)


def test_nothing_listens_afterwards():
    with serving(Served(), 0) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((ADDRESS, port), timeout=120)
