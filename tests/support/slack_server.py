"""A stand-in for Slack on loopback. It checks every field that it is sent against what Slack's pages say of it, refuses
as Slack does, and sends signed callbacks and envelopes of its socket.

After https://docs.slack.dev/reference/methods/chat.postMessage, .../chat.update, .../apps.connections.open,
/reference/block-kit/blocks, /apis/events-api/using-socket-mode and /authentication/verifying-requests-from-slack, as
they were remembered in November 2026: nothing of it was tried against Slack.
"""

import hashlib
import hmac
import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast
from urllib.parse import urlencode

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from tests.support.waiting import wait_for

TEAM, APP = "T0123ABCD", "A0123ABCD"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-bot", "xapp-app", "8f742231b10e8888abcd99yyyzzz85a5"
Json = dict[str, Any]


class _Wrong(Exception):
    pass


@dataclass
class Shown:
    """A message as it stands in a conversation now."""

    user: str
    channel: str
    ts: str
    body: Json
    edits: int = 0

    @property
    def blocks(self) -> list[Json]:
        return cast("list[Json]", self.body["blocks"])

    @property
    def words(self) -> str:
        """All that is read in it."""
        return "\n".join(one["text"]["text"] for one in self.blocks if one["type"] == "section")

    @property
    def buttons(self) -> dict[str, Json]:
        found = [one for block in self.blocks if block["type"] == "actions" for one in block["elements"]]
        return {one["text"]["text"]: one for one in found}


@dataclass
class Refusal:
    method: str
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class SlackServer:
    def __init__(self) -> None:
        self.shown: list[Shown] = []
        self.told: list[str] = []
        """What was said to who tapped, and to nobody else."""
        self.wrong: list[str] = []
        """What was sent that Slack would not take."""
        self.refusals: list[Refusal] = []
        """In turn, one for each call of its method."""
        self.calls: list[str] = []
        self.sockets: list[ServerConnection] = []
        self.acknowledged: set[str] = set()
        self._numbers = itertools.count(1)
        self._tickets: set[str] = set()
        handler = type("Handler", (_Handler,), {"slack": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._socket: Server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self.api = f"{self.url}/api"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        threading.Thread(target=self._socket.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()
        self._http.shutdown()
        self._http.server_close()
        self._socket.shutdown()

    # What people do.

    def tap(self, user: str, shown: Shown, label: str, *, at: str | None = None) -> Json:
        """The payload of a tap; whoever taps has confirmed what is asked. `at` is the moment of an earlier one."""
        button = shown.buttons[label]
        return {
            "type": "block_actions",
            "user": {"id": user, "team_id": TEAM, "username": user.lower()},
            "team": {"id": TEAM},
            "api_app_id": APP,
            "container": {"type": "message", "message_ts": shown.ts, "channel_id": shown.channel},
            "response_url": f"{self.url}/actions/{TEAM}/1/hush",
            "actions": [
                {
                    "type": "button",
                    "action_id": button["action_id"],
                    **({"value": button["value"]} if "value" in button else {}),
                    "action_ts": at or f"1700000000.{next(self._numbers):06}",
                }
            ],
        }

    def direct_message(self, user: str, text: str) -> Json:
        number = next(self._numbers)
        event = {"type": "message", "channel_type": "im", "channel": f"D{user}", "user": user, "text": text}
        return {
            "type": "event_callback",
            "team_id": TEAM,
            "api_app_id": APP,
            "event_id": f"Ev{number:08}",
            "event": event | {"team": TEAM, "ts": f"1700000000.{number:06}"},
        }

    # How it arrives.

    def push(self, payload: Json, envelope_id: str | None = None) -> str:
        """Over the newest socket; its envelope's id."""
        envelope_id = envelope_id or f"env-{next(self._numbers)}"
        kind = "events_api" if payload["type"] == "event_callback" else "interactive"
        envelope = {"type": kind, "envelope_id": envelope_id, "payload": payload, "accepts_response_payload": True}
        self.sockets[-1].send(json.dumps(envelope))
        return envelope_id

    def disconnect(self) -> None:
        for socket in self.sockets:
            try:
                socket.send(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))
                socket.close()
            except ConnectionClosed:
                continue

    def wait_for_sockets(self, count: int) -> None:
        wait_for(lambda: len(self.sockets), lambda seen: seen >= count)

    def _talk(self, socket: ServerConnection) -> None:
        request = socket.request
        ticket = request.path.partition("ticket=")[2] if request else ""
        if ticket not in self._tickets:
            socket.close(1008)
            return
        self._tickets.discard(ticket)
        socket.send(json.dumps({"type": "hello", "num_connections": len(self.sockets) + 1}))
        self.sockets.append(socket)
        try:
            for text in socket:
                self.acknowledged.add(json.loads(text)["envelope_id"])
        except ConnectionClosed:
            pass
        self.sockets.remove(socket)

    # What it takes.

    def take(self, method: str, token: str, body: Json) -> tuple[int, Json, Mapping[str, str]]:
        self.calls.append(method)
        refusal = next((one for one in self.refusals if one.method == method), None)
        if refusal is not None:
            self.refusals.remove(refusal)
            return refusal.status, {"ok": False, "error": refusal.error}, refusal.headers
        if token != (APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN):
            return 200, {"ok": False, "error": "invalid_auth"}, {}
        try:
            return 200, {"ok": True, **self._take(method, body)}, {}
        except _Wrong as error:
            self.wrong.append(f"{method}: {error}")
            return 200, {"ok": False, "error": "invalid_blocks"}, {}

    def _take(self, method: str, body: Json) -> Json:
        if method == "apps.connections.open":
            ticket = f"t{next(self._numbers)}"
            self._tickets.add(ticket)
            port = self._socket.socket.getsockname()[1]
            return {"url": f"ws://127.0.0.1:{port}/link/?ticket={ticket}"}
        if method == "chat.postMessage":
            _known(body, {"channel", "text", "blocks", "unfurl_links", "unfurl_media", "mrkdwn"})
            _check_message(body)
            _check(body.get("unfurl_links") is False and body.get("mrkdwn") is False, "links would be looked into")
            shown = Shown(body["channel"], f"D{body['channel']}", f"1700000000.{next(self._numbers):06}", body)
            self.shown.append(shown)
            return {"channel": shown.channel, "ts": shown.ts}
        _check(method == "chat.update", "no such method")
        _known(body, {"channel", "ts", "text", "blocks"})
        _check_message(body)
        found = [one for one in self.shown if (one.channel, one.ts) == (body["channel"], body["ts"])]
        _check(len(found) == 1, "no such message")
        found[0].body = body
        found[0].edits += 1
        return {"channel": body["channel"], "ts": body["ts"]}

    def of(self, user: str) -> list[Shown]:
        return [one for one in self.shown if one.user == user]


def signed(payload: Json, at: float, secret: str = SIGNING_SECRET) -> tuple[dict[str, str], bytes]:
    """Headers and body of a callback, signed as Slack's page has it."""
    if payload["type"] == "block_actions":
        kind, body = "application/x-www-form-urlencoded", urlencode({"payload": json.dumps(payload)}).encode()
    else:
        kind, body = "application/json", json.dumps(payload).encode()
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), b":".join((b"v0", stamp.encode(), body)), hashlib.sha256).hexdigest()
    return {"content-type": kind, "x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={digest}"}, body


