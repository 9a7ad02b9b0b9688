"""Clients of the agui face: one that checks every event against the protocol's models, and those for Node."""

import json
import shutil
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from ag_ui.core import Event
from pydantic import TypeAdapter

from tests.support.http import client as http_client
from tests.support.threads import ThreadsClient

CLIENTS = Path(__file__).resolve().parents[1] / "hooks" / "agents"
SECONDS = 60.0

_EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def user(text: str, message_id: str | None = None) -> dict[str, str]:
    return {"id": message_id or str(uuid.uuid4()), "role": "user", "content": text}


def resolved(interrupt: Mapping[str, Any], payload: Any) -> dict[str, Any]:
    return {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}


def cancelled(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    return {"interruptId": interrupt["id"], "status": "cancelled"}


@dataclass(frozen=True)
class Stream:
    """All events of one call."""

    events: Sequence[dict[str, Any]]

    @classmethod
    def of(cls, reply: httpx.Response) -> "Stream":
        assert reply.status_code == 200, reply.text
        return cls([_event(frame) for frame in reply.text.split("\n\n") if frame and not frame.startswith(":")])

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.all("TEXT_MESSAGE_CONTENT"))

    @property
    def outcome(self) -> dict[str, Any]:
        [finished] = self.all("RUN_FINISHED")
        return finished["outcome"]

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        return self.outcome["interrupts"]

    @property
    def error(self) -> str:
        [error] = self.all("RUN_ERROR")
        return error["code"]


def _event(frame: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(frame.removeprefix("data: "))
    _EVENT.validate_python(event)
    # The clients fail on null where a field may be left out; only metadata and values of our own are free.
    outcome: dict[str, Any] = event.get("outcome") or {}
    shown: list[dict[str, Any]] = [event, *outcome.get("interrupts", ()), *event.get("messages", ())]
    assert all(value is not None for one in shown for value in one.values())
    return event


@dataclass
class AguiClient:
    url: str
    headers: Mapping[str, str]
    agent: str = "puppet"
    thread_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @classmethod
    def of(cls, client: ThreadsClient, **fields: Any) -> "AguiClient":
        url = str(client.http.base_url).rstrip("/")
        return cls(url, {"authorization": client.http.headers["authorization"], "accept-language": "en"}, **fields)

    def say(self, text: str, **fields: Any) -> Stream:
        self.messages.append(user(text))
        return self.run(**fields)

    def run(self, **fields: Any) -> Stream:
        return Stream.of(self.post(**fields))

    def post(self, **fields: Any) -> httpx.Response:
        body = {"threadId": self.thread_id, "runId": str(uuid.uuid4()), "messages": self.messages, **fields}
        with http_client(self.url, timeout=SECONDS, headers=dict(self.headers)) as http:
            # In ASCII, as it can say every text.
            return http.post(
                f"/api/v1/agui/{self.agent}", content=json.dumps(body), headers={"content-type": "application/json"}
            )


class NodeAgent:
    """`HttpAgent` of one of the protocol's own clients."""

    def __init__(self, package: str, client: AguiClient) -> None:
        node = shutil.which("node")
        assert (CLIENTS / "node_modules" / package).exists(), f"the npm package {package} is not installed"
        assert node is not None
        program = [node, str(Path(__file__).with_name("agui_client.mjs")), package]
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CLIENTS)
        self._call(
            url=f"{client.url}/api/v1/agui/{client.agent}", headers=dict(client.headers), threadId=client.thread_id
        )

    def run(self, *, say: str | None = None, resume: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """`{events, messages, pending, error?}` after it."""
        return self._call(say=say, resume=resume)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _call(self, **fields: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given = {name: value for name, value in fields.items() if value is not None}
        self._process.stdin.write(json.dumps(given) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client ended"
        return json.loads(line)
