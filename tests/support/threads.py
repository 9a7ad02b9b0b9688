"""A client of the threads face, as a person's front end would be one."""

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.http import client as http_client
from tests.support.waiting import wait_for

STREAM_SECONDS = 90.0


@dataclass
class Frame:
    event: str
    data: dict[str, Any]
    id: str | None = None


@dataclass
class Reply:
    """A whole stream, or the error in its place."""

    status: int
    frames: list[Frame] = field(default_factory=list[Frame])
    body: Any = None
    headers: httpx.Headers = field(default_factory=httpx.Headers)

    @property
    def events(self) -> list[str]:
        return [frame.event for frame in self.frames]

    def first(self, event: str) -> dict[str, Any]:
        return next(frame.data for frame in self.frames if frame.event == event)

    @property
    def text(self) -> str:
        text = ""
        for frame in self.frames:
            if frame.event == "messages/partial":
                text = frame.data["content"] if frame.data.get("reset") else text + frame.data["content"]
        return text


def bounded(lines: Iterator[str]) -> Iterator[str]:
    """A stream whose signs of life would keep a test waiting for ever fails it instead."""
    deadline = time.monotonic() + STREAM_SECONDS
    for line in lines:
        assert time.monotonic() < deadline, f"the stream is still open after {STREAM_SECONDS} s"
        yield line


def parse(lines: Iterator[str]) -> Iterator[Frame]:
    """Frames of an event stream; comments are left out."""
    fields: dict[str, str] = {}
    for line in lines:
        if line == "":
            if "data" in fields:
                yield Frame(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


class ThreadsClient:
    """One signed-in person."""

    def __init__(self, url: str, username: str = "alice", password: str = "wonderland") -> None:
        self.http = http_client(url)
        self.username = username
        self.password = password

    def sign_in(self, *, register: bool = True) -> "ThreadsClient":
        credentials = {"username": self.username, "password": self.password}
        if register:
            # All people of a run come from one address, which may make only so many accounts a minute.
            wait_for(
                lambda: self.http.post("/api/auth/register", json=credentials), lambda reply: reply.status_code != 429
            )
        token = self.http.post("/api/auth/login", json=credentials).raise_for_status().json()["access_token"]
        self.http.headers["authorization"] = f"Bearer {token}"
        return self

    def at(self, url: str) -> "ThreadsClient":
        """The same person and token at the server's new address after a restart."""
        other = ThreadsClient(url, self.username, self.password)
        other.http.headers = self.http.headers
        return other

    def new_thread(self, agent: str | None = None) -> str:
        body = {} if agent is None else {"agent": agent}
        return self.http.post("/api/sessions", json=body).raise_for_status().json()["thread_id"]

    def chat(self, thread_id: str, message: str, **headers: str) -> Reply:
        return self._post(f"/api/chat/{thread_id}", {"message": message}, headers)

    def resume(self, thread_id: str, action: str, **fields: Any) -> Reply:
        return self._post(f"/api/resume/{thread_id}", {"action": action, **fields}, {})

    def resume_as(self, thread_id: str, action: str, headers: dict[str, str]) -> Reply:
        """As a browser does it, which says where a request comes from."""
        return self._post(f"/api/resume/{thread_id}", {"action": action}, headers)

    def status(self, thread_id: str) -> dict[str, Any]:
        return self.http.get(f"/api/status/{thread_id}").raise_for_status().json()

    def history(self, thread_id: str) -> list[dict[str, str]]:
        return self.http.get(f"/api/history/{thread_id}").raise_for_status().json()["messages"]

    @contextmanager
    def stream(self, thread_id: str, last_event_id: str | None = None) -> Generator[Iterator[Frame]]:
        headers = {} if last_event_id is None else {"last-event-id": last_event_id}
        with self.http.stream("GET", f"/api/stream/{thread_id}", headers=headers) as response:
            response.raise_for_status()
            yield parse(bounded(response.iter_lines()))

    def wait_for_status(self, thread_id: str, wanted: str) -> dict[str, Any]:
        return self.wait_for(lambda: self.status(thread_id), lambda status: status["status"] == wanted)

    def wait_for_rest(self, thread_id: str) -> None:
        """Until nothing runs and nobody is waited for: what runs is "idle" too by its status at this face."""
        self.wait_for(lambda: self.state(thread_id), lambda state: state == "idle")

    def state(self, thread_id: str) -> str | None:
        """idle, running or waiting; None of a conversation that is not theirs, or long ago."""
        recent = self.http.get("/api/v1/inbox/conversations").raise_for_status().json()["conversations"]
        return next((one["state"] for one in recent if one["conversation_id"] == thread_id), None)

    def wait_for(self, look: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
        return wait_for(look, is_right)

    def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self.http.stream("POST", path, json=body, headers=headers) as response:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return Reply(
                    response.status_code, list(parse(bounded(response.iter_lines()))), headers=response.headers
                )
            response.read()
            return Reply(response.status_code, body=response.json(), headers=response.headers)
