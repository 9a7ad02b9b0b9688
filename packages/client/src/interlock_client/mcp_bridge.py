"""`interlock mcp`: the server's MCP endpoint over standard input and output, for hosts that start a program.

Standard library only: hosts start it with every session. Each request is one HTTP call in a thread of its own. A call
of a tool outlives cut connections and restarts of the server: it is sent again under its id, and has the same request.
"""

import argparse
import base64
import http.client
import json
import os
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO
from urllib.parse import SplitResult, urlencode

from interlock_client.hook.asking import address_of
from interlock_client.hook.call import object_of
from interlock_client.hook.exchange import proxy_credentials, proxy_of
from interlock_client.hook.settings import Misconfigured, Settings, load
from interlock_client.visible import one_line

USAGE = "Interlock's MCP server over standard input and output. INTERLOCK_URL and INTERLOCK_KEY: where, and as whom."
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
NAMED_BY = {
    **{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"},
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
"""By method, the parameter that goes into a header as well."""
SILENCE = 60.0
"""Seconds without a byte, of which the server sends some every 15, after which a connection is taken as lost."""
PATIENCE = 10.0
"""Seconds to go on trying to reach the server at all."""
HELD_PATIENCE = 900.0
"""The same for a call that it has begun to hold: for so long it keeps the answer."""
MOST_BYTES = 1024 * 1024
"""That the server takes. Who sends more may be cut off before it reads why."""
PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)
PARSE_ERROR, INVALID_REQUEST, FAILED = -32700, -32600, -32000

Json = dict[str, Any]


class Lost(Exception):
    """The connection ended, or the server cannot serve now: to be tried again."""


class Refused(Exception):
    """The server does not take it, in words that are not of the protocol."""


class Bridge:
    def __init__(self, settings: Settings, query: Mapping[str, str], output: BinaryIO) -> None:
        self._address = address_of(settings.url)
        self._key = settings.key
        self._query = f"?{urlencode(query)}" if query else ""
        self._output = output
        self._write_lock = threading.Lock()
        self._exchanges: dict[str, Exchange] = {}
        self.version = ""
        """What a host of the older era agreed on with the server."""
        self.client = "interlock-mcp"

    def serve(self, lines: Iterator[bytes]) -> None:
        """Until the host closes its side. What it waits for then waits for it, or for who asks the same again."""
        for line in lines:
            if line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = object_of(json.loads(line))
        except (ValueError, RecursionError):
            self.write(_error(None, PARSE_ERROR, "this is no JSON"))
            return
        if message is None:
            self.write(_error(None, INVALID_REQUEST, "a message is one JSON object"))
        elif "method" in message and "id" in message:
            exchange = self._exchanges[_key_of(message["id"])] = Exchange(self, message)
            threading.Thread(target=exchange.run, daemon=True).start()
        elif message.get("method") == "notifications/cancelled":
            params = object_of(message.get("params")) or {}
            if (exchange := self._exchanges.get(_key_of(params.get("requestId")))) is not None:
                exchange.cancel()
        # Of other notifications a server without sessions keeps nothing, and it asks nothing that had an answer.

    def end(self) -> None:
        """At once, with what was said so far: an interpreter that ends in order does not survive threads that read."""
        with self._write_lock, suppress(OSError):
            self._output.flush()
        os._exit(0)

    def forget(self, message_id: Any) -> None:
        self._exchanges.pop(_key_of(message_id), None)

    def write(self, message: Json) -> None:
        with self._write_lock:
            self._output.write(json.dumps(message).encode() + b"\n")
            self._output.flush()

    def connection(self) -> http.client.HTTPConnection:
        """By the proxy of the environment, where there is one for the server."""
        is_secure, host = self._address.scheme == "https", self._address.hostname or ""
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        if (proxy := self._proxy) is None:
            return kind(host, self._address.port, timeout=SILENCE)
        connection = kind(proxy.hostname or "", proxy.port or 80, timeout=SILENCE)
        if is_secure:
            connection.set_tunnel(host, self._address.port, proxy_credentials(proxy))
        return connection

    @property
    def _proxy(self) -> SplitResult | None:
        return proxy_of(self._address.scheme, self._address.hostname or "")

    @property
    def target(self) -> str:
        path = f"{self._address.path.rstrip('/')}/mcp{self._query}"
        # Where there is no tunnel to the server, a proxy is told the whole address.
        is_whole = self._address.scheme == "http" and self._proxy is not None
        return f"http://{self._address.netloc}{path}" if is_whole else path

    @property
    def url(self) -> str:
        return self._address.geturl()

    def headers(self, method: str, params: Json) -> dict[str, str]:
        version = str((object_of(params.get("_meta")) or {}).get(VERSION_KEY) or self.version)
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        headers |= {"user-agent": self.client, "mcp-method": _header(method)}
        if self._address.scheme == "http" and (proxy := self._proxy) is not None:
            headers |= proxy_credentials(proxy)
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if version:
            headers["mcp-protocol-version"] = _header(version)
        if method in NAMED_BY and isinstance(name := params.get(NAMED_BY[method]), str):
            headers["mcp-name"] = _header(name)
        return headers


class Exchange:
    """One request of the host, from when it came until it is answered or taken back."""

    def __init__(self, bridge: Bridge, message: Json) -> None:
        self._bridge = bridge
        self._message = message
        self._method = str(message["method"])
        self._params = object_of(message.get("params")) or {}
        self._connection: http.client.HTTPConnection | None = None
        self._is_cancelled = threading.Event()
        self._is_sent = False
        self._heard_at = time.monotonic()
        self._progress = 0
        if self._method == "tools/call":
            # By this the server knows it again.
            meta = {"interlock/callId": uuid.uuid4().hex, **(object_of(self._params.get("_meta")) or {})}
            self._params = {**self._params, "_meta": meta}
            self._message = {**message, "params": self._params}
        elif self._method == "initialize":
            info = object_of(self._params.get("clientInfo")) or {}
            bridge.client = _header(f"{info.get('name', 'unknown')}/{info.get('version', '0')}")

    def run(self) -> None:
        try:
            self._send_until_answered()
        except (Refused, Lost) as error:
            self._say(_error(self._message["id"], FAILED, str(error)))
        except Exception as error:
            self._say(_error(self._message["id"], FAILED, f"the bridge failed: {type(error).__name__}: {error}"))
        finally:
            self._bridge.forget(self._message["id"])

    def cancel(self) -> None:
        self._is_cancelled.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            # Not closed: another thread reads of it.
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _send_until_answered(self) -> None:
        failures = 0
        is_answered = False
        while not is_answered and not self._is_cancelled.is_set():
            try:
                self._send()
                is_answered = True
            except Lost as error:
                patience = HELD_PATIENCE if self._is_sent and self._method == "tools/call" else PATIENCE
                if time.monotonic() - self._heard_at > patience:
                    raise Lost(f"{self._bridge.url} cannot be reached ({error})") from error
                self._is_cancelled.wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    def _send(self) -> None:
        body = _body(self._message)
        if len(body) > MOST_BYTES:
            raise Refused(f"413: a message has {MOST_BYTES} bytes at the most")
        connection = self._connection = self._bridge.connection()
        try:
            connection.request("POST", self._bridge.target, body, self._bridge.headers(self._method, self._params))
            self._is_sent = True
            response = connection.getresponse()
            is_stream = (response.getheader("content-type") or "").startswith("text/event-stream")
            for message in _events(response) if is_stream else [self._single(response)]:
                if self._pass_on(message):
                    return
            raise Lost("the answer was cut off")
        except (OSError, http.client.HTTPException, AttributeError) as error:
            # A response that is cut while it is read may have lost its socket to who cancelled it.
            raise Lost(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def _single(self, response: http.client.HTTPResponse) -> Json:
        content = response.read()
        try:
            answer = object_of(json.loads(content)) or {}
        except ValueError:
            answer = {}
        if answer.get("jsonrpc"):
            return answer
        if response.status == 429 or response.status >= 500:
            raise Lost(f"it answered {response.status}")
        raise Refused(_refusal(self._bridge.url, response.status, answer))

    def _pass_on(self, message: Json) -> bool:
        """Whether it was the answer."""
        self._heard_at = time.monotonic()
        if message.get("id") == self._message["id"] and ("result" in message or "error" in message):
            if self._method == "initialize":
                result = object_of(message.get("result")) or {}
                self._bridge.version = str(result.get("protocolVersion") or "")
            self._say(message)
            return True
        if message.get("method") == "notifications/progress":
            # Sent again it begins anew, and must not fall for who listens.
            self._progress += 1
            message = {**message, "params": {**(object_of(message.get("params")) or {}), "progress": self._progress}}
        self._say(message)
        return False

    def _say(self, message: Json) -> None:
        if not self._is_cancelled.is_set():
            self._bridge.write(message)


def _events(response: http.client.HTTPResponse) -> Iterator[Json]:
    data: list[bytes] = []
    for line in response:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text[5:].removeprefix(b" "))
        elif not text and data:
            message = object_of(json.loads(b"\n".join(data))) if any(data) else None
            data = []
            if message is not None:
                yield message


def _body(message: Json) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half a character, which only an escape can hold.
        return json.dumps(message).encode()


def _key_of(message_id: Any) -> str:
    return json.dumps(message_id)


def _header(text: str) -> str:
    """As a header can hold it."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _error(message_id: Any, code: int, text: str) -> Json:
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}}


def _refusal(url: str, status: int, answer: Json) -> str:
    if status == 401:
        return f"{url} does not take the key: set INTERLOCK_KEY to an agent's key of this server"
    reason = answer.get("message") or answer.get("detail") or "which is not what an Interlock server says"
    return f"{url} answered {status}: {reason}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("interlock mcp", description=USAGE)
    parser.add_argument("--hold", type=float, metavar="SECONDS", help="how long a call waits before it is told pending")
    parser.add_argument("--conversation", metavar="NAME", help="where what is asked is shown together")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    query = {name: f"{value:g}" if name == "hold" else value for name, value in given.items()}
    try:
        bridge = Bridge(load(), query, sys.stdout.buffer)
    except Misconfigured as error:
        print(f"interlock: {one_line(str(error))}", file=sys.stderr)
        return 2
    with suppress(KeyboardInterrupt, BrokenPipeError):
        bridge.serve(iter(sys.stdin.buffer.readline, b""))
    bridge.end()
    return 0
