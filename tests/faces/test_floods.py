"""Floods at the door: one address signs in, registers or sends half of a request, and the others notice nothing."""

import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from interlock.faces.http.limits import IN_LINE
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

pytestmark = pytest.mark.promise("P16")

SECONDS = 240.0
ROUNDS = 20
FEW = 5
"""Connections that an address may have here."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    settings = {"INTERLOCK_REQUEST_SECONDS": "2"}
    with ServerProcess(tmp_path_factory.mktemp("floods"), environment=settings) as process:
        register(process, "ann", "127.0.0.1").raise_for_status()
        yield process


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """It waits as long as any for a request that a busy machine sends in pieces."""
    with ServerProcess(tmp_path_factory.mktemp("patient")) as process:
        register(process, "ann", "127.0.0.1").raise_for_status()
        yield process


def post(server: ServerProcess, path: str, name: str, address: str) -> httpx.Response:
    """From that address: all of 127.0.0.0/8 is this machine."""
    with client(address) as http:
        return send(http, server, path, name)


def client(address: str) -> httpx.Client:
    return httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=SECONDS)


def send(http: httpx.Client, server: ServerProcess, path: str, name: str) -> httpx.Response:
    return http.post(f"{server.url}/api/auth/{path}", json={"username": name, "password": "right and long"})


def register(server: ServerProcess, name: str, address: str) -> httpx.Response:
    return post(server, "register", name, address)


@pytest.mark.parametrize("path", ["login", "register"])
def test_a_flood_from_one_address_is_told_so_and_others_sign_in_meanwhile(patient: ServerProcess, path: str) -> None:
    statuses: list[int] = []
    with ExitStack() as stack:
        flood = [stack.enter_context(client(f"127.0.1.{len(path)}")) for _ in range(3 * IN_LINE)]
        at_once = stack.enter_context(ThreadPoolExecutor(len(flood)))
        for number in range(ROUNDS):
            sent = [
                at_once.submit(send, http, patient, path, f"{path}-{number}-{one}") for one, http in enumerate(flood)
            ]
            for reply in as_completed(sent, timeout=SECONDS):
                statuses.append(reply.result().status_code)
                if statuses.count(429) == 1 and statuses[-1] == 429:
                    # The line is full; who comes from elsewhere does not stand in it.
                    assert post(patient, "login", "ann", "127.0.0.1").status_code == 200
            # On a busy machine they may come one after the other, and each find the line empty.
            if 429 in statuses:
                break
    assert set(statuses) == {401 if path == "login" else 200, 429}


def test_accounts_made_from_one_address_are_bounded(server: ServerProcess) -> None:
    # A name that is no name is refused before anything is hashed, and counts.
    replies = (register(server, "no name!", "127.0.2.1") for _ in range(1000))
    number, refused = next((number, reply) for number, reply in enumerate(replies) if reply.status_code != 400)
    assert number >= 100
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert register(server, "somebody", "127.0.2.2").status_code == 200


HEAD = b"POST /api/auth/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"


def connect(server: ServerProcess, source: str = "127.0.0.1") -> socket.socket:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=SECONDS, source_address=(source, 0))


def everything(connection: socket.socket) -> bytes:
    """What comes until the other end closes."""
    received = b""
    while some := connection.recv(4096):
        received += some
    return received


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /api/auth/login HT",
        HEAD,
        HEAD + b"content-length: 100\r\n\r\n",
        HEAD + b'content-length: 9\r\n\r\n{"a',
    ],
    ids=["nothing", "half a line", "half a head", "no body", "half a body"],
)
def test_a_half_sent_request_ends_in_time(server: ServerProcess, sent: bytes) -> None:
    with connect(server) as connection:
        connection.sendall(sent)
        assert everything(connection).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_trickle_in_give_no_more_time(server: ServerProcess) -> None:
    with connect(server) as connection:
        connection.sendall(HEAD)
        connection.settimeout(0.1)
        for number in range(int(SECONDS * 10)):
            try:
                connection.sendall(f"x-{number}: y\r\n".encode())
                if reply := connection.recv(4096):
                    break
            except TimeoutError:
                continue
        else:
            raise AssertionError("it may go on for ever")
    assert reply.startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_asks_again_is_not_cut_off(server: ServerProcess) -> None:
    with connect(server) as connection:
        for _ in range(3):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            received = b""
            while b"ok" not in received:
                received += connection.recv(4096)
            assert received.startswith(b"HTTP/1.1 200 ")


def test_a_socket_on_a_connection_that_served_a_request_before_is_not_cut_off(server: ServerProcess) -> None:
    token = post(server, "login", "ann", "127.0.0.1").json()["access_token"]
    upgrade = (
        "GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"authorization: Bearer {token}\r\n\r\n"
    )
    with connect(server) as idle, connect(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        while b"ok" not in connection.recv(4096):
            continue
        connection.sendall(upgrade.encode())
        received = b""
        while b"system.connected" not in received:
            some = connection.recv(4096)
            assert some, received
            received += some
        # One that sends nothing is cut off after the time in which the socket would have been.
        assert everything(idle).startswith(b"HTTP/1.1 408 ")
        idle.close()
        with connect(server) as another:
            assert everything(another).startswith(b"HTTP/1.1 408 ")
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.recv(4096)
    assert "NoneType" not in server.log.read_text()


def test_an_address_has_so_many_connections_and_a_trusted_proxy_any_number(tmp_path: Path) -> None:
    settings = {"INTERLOCK_CONNECTIONS_PER_ADDRESS": str(FEW), "INTERLOCK_TRUSTED_PROXIES": "127.0.0.3"}
    with ServerProcess(tmp_path, environment=settings) as server, ExitStack() as stack:
        full = [stack.enter_context(connect(server, "127.0.0.2")) for _ in range(FEW)]
        for _ in range(20):
            with connect(server, "127.0.0.2") as refused:
                assert everything(refused).startswith(b"HTTP/1.1 429 ")
        proxied = [stack.enter_context(connect(server, "127.0.0.3")) for _ in range(2 * FEW)]
        for connection in (*full, *proxied, stack.enter_context(connect(server, "127.0.0.4"))):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        # One that ends makes room for another.
        full[0].close()
        wait_for(lambda: is_taken(server), bool)
        lines = [line for line in server.log.read_text().splitlines() if "connections open" in line]
        assert len(lines) == 1


def is_taken(server: ServerProcess) -> bool:
    with connect(server, "127.0.0.2") as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        try:
            return everything(connection).startswith(b"HTTP/1.1 200 ")
        except ConnectionResetError:
            return False


def test_rubbish_does_not_fill_the_log(server: ServerProcess) -> None:
    for _ in range(20):
        with connect(server) as connection:
            connection.sendall(b"rubbish\r\n\r\n")
            assert everything(connection).startswith(b"HTTP/1.1 400 ")
    lines = [line for line in server.log.read_text().splitlines() if "Invalid HTTP request" in line]
    assert len(lines) == 1
