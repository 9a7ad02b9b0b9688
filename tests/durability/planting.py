"""Values that are planted, as whatever is written down might spell them, and a client that keeps all it hears."""

import base64
import json
import secrets
import string
from collections.abc import Iterator
from urllib.parse import quote

import httpx

LETTERS = string.ascii_letters + string.digits


class _Tee(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, heard: bytearray) -> None:
        self._stream = stream
        self._heard = heard

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._heard += piece
            yield piece

    def close(self) -> None:
        self._stream.close()


class Listening(httpx.HTTPTransport):
    """Keeps every byte that the server says, headers and streams included."""

    def __init__(self, heard: bytearray) -> None:
        super().__init__()
        self._heard = heard

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        for name, value in response.headers.raw:
            self._heard += name + b": " + value + b"\n"
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Tee(response.stream, self._heard)
        return response


def listening(url: str, token: str, heard: bytearray) -> httpx.Client:
    # Unpacked: in what is packed nothing would be found.
    headers = {"authorization": f"Bearer {token}", "accept-encoding": "identity"}
    return httpx.Client(base_url=url, headers=headers, timeout=30.0, transport=Listening(heard))


def spellings(value: str) -> set[bytes]:
    """As it may be written down: plainly, in JSON, as Python shows it, in an address, in hex and in base64."""
    raw = value.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode(), quote(value).encode()}
    found |= {json.dumps(value)[1:-1].encode(), json.dumps(json.dumps(value)[1:-1])[1:-1].encode()}
    found |= {repr(value)[1:-1].encode(), json.dumps(repr(value)[1:-1])[1:-1].encode()}
    for shift in range(3):
        # What stands before it moves it through the alphabet; its edges mix with their neighbours.
        encoded = base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4]
        found |= {encoded, encoded.translate(bytes.maketrans(b"+/", b"-_"))}
    return found | parts(value)


def parts(value: str) -> set[bytes]:
    """What errors show of it: runs of 8 characters, and the little that is left of a value that they shorten."""
    runs = {line[at : at + 8] for line in value.splitlines() for at in range(len(line) - 7)}
    return {run.encode() for run in runs} | {f"{value[:6]}...".encode(), f"****{value[-6:]}".encode()}


def new_value() -> str:
    """With what escaping changes, as in a key in several lines; of so many letters that no run comes by chance."""
    first, second = ("".join(secrets.choice(LETTERS) for _ in range(24)) for _ in range(2))
    return f'sk-{first}"\\\n{second}'
