"""The data cache: right checksums only, and a remedy if a file is wrong or missing."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from orthobench.errors import DataError
from orthobench.tools.datasets import DataFile, checksum, fetch, offline

CONTENT = b"orthonormal columns\n" * 1000
RIGHT = hashlib.sha256(CONTENT).hexdigest()
OFFLINE = "http://localhost:9/"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def server(tmp_path):
    (tmp_path / "www").mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = partial(Quiet, directory=str(tmp_path / "www"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
        thread.start()
        yield tmp_path / "www", f"http://127.0.0.1:{httpd.server_address[1]}/"
        httpd.shutdown()
        thread.join()


def data_file(*urls, sha256=RIGHT, **more):
    return DataFile("a.bin", sha256, tuple(url + "a.bin" for url in urls), "the Institute", **more)


def test_checksum_is_sha256_and_follows_changes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    assert checksum(path) == RIGHT
    path.write_bytes(b"other")
    assert checksum(path) == hashlib.sha256(b"other").hexdigest()


def test_a_file_in_the_folder_needs_no_network_and_no_right_to_write(folder):
    (folder / "a.bin").write_bytes(CONTENT)
    folder.chmod(0o500)
    try:
        assert fetch(data_file(OFFLINE)).read_bytes() == CONTENT
    finally:
        folder.chmod(0o700)
    assert list(folder.iterdir()) == [folder / "a.bin"]


def test_another_packing_of_the_same_bytes_is_right_too(folder):
    (folder / "a.bin").write_bytes(CONTENT)
    assert fetch(data_file(sha256="0" * 64, repackaged=(RIGHT,))) == folder / "a.bin"


def test_a_wrong_file_is_refused_with_both_checksums(folder):
    (folder / "a.bin").write_bytes(b"tampered")
    found = hashlib.sha256(b"tampered").hexdigest()
    with pytest.raises(DataError, match=rf"a\.bin.*{found}.*{RIGHT}.*delete it"):
        fetch(data_file(OFFLINE))
    assert (folder / "a.bin").read_bytes() == b"tampered"


def test_a_folder_in_place_of_a_file_is_refused(folder):
    (folder / "a.bin").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        fetch(data_file())


@pytest.mark.parametrize("urls", [(), (OFFLINE,), (OFFLINE, OFFLINE + "mirror/")])
def test_without_a_network_the_error_says_what_to_do(folder, urls):
    with pytest.raises(DataError) as raised:
        fetch(data_file(*urls))
    message = str(raised.value)
    for part in ("a.bin", str(folder), "the Institute", RIGHT, "ORTHOBENCH_DATA", *urls):
        assert part in message
    for url in urls:
        assert f"{url}a.bin: ConnectionError" in message
    assert list(folder.iterdir()) == []


def test_a_download_is_checked_and_kept(folder, server):
    www, url = server
    (www / "a.bin").write_bytes(CONTENT)
    assert fetch(data_file(url)).read_bytes() == CONTENT
    (www / "a.bin").unlink()
    assert fetch(data_file(url)) == folder / "a.bin"
    assert list(folder.iterdir()) == [folder / "a.bin"]


def test_a_mirror_serves_where_the_first_address_does_not(folder, server):
    www, url = server
    (www / "a.bin").write_bytes(CONTENT)
    assert fetch(data_file(url + "gone/", url)).read_bytes() == CONTENT


def test_a_wrong_download_leaves_nothing(folder, server):
    www, url = server
    (www / "a.bin").write_bytes(b"an error page")
    with pytest.raises(DataError, match="could not be downloaded"):
        fetch(data_file(url))
    assert list(folder.iterdir()) == []


def test_offline_downloads_nothing_and_serves_what_is_there(folder, server):
    www, url = server
    (www / "a.bin").write_bytes(CONTENT)
    with offline(), pytest.raises(DataError, match="nothing is downloaded here"):
        fetch(data_file(url))
    assert fetch(data_file(url)).read_bytes() == CONTENT
    with offline():
        assert fetch(data_file(url)).read_bytes() == CONTENT
