"""Only this machine, only with the token, only for reading; and headers on every answer."""

import asyncio

import pytest

from memruler.report.web.guard import POLICY, Guard

PORT = 8123
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


async def inner(scope, receive, send):
    del receive
    # What it says against the guard's own headers does not count.
    headers = [(b"cache-control", b"public"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


class Browser:
    """Asks one guard; keeps the cookie that it gives, as a browser would."""

    def __init__(self, port=PORT):
        self.guard = Guard(inner, port, "s3cret")
        self.cookie = None

    def ask(self, path="/", query="", *, method="GET", hosts=(f"127.0.0.1:{PORT}",), cookie=None):
        headers = [(b"host", host.encode()) for host in hosts]
        crumb = cookie if cookie is not None else self.cookie
        if crumb is not None:
            headers.append((b"cookie", crumb.encode("latin-1")))
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": headers,
        }
        sent = []

        async def send(message):
            sent.append(message)

        asyncio.run(self.guard(scope, None, send))
        status, found = sent[0]["status"], sent[0]["headers"]
        names = [name.decode() for name, _ in found]
        assert len(names) == len(set(names)), "a header stands twice"
        kept = {name.decode(): value.decode() for name, value in found}
        assert {name: kept.get(name) for name in HEADERS} == HEADERS
        if "set-cookie" in kept:
            self.cookie = kept["set-cookie"].partition(";")[0]
        return status, kept, sent[1]["body"]


@pytest.fixture
def browser():
    return Browser()


def test_the_token_is_asked_for_once_and_leaves_the_address(browser):
    assert browser.ask("/run/x")[0] == 403
    status, headers, body = browser.ask("/run/x", "a=1&token=s3cret&b=%26")
    assert (status, headers["location"], body) == (303, "/run/x?a=1&b=%26", b"")
    parts = [part.strip() for part in headers["set-cookie"].split(";")]
    assert parts[0].startswith(f"memruler_{PORT}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(parts[1:])
    assert "s3cret" not in headers["set-cookie"]
    assert browser.ask("/run/x")[::2] == (200, b"/run/x")


@pytest.mark.parametrize("query", ["", "token=", "token=s3cre", "token=s3cret2", "Token=s3cret"])
def test_another_token_is_none(browser, query):
    status, headers, body = browser.ask("/", query)
    assert status == 403
    assert "set-cookie" not in headers
    assert b"memruler view" in body
    assert b"s3cret" not in body


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "memruler_8123=",
        "memruler_8123=s3cret",
        "memruler_9=x",
        "=;;\x00\xff",
        "memruler_8123=\xe9",
    ],
)
def test_another_cookie_is_none(browser, cookie):
    browser.ask("/", "token=s3cret")
    assert browser.ask("/", cookie=cookie)[0] == 403


def test_a_cookie_is_of_one_start(browser):
    browser.ask("/", "token=s3cret")
    assert Browser().ask("/", cookie=browser.cookie)[0] == 403


def test_a_cookie_beside_those_of_other_servers(browser):
    browser.ask("/", "token=s3cret")
    assert browser.ask("/", cookie=f"other=1; {browser.cookie}; more=x")[0] == 200


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        ("evil.example",),
        (f"evil.example:{PORT}",),
        ("127.0.0.1",),
        (f"127.0.0.1:{PORT + 1}",),
        (f"127.0.0.1.evil.example:{PORT}",),
        (f"127.0.0.1:{PORT}", "evil.example"),
        (f"127.0.0.1:{PORT}@evil.example",),
        ("",),
    ],
)
def test_a_host_of_another_name_is_refused_before_anything_else(browser, hosts):
    browser.ask("/", "token=s3cret")
    status, headers, _ = browser.ask("/", "token=s3cret", hosts=hosts)
    assert status == 400
    assert "set-cookie" not in headers


def test_names_of_this_machine(browser):
    browser.ask("/", "token=s3cret")
    for host in (f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"127.0.0.1:{PORT}"):
        assert browser.ask(hosts=(host,))[0] == 200


def test_a_browser_leaves_port_80_out():
    browser = Browser(80)
    browser.ask("/", "token=s3cret", hosts=("127.0.0.1",))
    assert browser.ask(hosts=("localhost",))[0] == 200
    assert browser.ask(hosts=("evil.example",))[0] == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"])
def test_only_reading(browser, method):
    browser.ask("/", "token=s3cret")
    status, headers, _ = browser.ask("/", "token=s3cret", method=method)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert browser.ask("/", method="HEAD")[0] == 200


def test_a_path_cannot_lead_to_another_host(browser):
    for path in ("//evil.example/", "///evil.example"):
        where = browser.ask(path, "token=s3cret")[1]["location"]
        assert where.startswith("/evil.example")
    where = browser.ask("/a\r\nset-cookie: x", "token=s3cret")[1]["location"]
    assert where == "/a%0D%0Aset-cookie%3A%20x"


def test_far_too_many_parts_are_no_fault(browser):
    assert browser.ask("/", "&".join(["a=1"] * 200) + "&token=s3cret")[0] == 403


def test_other_protocols_get_nothing(browser):
    async def send(message):
        raise AssertionError(message)

    for kind in ("websocket", "lifespan"):
        asyncio.run(browser.guard({"type": kind}, None, send))


def test_a_token_that_nobody_chose_is_random():
    tokens = {Guard(inner, PORT).token for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 43
