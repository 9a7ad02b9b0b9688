"""A client of the langgraph face that sends exactly what it is told."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from tests.support.http import client as http_client
from tests.support.threads import Frame, ThreadsClient, parse

AGENTS = Path(__file__).parent / "langgraph_agents.py"
NAMES = (
    "one_node",
    "two_nodes",
    "pair",
    "plain",
    "broken",
    "hitl",
    "inbox",
    "slow",
    "fan",
    "nested",
    "late",
    "deep",
    "helped",
)
SPECS = [f"{name}={AGENTS}:{name}" for name in NAMES]


@dataclass(frozen=True)
class Stream:
    frames: list[Frame]
    headers: Mapping[str, str]

    def all(self, event: str) -> list[Any]:
        return [one.data for one in self.frames if one.event == event]

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        return self.all("values")[-1].get("__interrupt__", [])


class LanggraphClient:
    def __init__(self, url: str, headers: Mapping[str, str] | None = None, *, http: httpx.Client | None = None) -> None:
        self.http = http or http_client(url, headers=dict(headers or {}))

    @classmethod
    def of(cls, person: ThreadsClient) -> "LanggraphClient":
        return cls(str(person.http.base_url), dict(person.http.headers))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def thread(self) -> str:
        return self.http.post("/threads", json={}).raise_for_status().json()["thread_id"]

    def asked(self, agent: str, **given: Any) -> tuple[str, dict[str, Any]]:
        """A thread on which this agent waits, and its first interrupt, without a look that would show it."""
        thread_id = self.thread()
        name = uuid.uuid4().hex
        body = {"assistant_id": agent, "input": {"q": name, **given}}
        asked = self.post(thread_id, "wait", body).json()
        return thread_id, asked["__interrupt__"][0]

    def post(self, thread_id: str, how: str, body: Mapping[str, Any], **headers: str) -> httpx.Response:
        path = f"/threads/{thread_id}/runs" + (f"/{how}" if how else "")
        return self.http.post(path, json=dict(body), headers=headers)

    def resume(self, thread_id: str, agent: str, value: Any, how: str = "wait", **headers: str) -> httpx.Response:
        return self.post(thread_id, how, {"assistant_id": agent, "command": {"resume": value}}, **headers)

    def stream(self, thread_id: str, body: Mapping[str, Any]) -> Stream:
        reply = self.post(thread_id, "stream", body)
        assert reply.status_code == 200, reply.text
        return Stream(list(frames(reply)), reply.headers)

    def state(self, thread_id: str) -> dict[str, Any]:
        return self.http.get(f"/threads/{thread_id}/state").raise_for_status().json()


def frames(reply: httpx.Response) -> Iterator[Frame]:
    return parse(iter(reply.text.split("\n")))


def events(text: str) -> list[dict[str, Any]]:
    """Of a v2 stream."""
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]
