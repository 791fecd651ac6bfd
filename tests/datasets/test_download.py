"""The download route, against a server on loopback that can break off, lie and change its mind."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fedmf import datasets
from fedmf.datasets import _download
from fedmf.datasets._card import Card, Remote
from fedmf.datasets._download import fetch
from fedmf.errors import FileFormatError, MissingDataError, ParameterError

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append((self.path, self.headers.get("Range")))
        if self.path == "/gone":
            return self.send_error(404)
        start = self._start()
        if start >= len(server.body):
            return self.send_error(416)
        rest = server.body[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        if server.tag:
            self.send_header("ETag", server.tag)
        if start:
            self.send_header(
                "Content-Range", f"bytes {start}-{len(server.body) - 1}/{len(server.body)}"
            )
        self.end_headers()
        self.wfile.write(rest[: server.cuts.pop(0) if server.cuts else None])
        return None

    def _start(self):
        asked = self.headers.get("Range")
        fresh = self.headers.get("If-Range") == self.server.tag
        return int(asked[6:-1]) if asked and fresh and self.server.ranges else 0

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        found.body, found.tag, found.ranges, found.cuts, found.asked = BODY, '"v1"', True, [], []
        found.url = f"http://127.0.0.1:{found.server_address[1]}"
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def _remote(server, sha256=SHA, path="/file.bin"):
    return Remote("file.bin", (f"{server.url}{path}",), sha256)


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_comes_whole_and_is_kept(server, tmp_path):
    told = []
    folder = tmp_path / "new"
    path = fetch(_remote(server), folder, lambda *progress: told.append(progress))
    assert path.read_bytes() == BODY
    assert told[-1] == ("file.bin", len(BODY), len(BODY))
    assert _names(folder) == ["file.bin", "file.bin.sha256"]
    assert (folder / "file.bin.sha256").read_text() == f"{SHA}  file.bin\n"
    assert fetch(_remote(server), folder) == path
    assert len(server.asked) == 1


def test_a_transfer_cut_short_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [1000, 2000]
    assert fetch(_remote(server), tmp_path).read_bytes() == BODY
    assert [asked for _, asked in server.asked] == [None, "bytes=1000-", "bytes=3000-"]


def test_a_later_run_goes_on_where_an_earlier_one_gave_up(server, tmp_path):
    server.cuts = [100] * 3
    with pytest.raises(MissingDataError, match=r"it broke off after 300 of 256000 bytes"):
        fetch(_remote(server), tmp_path)
    assert not (tmp_path / "file.bin").exists()
    assert (tmp_path / "file.bin.part").stat().st_size == 300
    assert fetch(_remote(server), tmp_path).read_bytes() == BODY
    assert server.asked[-1][1] == "bytes=300-"
    assert _names(tmp_path) == ["file.bin", "file.bin.sha256"]


def test_a_server_without_ranges_starts_anew(server, tmp_path):
    server.ranges, server.cuts = False, [5000]
    assert fetch(_remote(server), tmp_path).read_bytes() == BODY


def test_a_file_that_changed_meanwhile_is_not_mixed(server, tmp_path):
    server.cuts = [100] * 3
    with pytest.raises(MissingDataError):
        fetch(_remote(server, None), tmp_path)
    server.body, server.tag = BODY[::-1], '"v2"'
    assert fetch(_remote(server, None), tmp_path).read_bytes() == BODY[::-1]


def test_what_is_left_of_another_version_is_gone_before_the_new_tag(server, tmp_path, monkeypatch):
    """A process that ends in between must not leave one version's bytes under the other's tag."""
    (tmp_path / "file.bin.part").write_bytes(b"old" * 1000)
    (tmp_path / "file.bin.tag").write_text('"v0"')
    monkeypatch.setattr(_download, "_append", _killed)
    with pytest.raises(KeyboardInterrupt):
        fetch(_remote(server, sha256=None), tmp_path)
    monkeypatch.undo()
    monkeypatch.setenv("no_proxy", "*")
    assert fetch(_remote(server, sha256=None), tmp_path).read_bytes() == BODY


def _killed(*_transfer):
    raise KeyboardInterrupt


def test_without_a_tag_nothing_is_resumed(server, tmp_path):
    server.tag, server.cuts = "", [100]
    assert fetch(_remote(server), tmp_path).read_bytes() == BODY
    assert [asked for _, asked in server.asked] == [None, None]


def test_a_part_that_is_too_long_is_thrown_away(server, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(BODY + b"more")
    (tmp_path / "file.bin.tag").write_text('"v1"')
    assert fetch(_remote(server), tmp_path).read_bytes() == BODY


def test_a_wrong_checksum_leaves_nothing(server, tmp_path):
    with pytest.raises(MissingDataError, match=rf"checksum {SHA}, wanted {'0' * 64}") as error:
        fetch(_remote(server, "0" * 64), tmp_path)
    assert "\n" not in str(error.value)
    assert _names(tmp_path) == []


def test_the_next_address_is_tried(server, tmp_path):
    remote = Remote("file.bin", (f"{server.url}/gone", f"{server.url}/file.bin"), SHA)
    assert fetch(remote, tmp_path).read_bytes() == BODY
    assert [path for path, _ in server.asked] == ["/gone", "/file.bin"]


def test_an_unknown_checksum_is_trusted_once(server, tmp_path):
    path = fetch(_remote(server, None), tmp_path)
    path.unlink()
    server.body, server.tag = b"something else", '"v2"'
    with pytest.raises(MissingDataError, match=f"wanted {SHA}"):
        fetch(_remote(server, None), tmp_path)
    server.body = BODY
    assert fetch(_remote(server, None), tmp_path).read_bytes() == BODY


def test_a_fetched_file_that_changed_is_refused(server, tmp_path):
    path = fetch(_remote(server), tmp_path)
    path.write_bytes(b"changed")
    with pytest.raises(FileFormatError, match="its checksum is no longer that of"):
        fetch(_remote(server), tmp_path)


def test_a_file_of_the_users_own_is_left_alone(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"mine")
    assert fetch(_remote(server), tmp_path).read_bytes() == b"mine"
    assert server.asked == []


def test_no_server_and_no_web_address(tmp_path):
    with pytest.raises(MissingDataError, match="neither http nor https"):
        fetch(Remote("x", ("file:///etc/hostname",)), tmp_path)
    with pytest.raises(MissingDataError, match="could not be fetched: http://127"):
        fetch(Remote("x", ("http://127.0.0.1:1/x",)), tmp_path)


def test_download_by_name(server, tmp_path, monkeypatch):
    card = Card("mnist", "", 1, 1, 1, "", "", remotes=(_remote(server),))
    monkeypatch.setattr("fedmf.datasets.mnist.CARD", card)
    assert datasets.download("mnist", data_dir=tmp_path) == [tmp_path / "file.bin"]
    monkeypatch.delenv("FEDMF_DATA", raising=False)
    with pytest.raises(MissingDataError, match="no data folder"):
        datasets.download("mnist")
    with pytest.raises(MissingDataError, match="synthetic cannot be downloaded: it has no files"):
        datasets.download("synthetic")
    with pytest.raises(ParameterError, match="got 'nmist'; did you mean 'mnist'"):
        datasets.download("nmist")
