"""The poster, held against `ports.webhooks.Poster`: where it posts to, and where it never does."""

import asyncio
import ipaddress
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from interlock.domain.errors import InvalidInput, Undeliverable
from interlock.outbound import HttpPoster, is_public
from tests.support.certificate import context_for
from tests.support.receiver import Receiver


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with Receiver() as listening:
        yield listening


@asynccontextmanager
async def posting(*hosts: str, private: bool = False, **names: list[str]) -> AsyncGenerator[HttpPoster]:
    """A poster for which names, written with _ for a dot, stand for these addresses; any other for itself."""
    known = {name.replace("_", "."): addresses for name, addresses in names.items()}
    poster = HttpPoster(hosts, allow_private=private, resolve=lambda host, _port: known.get(host) or [host])
    try:
        yield poster
    finally:
        await poster.close()


async def refusal(poster: HttpPoster, url: str) -> str:
    """The code with which it refuses the URL, when it is made and when it is sent to."""
    with pytest.raises(InvalidInput) as made:
        await poster.check(url)
    with pytest.raises(Undeliverable) as sent:
        await poster.post(url, b"{}", {})
    assert sent.value.message == made.value.message
    return made.value.errors[0].code


async def test_a_post_arrives_with_its_body_and_headers(receiver: Receiver) -> None:
    async with posting("127.0.0.1", private=True) as poster:
        await poster.check(f"{receiver.url}/hook?x=1")
        assert await poster.post(f"{receiver.url}/hook?x=1", b'{"a":1}', {"Interlock-Event": "request.asked"}) == 200
    (received,) = receiver.received
    assert (received.path, received.body, received.event) == ("/hook?x=1", b'{"a":1}', "request.asked")
    assert received.headers["host"] == f"127.0.0.1:{receiver.port}"


async def test_a_redirect_is_told_and_not_followed() -> None:
    with Receiver([307]) as receiver:
        async with posting("127.0.0.1", private=True) as poster:
            assert await poster.post(f"{receiver.url}/hook", b"{}", {}) == 307
        assert [one.path for one in receiver.received] == ["/hook"]


async def test_the_connection_goes_to_the_address_that_was_checked_under_the_name_that_was_meant(
    receiver: Receiver,
) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    poster = HttpPoster(["hooks.example"], allow_private=True, resolve=lambda _host, _port: next(answers))
    assert await poster.post(f"http://hooks.example:{receiver.port}/", b"{}", {}) == 200
    await poster.close()
    assert receiver.received[0].headers["host"] == f"hooks.example:{receiver.port}"
    assert next(answers) == ["127.0.0.2"]


async def test_the_next_address_of_a_name_is_tried_when_one_takes_no_connection(receiver: Receiver) -> None:
    async with posting("two.example", private=True, two_example=["127.0.0.77", "127.0.0.1"]) as poster:
        assert await poster.post(f"http://two.example:{receiver.port}/", b"{}", {}) == 200
    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/",
        "http://example.com/",
        "http://evilexample.com/",
        "http://hooks.example.com.evil.example/",
        "http://hooks.example/",
    ],
)
async def test_a_host_that_is_not_named_is_refused(url: str) -> None:
    async with posting("one.example", "*.example.com") as poster:
        assert await refusal(poster, url) == "host"


@pytest.mark.parametrize(
    "url", ["http://one.example/", "https://ONE.example:8443/x", "http://a.example.com/", "http://a.b.example.com./"]
)
async def test_a_host_that_is_named_is_taken_however_it_is_spelled(url: str) -> None:
    public = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
    poster = HttpPoster(["one.example", "*.EXAMPLE.com"], resolve=lambda _host, _port: public)
    await poster.check(url)
    await poster.close()
    assert all(is_public(ipaddress.ip_address(address)) for address in public)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://one.example/", "form"),
        ("file:///etc/passwd", "form"),
        ("one.example", "form"),
        ("http://", "form"),
        ("http://one.example:port/", "form"),
        ("http://one.example/\n", "form"),
        ("http://user:password@one.example/", "credentials"),
        ("http://one.example/" + "x" * 2000, "length"),
    ],
)
async def test_a_url_that_is_none_is_refused_with_the_reason(url: str, code: str) -> None:
    async with posting("one.example", private=True) as poster:
        assert await refusal(poster, url) == code


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
async def test_no_private_address_is_posted_to_under_any_name_or_spelling(address: str) -> None:
    async with posting("inside.example", inside_example=["93.184.215.14", address]) as poster:
        assert await refusal(poster, "http://inside.example/") == "address"


async def test_an_address_in_the_url_is_held_to_the_same(receiver: Receiver) -> None:
    async with posting("127.0.0.1", "::1", "localhost", localhost=["127.0.0.1", "::1"]) as poster:
        for host in ("127.0.0.1", "[::1]", "localhost"):
            assert await refusal(poster, f"http://{host}:{receiver.port}/") == "address"
    assert receiver.received == []


async def test_a_name_without_an_address_is_refused() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    poster = HttpPoster(["gone.example"], resolve=unknown)
    assert await refusal(poster, "http://gone.example/") == "unknown_host"
    await poster.close()


async def test_a_receiver_that_is_not_there_is_undeliverable(receiver: Receiver) -> None:
    receiver.stop()
    async with posting("127.0.0.1", private=True) as poster:
        await poster.check(receiver.url)
        with pytest.raises(Undeliverable):
            await poster.post(receiver.url, b"{}", {})


async def test_proxies_of_the_environment_are_not_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with posting("127.0.0.1", private=True) as poster:
        assert await poster.post(receiver.url, b"{}", {}) == 200


@asynccontextmanager
async def tls_server(folder: Path, name: str) -> AsyncGenerator[int]:
    """A server whose certificate is for that name; the certificate is in `folder`."""
    context = context_for(name, folder)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


async def test_the_certificate_is_checked_against_the_name_and_not_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    names = {"right_example": ["127.0.0.1"], "wrong_example": ["127.0.0.1"]}
    async with (
        tls_server(tmp_path, "right.example") as port,
        posting("right.example", "wrong.example", private=True, **names) as poster,
    ):
        assert await poster.post(f"https://right.example:{port}/", b"{}", {}) == 204
        with pytest.raises(Undeliverable):
            await poster.post(f"https://wrong.example:{port}/", b"{}", {})