def _check_message(body: Json) -> None:
    _check(0 < len(body["text"]) <= 4_000 and "<" not in body["text"], "text")
    _check(0 < len(body["blocks"]) <= 50, "blocks")
    names: list[str] = []
    for block in body["blocks"]:
        _known(block, {"type", "text"} if block["type"] == "section" else {"type", "elements"})
        if block["type"] == "section":
            _check_text(block["text"], 3_000)
            continue
        _check(block["type"] == "actions" and 0 < len(block["elements"]) <= 25, "actions")
        for element in block["elements"]:
            _check_button(element)
            names.append(element["action_id"])
    _check(len(set(names)) == len(names), "action_id twice")


def _check_button(element: Json) -> None:
    _known(element, {"type", "action_id", "text", "value", "url", "style", "confirm"})
    _check(element["type"] == "button" and len(element["action_id"]) <= 255, "button")
    _check_text(element["text"], 75)
    _check(len(element.get("value", "")) <= 2_000 and len(element.get("url", "")) <= 3_000, "value or url")
    _check(element.get("style") in (None, "primary", "danger"), "style")
    if (confirm := element.get("confirm")) is not None:
        _known(confirm, {"title", "text", "confirm", "deny"})
        for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
            _check_text(confirm[name], most)


def _check_text(text: Json, most: int) -> None:
    _known(text, {"type", "text", "emoji"})
    _check(text["type"] == "plain_text" and text["emoji"] is False, "not plain text")
    _check(0 < len(text["text"].encode("utf-16-le")) // 2 <= most, f"longer than {most}")


def _known(body: Json, names: set[str]) -> None:
    _check(body.keys() <= names, f"unknown fields: {sorted(body.keys() - names)}")


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise _Wrong(what)


class _Handler(BaseHTTPRequestHandler):
    slack: SlackServer

    def do_POST(self) -> None:
        body = cast("Json", json.loads(self.rfile.read(int(self.headers["content-length"]))))
        if self.path.startswith("/actions/"):
            is_right = body.get("response_type") == "ephemeral" and body.get("replace_original") is False
            if not is_right:
                self.slack.wrong.append(f"response_url: {sorted(body)}")
            self.slack.told.append(body["text"])
            self._reply(200, {"ok": True}, {})
            return
        is_json = self.headers["content-type"].startswith("application/json; charset=utf-8")
        if not is_json:
            self.slack.wrong.append("content-type")
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        self._reply(*self.slack.take(self.path.removeprefix("/api/"), token, body))

    def _reply(self, status: int, body: Json, headers: Mapping[str, str]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""
