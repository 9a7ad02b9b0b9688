"""One request over HTTP/1.1, and what came back.

In place of `http.client`, which takes longer to load than all the rest of the hook: it reads headers as mail, and loads
what TLS needs where there is none.
"""

import os
import socket
from collections.abc import Mapping
from typing import IO, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

LONGEST_LINE = 65_536
MOST_HEADERS = 100


class HttpReply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    content: bytes


def exchange(
    url: SplitResult, method: str, path: str, headers: Mapping[str, str], content: bytes | None, seconds: float
) -> HttpReply:
    """`OSError` where nothing came back that could be read; `seconds` are those between two signs of life."""
    host = url.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    place = (f"[{host}]" if ":" in host else host) + (f":{url.port}" if url.port else "")
    proxy = proxy_of(url.scheme, host)
    # Where there is no tunnel to the server, a proxy is told the whole address.
    target = path if proxy is None or url.scheme == "https" else f"http://{place}{path}"
    lines = [f"{method} {target} HTTP/1.1", f"host: {place}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if proxy is not None and url.scheme != "https":
        lines += [f"{name}: {value}" for name, value in proxy_credentials(proxy).items()]
    if content is not None:
        lines.append(f"content-length: {len(content)}")
    if " " in path or any(not line.isprintable() for line in lines):
        raise ValueError("what is sent has a character that no header can have")
    with _connect(url.scheme, host, url.port, seconds, proxy) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (content or b""))
        with connection.makefile("rb") as response:
            status, reply_headers = _head(response)
            while 100 <= status < 200:
                status, reply_headers = _head(response)
            return HttpReply(status, reply_headers, _content(response, reply_headers))


def _connect(scheme: str, host: str, port: int | None, seconds: float, proxy: SplitResult | None) -> socket.socket:
    port = port or (443 if scheme == "https" else 80)
    near = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or 80)
    connection = socket.create_connection(near, seconds)
    if scheme != "https":
        return connection
    try:
        if proxy is not None:
            _open_tunnel(connection, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", proxy)
        import ssl

        return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def _open_tunnel(connection: socket.socket, place: str, proxy: SplitResult) -> None:
    credentials = [f"{name}: {value}" for name, value in proxy_credentials(proxy).items()]
    lines = [f"CONNECT {place} HTTP/1.1", f"host: {place}", *credentials]
    connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
    # Without a buffer: what comes after the head is for TLS to read.
    with connection.makefile("rb", buffering=0) as response:
        status, _ = _head(response)
    if status != 200:
        raise ConnectionError(f"the proxy {proxy.hostname} answered {status}")


def proxy_of(scheme: str, host: str) -> SplitResult | None:
    """As other programs find one in the environment: none for this machine, or where `no_proxy` names the host."""
    names = (f"{scheme}_proxy", "all_proxy")
    address = next((found for name in names if (found := _variable(name))), "")
    if not address or host == "localhost" or host == "::1" or host.startswith("127."):
        return None
    for one in _variable("no_proxy").lower().split(","):
        name = one.strip().lstrip(".")
        if name == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ConnectionError(f"the proxy in the environment ({proxy.scheme}://{proxy.hostname}) is none for HTTP")
    return proxy


def _variable(name: str) -> str:
    return (os.environ.get(name) or os.environ.get(name.upper()) or "").strip()


def proxy_credentials(proxy: SplitResult) -> dict[str, str]:
    """As a header."""
    if proxy.username is None:
        return {}
    from base64 import b64encode

    given = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"proxy-authorization": f"Basic {b64encode(given).decode()}"}


def _head(replied: "IO[bytes] | socket.SocketIO") -> tuple[int, dict[str, str]]:
    version, _, rest = _line(replied).partition(" ")
    number = rest[:3]
    if not version.startswith("HTTP/1.") or not number.isdecimal():
        raise ConnectionError("what came back is not HTTP")
    headers: dict[str, str] = {}
    for _ in range(MOST_HEADERS):
        if not (line := _line(replied)):
            return int(number), headers
        name, _, value = line.partition(":")
        headers.setdefault(name.strip().lower(), value.strip())
    raise ConnectionError("what came back has too many headers")


def _line(replied: "IO[bytes] | socket.SocketIO") -> str:
    line = replied.readline(LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise ConnectionError("the connection ended before the reply did")
    return line.decode("latin-1").rstrip("\r\n")


def _content(replied: IO[bytes], headers: Mapping[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return b"".join(_chunks(replied))
    if "content-length" not in headers:
        return replied.read()
    return _exactly(replied, _number(headers["content-length"], 10))


def _chunks(replied: IO[bytes]) -> list[bytes]:
    chunks: list[bytes] = []
    while size := _number(_line(replied).partition(";")[0], 16):
        chunks.append(_exactly(replied, size))
        _line(replied)
    return chunks


def _exactly(replied: IO[bytes], size: int) -> bytes:
    content = replied.read(size)
    if len(content) < size:
        raise ConnectionError("the connection ended before the reply did")
    return content


def _number(text: str, base: int) -> int:
    try:
        number = int(text.strip(), base)
    except ValueError:
        number = -1
    if number < 0:
        raise ConnectionError("what came back is not HTTP")
    return number
