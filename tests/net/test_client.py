import httpx2
import pytest

from memruler.net.client import Client
from memruler.net.errors import HttpError

SECRET = "tok-0123456789-secret"  # noqa: S105 - invented, and must not be seen


@pytest.fixture
def waits():
    return []


@pytest.fixture
def client(waits):
    with Client(on_wait=lambda _, seconds: waits.append(seconds)) as made:
        yield made


def mocked(handler, **options):
    return Client(transport=httpx2.MockTransport(handler), **options)


def test_500_then_200(server, client, waits, answer):
    server.script(answer(status=500), answer(body=b'{"a": [1]}'))
    reply = client.request("GET", f"{server.url}/x")
    assert reply.json() == {"a": [1]}
    assert (reply.status, len(server.asked), waits) == (200, 2, [0.5])


def test_5xx_to_the_end(server, client, waits, answer):
    server.script(answer(status=503, body=b"under repair"))
    with pytest.raises(HttpError, match=r"503 .*: under repair") as caught:
        client.request("GET", f"{server.url}/x")
    assert caught.value.status == 503
    assert caught.value.exit_code == 3
    assert len(server.asked) == 5
    assert waits == [0.5, 1.0, 2.0, 4.0]


def test_429_waits_as_told_and_spends_no_retry(server, client, waits, answer):
    server.script(
        answer(status=429, headers={"Retry-After": "3"}),
        answer(status=500),
        answer(status=429),
        answer(status=500),
        answer(status=429, headers={"Retry-After": "9999"}),
        answer(status=500),
        answer(status=429, headers={"Retry-After": "0"}),
        answer(status=500),
        answer(body=b"done"),
    )
    assert client.request("GET", f"{server.url}/x").body == b"done"
    assert waits == [3.0, 0.5, 1.0, 1.0, 60.0, 2.0, 0.2, 4.0]


def test_404_is_told_at_once_with_the_start_of_its_body(server, client, waits, answer):
    server.script(answer(status=404, body=b"no \x1b[31msuch\xff " + b"thing " * 2000))
    with pytest.raises(HttpError) as caught:
        client.request("GET", f"{server.url}/x?sig=abc")
    text = str(caught.value)
    assert "404" in text
    assert "no \\x1b[31msuch" in text
    assert "\x1b" not in text
    assert len(text) < 900
    assert "sig=abc" not in text
    assert (len(server.asked), waits) == (1, [])


def test_a_dropped_connection_is_tried_again(server, client, waits, answer):
    server.script(None, answer(body=b"here"))
    assert client.request("GET", f"{server.url}/x").body == b"here"
    assert waits == [0.5]


def test_nobody_listens(server, client, waits):
    url = server.url
    server.server_close()
    server.shutdown()
    with pytest.raises(HttpError, match="cannot connect") as caught:
        client.request("GET", f"{url}/x")
    assert caught.value.status is None
    assert waits == [0.5, 1.0, 2.0, 4.0]


def test_a_server_that_hangs(server, answer):
    server.script(answer(body=b"begin", length=100, hang=True))
    with (
        Client(timeout=httpx2.Timeout(0.1), retries=1) as client,
        pytest.raises(HttpError, match=r"no answer in time \(ReadTimeout\)"),
    ):
        client.request("GET", f"{server.url}/x")
    assert len(server.asked) == 2


def test_post_sends_json_and_headers(server, client, answer):
    server.script(answer(body=b"{}"))
    client.request("POST", f"{server.url}/x", json={"q": "é"}, headers={"X-Api-Key": SECRET})
    asked = server.asked[0]
    assert asked.body == '{"q":"é"}'.encode()
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["X-Api-Key"] == SECRET
    assert asked.headers["User-Agent"].startswith("memruler/")


def test_what_is_not_json_says_so(server, client, answer):
    server.script(answer(body=b"<html>"))
    with pytest.raises(HttpError, match="not JSON"):
        client.request("GET", f"{server.url}/x").json()


def test_an_endless_answer_is_refused(server, client, answer):
    server.script(answer(body=b"x" * 5000))
    with pytest.raises(HttpError, match="longer than 1000 bytes"):
        client.request("GET", f"{server.url}/x", largest=1000)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server, client, answer, status):
    server.script(answer(status=status, headers={"Location": "/there"}), answer(body=b"here"))
    assert client.request("GET", f"{server.url}/x").body == b"here"
    assert [asked.path for asked in server.asked] == ["/x", "/there"]


def test_a_redirect_loop_ends(server, client, answer):
    server.script(answer(status=302, headers={"Location": "/x"}))
    with pytest.raises(HttpError, match="more than 5 redirects"):
        client.request("GET", f"{server.url}/x")
    assert len(server.asked) == 6


@pytest.mark.parametrize("headers", [{}, {"Location": "http://h:port/"}])
def test_a_redirect_to_nowhere(server, client, answer, headers):
    server.script(answer(status=302, headers=headers))
    with pytest.raises(HttpError, match=r"302|no usable URL"):
        client.request("GET", f"{server.url}/x")
    assert len(server.asked) == 1


@pytest.mark.parametrize("to", ["http://a.example/y", "http://b.example/y", "ftp://a.example/y"])
def test_never_from_https_to_something_else(to):
    seen = []

    def handler(request):
        seen.append(request.url.scheme)
        return httpx2.Response(302, headers={"Location": to})

    with (
        mocked(handler) as client,
        pytest.raises(HttpError, match="refusing a redirect from https to"),
    ):
        client.request("GET", "https://a.example/x")
    assert seen == ["https"]


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://a.example/y"])
def test_never_to_another_kind_of_address(to):
    with (
        mocked(lambda _: httpx2.Response(302, headers={"Location": to})) as client,
        pytest.raises(HttpError),
    ):
        client.request("GET", "http://a.example/x")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a/b", "/only/a/path", "http://"])
def test_only_http(url):
    with mocked(lambda _: httpx2.Response(200)) as client, pytest.raises(HttpError):
        client.request("GET", url)


@pytest.mark.parametrize(
    ("to", "kept"),
    [
        ("https://a.example/y", True),
        ("https://b.example/y", False),
        ("https://a.example:8443/y", False),
        ("//b.example/y", False),
    ],
)
@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "Cookie"])
def test_secrets_stay_with_their_origin(to, kept, name):
    seen = []

    def handler(request):
        seen.append(request.headers.get(name))
        if len(seen) == 1:
            return httpx2.Response(307, headers={"Location": to})
        return httpx2.Response(200)

    with mocked(handler, headers={name: SECRET}) as client:
        client.request("GET", "https://a.example/x")
    kept = kept and name != "Cookie"  # cookies belong to the store, which holds none
    assert seen == [SECRET, SECRET if kept else None]


def test_no_secret_in_an_error(server, answer):
    server.answer = lambda asked: answer(status=401, body=repr(asked.headers).encode())
    url = server.url.replace("http://", "http://joe:pass-word-1@") + "/x?key=query-secret"
    with (
        Client(headers={"X-Api-Key": SECRET}) as client,
        pytest.raises(HttpError) as caught,
    ):
        client.request("GET", url, headers={"Authorization": f"Bearer {SECRET}2"})
    text = str(caught.value) + repr(caught.value)
    assert "***" in text
    for secret in (SECRET, "pass-word-1", "query-secret"):
        assert secret not in text


def test_a_header_that_is_none_is_not_quoted_and_not_retried(server, client, waits):
    with pytest.raises(HttpError) as caught:
        client.request("GET", f"{server.url}/x", headers={"Authorization": f"{SECRET}\n"})
    assert SECRET not in str(caught.value)
    assert waits == []
    assert server.asked == []
