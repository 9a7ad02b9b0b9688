"""Asking a person over the hitl face and waiting: through restarts, cut connections and a laptop that slept.

A request is asked once, under its idempotency key, however often it has to be sent.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from interlock_client.hook.call import list_of, object_of
from interlock_client.hook.exchange import HttpReply, exchange
from interlock_client.hook.requests import AT_TERMINAL, Json, TimedOut
from interlock_client.hook.settings import Misconfigured, Settings

HITL = "/api/v1/agent/hitl"
HELD = 50.0
"""Seconds for which the server holds a look at a request that is pending."""
PATIENCE = 10.0
"""Seconds to go on trying while a request could not be placed yet."""
SLACK = 10.0
WITHDRAWING = 2.0
LOOKING = 3.0
PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)


class NotAsked(Exception):
    """No person could be asked; the message says why."""


class Refused(NotAsked):
    """The server does not take it."""

    def __init__(self, status: int, message: str, details: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.details = details

    @property
    def wrong_fields(self) -> list[str]:
        errors = map(object_of, list_of(self.details.get("errors")))
        return [str(one.get("field")) for one in errors if one is not None]


class ServerAway(Exception):
    """The server was not reached, or cannot serve now: to be tried again."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.pause = pause


class Server:
    def __init__(self, settings: Settings) -> None:
        self._url = address_of(settings.url)
        self._key = settings.key

    def call(self, method: str, path: str, body: Json | None = None, *, key: str = "", seconds: float = SLACK) -> Json:
        """What the server says; `ServerAway` where it should be asked again, `Refused` where that would not help."""
        headers = {"accept": "application/json", "accept-language": "en"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if key:
            headers["idempotency-key"] = key
        if body is not None:
            headers["content-type"] = "application/json"
        content = None if body is None else json.dumps(body).encode()
        try:
            reply = exchange(self._url, method, self._url.path.rstrip("/") + path, headers, content, max(seconds, 0.1))
        except OSError as error:
            raise ServerAway(f"{self._url.geturl()} cannot be reached ({type(error).__name__}: {error})") from error
        return self._read(reply)

    def _read(self, reply: HttpReply) -> Json:
        status = reply.status
        try:
            body = object_of(json.loads(reply.content))
        except (ValueError, RecursionError):
            body = None
        if status == 429 or status >= 500 or (status == 200 and body is None):
            # Not only ours: what a proxy says while the server is restarted, or a page of a hotel's network.
            raise ServerAway(f"{self._url.geturl()} answered {status}", _seconds(reply.headers.get("retry-after")))
        data = object_of((body or {}).get("data"))
        if status != 200 or data is None:
            error = object_of((body or {}).get("error")) or {}
            message = str(error.get("message") or f"{self._url.geturl()} answered {status}")
            raise Refused(status, message, object_of(error.get("details")) or {})
        return data


class Ask:
    """One request, from the moment it is sent until it is settled."""

    def __init__(self, server: Server, body: Json, key: str, until: float) -> None:
        """`until` is by `time.monotonic()`: when the answer has to be there."""
        self.server = server
        self.body = body
        self.key = key
        self.until = until
        self.is_over: Callable[[], bool] = lambda: False
        """Whether somebody has answered elsewhere."""
        self.request_id = ""
        self.is_sent = False

    def place(self) -> Json:
        """Send it; `NotAsked` where the server stays away, or does not take it."""
        until = min(self.until, time.monotonic() + PATIENCE)
        try:
            request = self._retry(lambda left: self._post(min(left, SLACK)), until)
        except ServerAway as error:
            raise NotAsked(str(error)) from error
        self.request_id = request["request_id"]
        return request

    def _post(self, seconds: float) -> Json:
        self.is_sent = True
        try:
            request = self.server.call("POST", f"{HITL}/requests", self.body, key=self.key, seconds=seconds)
            return _with_text(request, "request_id")
        except Refused as error:
            if "agent" not in self.body or error.wrong_fields != ["agent"]:
                raise
            # A key of an agent asks under its own name.
            self.body = {name: value for name, value in self.body.items() if name != "agent"}
            return self._post(seconds)

    def wait_until_settled(self) -> Json:
        """The request once it is settled; `TimedOut` when that is not soon enough."""
        try:
            return self._retry(self._look, self.until)
        except ServerAway as error:
            raise TimedOut(str(error)) from error

    def look(self) -> Json:
        """The request as it is now. In short time: there may be little left."""
        try:
            return self._retry(lambda left: self._get(0, left), time.monotonic() + LOOKING)
        except ServerAway as error:
            raise NotAsked(str(error)) from error

    def withdraw(self, reason: str, seconds: float = WITHDRAWING) -> bool:
        """Best effort, as whoever asked may not be there for long. False: it was answered before."""
        try:
            if self.is_sent and not self.request_id:
                # The reply may be on its way: the same ask again tells which request it is.
                self.request_id = self._post(seconds)["request_id"]
        except (ServerAway, NotAsked):
            return True
        return not self.request_id or withdraw(self.server, self.request_id, reason, seconds)

    def _look(self, left: float) -> Json | None:
        wait = max(min(HELD, left - 1.0), 0.0)
        if self.is_over():
            # While the server was away it could not be told.
            cancel(self.server, self.request_id, AT_TERMINAL)
        view = self._get(wait, min(wait + SLACK, max(left, 1.0)))
        return None if view["status"] == "pending" else view

    def _get(self, wait: float, seconds: float) -> Json:
        path = f"{HITL}/requests/{quote(self.request_id, safe='')}?{urlencode({'wait': f'{wait:g}'})}"
        return _with_text(self.server.call("GET", path, seconds=seconds), "status")

    def _retry(self, act: Callable[[float], Json | None], until: float) -> Json:
        """What it gives at last; `ServerAway` when the time is up."""
        failures = 0
        while True:
            away = ServerAway("nobody answered")
            try:
                if (given := act(until - time.monotonic())) is not None:
                    return given
                failures = 0
            except ServerAway as error:
                away, failures = error, failures + 1
            left = until - time.monotonic()
            if left <= 0:
                raise away
            if failures:
                time.sleep(min(max(PAUSES[min(failures, len(PAUSES)) - 1], away.pause), left))


def withdraw(server: Server, request_id: str, reason: str, seconds: float = WITHDRAWING) -> bool:
    """Best effort: whoever sees the request should not answer somebody who has gone. False: it was answered before."""
    try:
        return cancel(server, request_id, reason, seconds)
    except ServerAway:
        return True


def cancel(server: Server, request_id: str, reason: str, seconds: float = WITHDRAWING) -> bool:
    """The same, and `ServerAway` where the server could not be told."""
    try:
        server.call("POST", f"{HITL}/cancel", {"request_id": request_id, "reason": reason}, seconds=seconds)
    except Refused as error:
        return error.details.get("current_status") != "answered"
    return True


def _with_text(reply: Json, name: str) -> Json:
    """What a server of ours says has it; what a proxy says may be anything."""
    if not isinstance(reply.get(name), str):
        raise ServerAway(f"the server answered without {name}")
    return reply


def address_of(url: str) -> SplitResult:
    try:
        address = urlsplit(url if "//" in url else f"http://{url}")
        usable = address.scheme in ("http", "https") and bool(address.hostname) and (address.port or 1) > 0
    except ValueError:
        usable = False
        address = urlsplit("")
    if not usable or address.username or address.query:
        raise Misconfigured(f"{url!r} is no address of a server: set INTERLOCK_URL to one such as https://HOST")
    return address


def _seconds(text: str | None) -> float:
    try:
        return min(max(float(text or 0), 0.0), 30.0)
    except ValueError:
        return 0.0
