"""One request over HTTP/1.1, and what came back.

In place of `http.client`, which takes longer to load than all the rest of the hook: it reads headers as mail, and loads
what TLS needs where there is none.
"""

import socket
from collections.abc import Mapping
from typing import IO, NamedTuple
from urllib.parse import SplitResult

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
    lines = [f"{method} {path} HTTP/1.1", f"host: {place}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if content is not None:
        lines.append(f"content-length: {len(content)}")
    if " " in path or any(not line.isprintable() for line in lines):
        raise ValueError("what is sent has a character that no header can have")
    with _connected(url.scheme, host, url.port, seconds) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (content or b""))
        with connection.makefile("rb") as replied:
            status, named = _head(replied)
            while 100 <= status < 200:
                status, named = _head(replied)
            return HttpReply(status, named, _content(replied, named))


def _connected(scheme: str, host: str, port: int | None, seconds: float) -> socket.socket:
    connection = socket.create_connection((host, port or (443 if scheme == "https" else 80)), seconds)
    if scheme != "https":
        return connection
    try:
        import ssl

        return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def _head(replied: IO[bytes]) -> tuple[int, dict[str, str]]:
    version, _, rest = _line(replied).partition(" ")
    number = rest[:3]
    if not version.startswith("HTTP/1.") or not number.isdecimal():
        raise ConnectionError("what came back is not HTTP")
    named: dict[str, str] = {}
    for _ in range(MOST_HEADERS):
        if not (line := _line(replied)):
            return int(number), named
        name, _, value = line.partition(":")
        named.setdefault(name.strip().lower(), value.strip())
    raise ConnectionError("what came back has too many headers")


def _line(replied: IO[bytes]) -> str:
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
