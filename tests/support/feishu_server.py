"""A stand-in for Feishu on loopback. It checks every field that it is sent against what Feishu's pages say of it,
refuses as Feishu does, and sends signed and encrypted callbacks and frames of its long connection.

After https://open.feishu.cn/document pages im-v1/message/create and patch, feishu-cards/card-json-v2-structure and
handle-card-callbacks, event-subscription-guide (encryption), and the wire of its public Python library, as they stood
in November 2026: nothing of it was tried against Feishu. Frames are written with Google's protobuf, signatures and
encryption with code of its own.
"""

import base64
import hashlib
import itertools
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from tests.support.waiting import wait_for

APP, SECRET, TENANT = "cli_a1b2c3d4", "app-secret", "736588c9260f175d"
ENCRYPT_KEY, VERIFICATION = "test key", "verification-token"
Json = dict[str, Any]


def _frame_class() -> Any:
    """As pbbp2.proto has it."""
    file = descriptor_pb2.FileDescriptorProto(name="pbbp2_of_tests.proto", package="pbbp2_of_tests", syntax="proto2")
    kind = descriptor_pb2.FieldDescriptorProto
    header, frame = file.message_type.add(name="Header"), file.message_type.add(name="Frame")
    for number, name in enumerate(("key", "value"), 1):
        header.field.add(name=name, number=number, type=kind.TYPE_STRING, label=kind.LABEL_REQUIRED)
    rows = [("SeqID", 1, kind.TYPE_UINT64), ("LogID", 2, kind.TYPE_UINT64)]
    rows += [("service", 3, kind.TYPE_INT32), ("method", 4, kind.TYPE_INT32)]
    for name, number, type_ in rows:
        frame.field.add(name=name, number=number, type=type_, label=kind.LABEL_REQUIRED)
    frame.field.add(
        name="headers", number=5, type=kind.TYPE_MESSAGE, type_name=".pbbp2_of_tests.Header", label=kind.LABEL_REPEATED
    )
    for name, number, type_ in (
        ("payload_encoding", 6, kind.TYPE_STRING),
        ("payload_type", 7, kind.TYPE_STRING),
        ("payload", 8, kind.TYPE_BYTES),
        ("LogIDNew", 9, kind.TYPE_STRING),
    ):
        frame.field.add(name=name, number=number, type=type_, label=kind.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pbbp2_of_tests.Frame"))


FRAME = _frame_class()


def frame_of(method: int, headers: Mapping[str, str], payload: bytes, seq: int = 1) -> bytes:
    made = FRAME(SeqID=seq, LogID=(1 << 64) - seq, service=77, method=method, payload=payload, LogIDNew="log")
    for name, value in headers.items():
        made.headers.add(key=name, value=value)
    return made.SerializeToString()


class _Wrong(Exception):
    pass


@dataclass
class Shown:
    """A card as it stands in a conversation now."""

    user: str
    message_id: str
    card: Json
    edits: int = 0

    @property
    def elements(self) -> list[Json]:
        return cast("list[Json]", self.card["body"]["elements"])

    @property
    def words(self) -> str:
        texts = [one["text"]["content"] for one in self.elements if one["tag"] == "div"]
        return "\n".join([self.card["header"]["title"]["content"], *texts])

    @property
    def buttons(self) -> dict[str, Json]:
        return {one["text"]["content"]: one for one in self.elements if one["tag"] == "button"}


@dataclass
class Refusal:
    path: str
    status: int = 400
    code: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class FeishuServer:
    def __init__(self) -> None:
        self.shown: list[Shown] = []
        self.said: list[tuple[str, str]] = []
        """Plain messages: to whom, and what."""
        self.wrong: list[str] = []
        self.refusals: list[Refusal] = []
        self.calls: list[str] = []
        self.sockets: list[ServerConnection] = []
        self.replies: dict[str, Json] = {}
        """By the id of a frame's message, what was replied to it."""
        self.pings = 0
        self._numbers = itertools.count(1)
        self._tickets: set[str] = set()
        self._tokens: set[str] = set()
        self._uuids: dict[str, str] = {}
        handler = type("Handler", (_Handler,), {"feishu": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._socket: Server = serve(self._talk, "127.0.0.1", 0)
        self.api = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        threading.Thread(target=self._socket.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for socket in list(self.sockets):
            socket.close()
        self._http.shutdown()
        self._http.server_close()
        self._socket.shutdown()

    def of(self, user: str) -> list[Shown]:
        return [one for one in self.shown if one.user == user]

    def end_tokens(self) -> None:
        """Before their time."""
        self._tokens.clear()

    # What people do.

    def tap(self, user: str, shown: Shown, label: str) -> Json:
        (behavior,) = shown.buttons[label]["behaviors"]
        action: Json = {"tag": "button", "value": behavior["value"]} if behavior["type"] == "callback" else {}
        return self._event(
            "card.action.trigger",
            {
                "operator": {"tenant_key": TENANT, "open_id": user, "user_id": "", "union_id": "on_1"},
                "token": "c-update-token",
                "action": action,
                "host": "im_message",
                "context": {"open_message_id": shown.message_id, "open_chat_id": f"oc_{user}"},
            },
        )

    def direct_message(self, user: str, text: str) -> Json:
        return self._event(
            "im.message.receive_v1",
            {
                "sender": {"sender_id": {"open_id": user}, "sender_type": "user", "tenant_key": TENANT},
                "message": {
                    "message_id": f"om_{next(self._numbers)}",
                    "chat_type": "p2p",
                    "message_type": "text",
                    "content": json.dumps({"text": text}),
                },
            },
        )

    def _event(self, kind: str, event: Json) -> Json:
        header = {"event_id": f"ev{next(self._numbers):030}", "token": VERIFICATION, "create_time": "1700000000000"}
        header |= {"event_type": kind, "tenant_key": TENANT, "app_id": APP}
        return {"schema": "2.0", "header": header, "event": event}

    # How it arrives.

    def push(self, payload: Json, parts: int = 1) -> str:
        """Over the newest connection, in so many frames; the id of its message."""
        message_id, data = f"msg-{next(self._numbers)}", json.dumps(payload).encode()
        size = -(-len(data) // parts)
        # The last part comes first.
        for place in reversed(range(parts)):
            headers = {"type": "event", "message_id": message_id, "sum": str(parts), "seq": str(place)}
            headers |= {"trace_id": "trace", "timestamp": "1700000000000"}
            self.sockets[-1].send(frame_of(1, headers, data[place * size : (place + 1) * size]))
        return message_id

    def _talk(self, socket: ServerConnection) -> None:
        path = socket.request.path if socket.request else ""
        ticket = path.partition("ticket=")[2]
        if ticket not in self._tickets:
            socket.close(1008)
            return
        self._tickets.discard(ticket)
        self.sockets.append(socket)
        try:
            for data in socket:
                self._hear(socket, cast("bytes", data))
        except ConnectionClosed:
            pass
        self.sockets.remove(socket)

    def _hear(self, socket: ServerConnection, data: bytes) -> None:
        frame = FRAME.FromString(data)
        headers = {one.key: one.value for one in frame.headers}
        if frame.method == 0:
            self.pings += headers["type"] == "ping" and frame.service == 77
            socket.send(frame_of(0, {"type": "pong"}, json.dumps({"PingInterval": 1}).encode()))
            return
        answer = json.loads(frame.payload)
        if answer.get("code") != 200 or frame.service != 77:
            self.wrong.append(f"frame: {answer.get('code')}")
        told = cast("Json", json.loads(base64.b64decode(answer["data"])) if "data" in answer else {})
        self.replies[headers["message_id"]] = told
        check_reply(self, told)

    # What it takes.

    def take(self, method: str, path: str, token: str, body: Json) -> tuple[int, Json, Mapping[str, str]]:
        plain = path.partition("?")[0]
        name = "patch" if method == "PATCH" else plain.rpartition("/")[2]
        self.calls.append(name)
        refusal = next((one for one in self.refusals if one.path == name), None)
        if refusal is not None:
            self.refusals.remove(refusal)
            return refusal.status, {"code": refusal.code, "msg": "ou_ann said no"}, refusal.headers
        if name == "internal":
            return self._give_token(body)
        if name == "endpoint":
            return self._give_endpoint(body)
        if token not in self._tokens:
            return 400, {"code": 99991663, "msg": "Invalid access token for authorization."}, {}
        try:
            data = self._patch(plain.rpartition("/")[2], body) if name == "patch" else self._create(path, body)
        except _Wrong as error:
            self.wrong.append(f"{name}: {error}")
            return 400, {"code": 230099, "msg": "Failed to create card content."}, {}
        return 200, {"code": 0, "msg": "success", "data": data}, {}

    def _give_token(self, body: Json) -> tuple[int, Json, Mapping[str, str]]:
        if body != {"app_id": APP, "app_secret": SECRET}:
            return 200, {"code": 10014, "msg": "app secret invalid"}, {}
        token = f"t-{next(self._numbers)}"
        self._tokens.add(token)
        return 200, {"code": 0, "msg": "ok", "tenant_access_token": token, "expire": 7200}, {}

    def _give_endpoint(self, body: Json) -> tuple[int, Json, Mapping[str, str]]:
        if body != {"AppID": APP, "AppSecret": SECRET}:
            return 200, {"code": 514, "msg": "auth failed"}, {}
        ticket = f"t{next(self._numbers)}"
        self._tickets.add(ticket)
        port = self._socket.socket.getsockname()[1]
        url = f"ws://127.0.0.1:{port}/ws/v2?device_id=1&service_id=77&ticket={ticket}"
        config = {"ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 30, "PingInterval": 120}
        return 200, {"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": config}}, {}

    def _create(self, path: str, body: Json) -> Json:
        _check(path.endswith("?receive_id_type=open_id"), "receive_id_type")
        _known(body, {"receive_id", "msg_type", "content", "uuid"})
        _check(body["receive_id"].startswith("ou_"), "receive_id")
        if body["msg_type"] == "text":
            self.said.append((body["receive_id"], json.loads(body["content"])["text"]))
            return {"message_id": f"om_{next(self._numbers)}"}
        _check(body["msg_type"] == "interactive" and 0 < len(body["uuid"]) <= 50, "msg_type or uuid")
        card = _checked_card(body["content"])
        if body["uuid"] not in self._uuids:
            self._uuids[body["uuid"]] = f"om_{next(self._numbers)}"
            self.shown.append(Shown(body["receive_id"], self._uuids[body["uuid"]], card))
        return {"message_id": self._uuids[body["uuid"]]}

    def _patch(self, message_id: str, body: Json) -> Json:
        _known(body, {"content"})
        found = [one for one in self.shown if one.message_id == message_id]
        _check(len(found) == 1, "no such message")
        found[0].card = _checked_card(body["content"])
        found[0].edits += 1
        return {}


def check_reply(server: FeishuServer, reply: Json) -> None:
    """What is replied to a callback or a frame."""
    try:
        _known(reply, {"toast", "card"})
        if "toast" in reply:
            _known(reply["toast"], {"type", "content"})
            _check(reply["toast"]["type"] in ("info", "success", "error", "warning"), "toast")
        if "card" in reply:
            _known(reply["card"], {"type", "data"})
            _check(reply["card"]["type"] == "raw", "card")
            _checked_card(json.dumps(reply["card"]["data"]))
    except _Wrong as error:
        server.wrong.append(f"reply: {error}")


def sealed(payload: Json, at: float, key: str = ENCRYPT_KEY) -> tuple[dict[str, str], bytes]:
    """Headers and body of a callback, encrypted and signed as Feishu's pages have it."""
    plain, vector = json.dumps(payload).encode(), os.urandom(16)
    fill = 16 - len(plain) % 16
    cipher = Cipher(algorithms.AES256(hashlib.sha256(key.encode()).digest()), modes.CBC(vector)).encryptor()
    text = base64.b64encode(vector + cipher.update(plain + bytes([fill]) * fill) + cipher.finalize()).decode()
    body = json.dumps({"encrypt": text}).encode()
    digest = hashlib.sha256()
    for part in (str(int(at)), "nonce-1", key):
        digest.update(part.encode())
    digest.update(body)
    headers = {"x-lark-request-timestamp": str(int(at)), "x-lark-request-nonce": "nonce-1"}
    return headers | {"x-lark-signature": digest.hexdigest(), "content-type": "application/json"}, body


def _checked_card(text: str) -> Json:
    _check(len(text.encode()) <= 30 * 1024, "longer than 30 KB")
    card = cast("Json", json.loads(text))
    _known(card, {"schema", "config", "header", "body"})
    _check(card["schema"] == "2.0" and card["config"]["update_multi"] is True, "schema or update_multi")
    _known(card["config"], {"update_multi", "enable_forward"})
    _known(card["header"], {"title"})
    _check_text(card["header"]["title"])
    _known(card["body"], {"elements"})
    for element in card["body"]["elements"]:
        _check_element(element)
    return card


def _check_element(element: Json) -> None:
    _check_text(element["text"])
    if element["tag"] == "div":
        _known(element, {"tag", "text"})
        return
    _known(element, {"tag", "text", "type", "behaviors", "confirm"})
    _check(element["tag"] == "button" and element["type"] in ("default", "primary", "danger"), "button")
    (behavior,) = element["behaviors"]
    if behavior["type"] == "callback":
        _known(behavior, {"type", "value"})
        # Feishu's libraries drop texts.
        _check(isinstance(behavior["value"], dict), "a value that is no object")
    else:
        _known(behavior, {"type", "default_url"})
        _check(behavior["type"] == "open_url" and behavior["default_url"].startswith("https://"), "link")
    if "confirm" in element:
        _known(element["confirm"], {"title", "text"})
        for one in element["confirm"].values():
            _check_text(one)


def _check_text(text: Json) -> None:
    _known(text, {"tag", "content"})
    _check(text["tag"] == "plain_text" and len(text["content"]) > 0, "not plain text")


def _known(body: Json, names: set[str]) -> None:
    _check(body.keys() <= names, f"unknown fields: {sorted(body.keys() - names)}")


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise _Wrong(what)


def wait_for_connections(server: FeishuServer, count: int) -> None:
    wait_for(lambda: len(server.sockets), lambda seen: seen >= count)


class _Handler(BaseHTTPRequestHandler):
    feishu: FeishuServer

    def do_POST(self) -> None:
        body = cast("Json", json.loads(self.rfile.read(int(self.headers["content-length"]))))
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        status, answer, headers = self.feishu.take(self.command, self.path, token, body)
        text = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_PATCH = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""
