"""Who gets the page: whoever asks this machine by its name, knows the key, and only reads."""

import http.client
import threading

import pytest

from fedmf.errors import ParameterError
from fedmf.monitor.scene import Watcher
from fedmf.monitor.web import HEADERS, Web
from monitor.fake import RUN, busy


@pytest.fixture(scope="module")
def web():
    with Web(Watcher(busy()), 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def asked(web, path=None, method="GET", host=None):
    """Return the status, the headers and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", web.server_port, timeout=10)
    connection.putrequest(method, f"/{web.key}/" if path is None else path, skip_host=True)
    for name in [f"127.0.0.1:{web.server_port}"] if host is None else host:
        connection.putheader("Host", name)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


def test_it_listens_on_this_machine_alone(web):
    assert web.server_address[0] == "127.0.0.1"


def test_the_page_and_its_files(web):
    status, headers, text = asked(web)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "5 of 20" in text
    assert asked(web, f"/{web.key}/page.css")[0] == 200
    assert asked(web, f"/{web.key}/page.js")[1]["Content-Type"].startswith("text/javascript")
    assert "there is no run &#x27;x&#x27;" in asked(web, f"/{web.key}/?run=x")[2]
    assert RUN in asked(web, f"/{web.key}/?run={RUN}")[2]
    assert asked(web, method="HEAD")[::2] == (200, "")


@pytest.mark.parametrize("host", ["localhost", "localhost:9000", "127.0.0.1:1", "[::1]:8470"])
def test_names_of_this_machine(web, host):
    assert asked(web, host=[host])[0] == 200


@pytest.mark.parametrize(
    "host",
    [[], ["evil.example"], ["evil.example:8470"], ["localhost.evil.example"], ["127.0.0.1.nip:1"],
     ["localhost", "evil.example"], ["evil@localhost"], [""], ["localhost:8470:1"]],
)  # fmt: skip
def test_other_names_are_refused(web, host):
    status, _, text = asked(web, host=host)
    assert status in (400, 403)
    assert "5 of 20" not in text


@pytest.mark.parametrize("path", ["/", "/x/", "/?run=a", "/{}x/", "/{}", "/{}/../web.py",
                                  "/{}/web.py", "/{}/page.css/"])  # fmt: skip
def test_without_the_key_there_is_nothing(web, path):
    status, _, text = asked(web, path.format(web.key))
    assert status == 404
    assert web.key not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(web, method):
    status, headers, _ = asked(web, method=method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_every_answer_tells_the_browser_what_to_refuse(web):
    for path in (None, "/", f"/{web.key}/page.js"):
        headers = asked(web, path)[1]
        assert headers.items() >= HEADERS.items()
    assert "default-src 'none'" in HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers


def test_each_start_has_a_key_of_its_own_and_a_port_that_is_taken_is_named(web):
    with Web(Watcher(busy()), 0) as other:
        assert other.key != web.key
        assert len(other.key) >= 20
    with pytest.raises(ParameterError, match=f"port {web.server_port}: Address already in use"):
        Web(Watcher(busy()), web.server_port)
