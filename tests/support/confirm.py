"""A client of the confirm face: one connection of one person."""

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from interlock_client.confirm import AgentEvents, ServerEvent, SystemEvents, UserEvents
from tests.support.threads import ThreadsClient
from tests.support.waiting import WAIT_SECONDS

STORY_SECONDS = 120.0
"""Of a whole story, in which something is told all the time."""

Told = dict[str, Any]

ENDS = (AgentEvents.FINAL_ANSWER, AgentEvents.INTERRUPTED, AgentEvents.ERROR, AgentEvents.SESSION_END)
"""With one of these, or with a confirmation, the agent has stopped for now."""


class ConfirmClient:
    """Every event that it is told is checked against the wire model, and kept in `told`."""

    def __init__(self, url: str, *, headers: dict[str, str] | None = None, path: str = "/ws") -> None:
        address = f"ws://{url.removeprefix('http://')}{path}"
        self.socket = connect(address, additional_headers=headers, ping_interval=None, open_timeout=WAIT_SECONDS)
        self.told: list[Told] = []
        self.session_id: str | None = None
        self.connected = self.next()
        assert self.connected["event"] == SystemEvents.CONNECTED

    def next(self) -> Told:
        """The next event, whatever it is."""
        told: Told = json.loads(self.socket.recv(timeout=WAIT_SECONDS))
        ServerEvent.model_validate(told)
        self.told.append(told)
        if told["event"] == AgentEvents.SESSION_CREATED:
            self.session_id = told["session_id"]
        return told

    def until(self, *events: str) -> list[Told]:
        """The events up to the first with one of these names, which is the last one."""
        deadline = time.monotonic() + STORY_SECONDS
        seen: list[Told] = []
        while not seen or seen[-1]["event"] not in events:
            assert time.monotonic() < deadline, f"no {events} within {STORY_SECONDS} s: {names(seen)}"
            seen.append(self.next())
        return seen

    def wait_for(self, *events: str) -> Told:
        return self.until(*events)[-1]

    def send(self, event: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"event": event, **fields}, ensure_ascii=False))

    def send_raw(self, text: str | bytes) -> None:
        self.socket.send(text)

    def create(self, **metadata: Any) -> str:
        self.send(UserEvents.CREATE_SESSION, metadata=metadata)
        return self.wait_for(AgentEvents.SESSION_CREATED)["session_id"]

    def say(self, text: str, session_id: str | None = None) -> None:
        named = session_id or self.session_id
        self.send(UserEvents.MESSAGE, content=text, **({"session_id": named} if named else {}))

    def ask(self, text: str) -> Told:
        """Say something after which the agent asks for a confirmation."""
        self.say(text)
        return self.wait_for(AgentEvents.USER_CONFIRM)

    def respond(self, step_id: str, content: Any, session_id: str | None = None) -> None:
        named = session_id or self.session_id
        self.send(UserEvents.RESPONSE, session_id=named, step_id=step_id, content=content)

    def confirm(self, step_id: str, session_id: str | None = None, **content: Any) -> None:
        self.respond(step_id, {"confirmed": True, **content}, session_id)

    def refuse(self, step_id: str, reason: str | None = None, session_id: str | None = None) -> None:
        self.respond(step_id, {"confirmed": False, **({"reason": reason} if reason else {})}, session_id)

    def cancel(self, session_id: str | None = None) -> None:
        self.send(UserEvents.CANCEL, session_id=session_id or self.session_id)

    def reconnect(self, session_id: str, last_seq: int | str | None = None, **metadata: Any) -> Told:
        """The first event of the answer; the missed ones come after it."""
        last = {} if last_seq is None else {"last_seq": last_seq}
        self.send(UserEvents.RECONNECT, session_id=session_id, metadata={**last, **metadata})
        return self.wait_for(AgentEvents.SESSION_CREATED, SystemEvents.ERROR)

    @property
    def last_seq(self) -> int:
        return max(told["seq"] for told in self.told)

    def drop(self) -> None:
        """Go as a cable that is pulled: nothing is said, and what the server sends is refused."""
        self.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close_socket()

    def closed(self) -> ConnectionClosed:
        """Read on until the server closes it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            try:
                self.next()
            except ConnectionClosed as closed:
                return closed
        raise AssertionError("the server has not closed the connection")

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def of(person: ThreadsClient, **headers: str) -> ConfirmClient:
    """The same person, with the same token, on this face."""
    mine = {"authorization": person.http.headers["authorization"], **headers}
    return ConfirmClient(str(person.http.base_url), headers=mine)


def names(told: Sequence[Told]) -> list[str]:
    return [one["event"] for one in told]


def only(told: Sequence[Told], event: str) -> list[Told]:
    return [one for one in told if one["event"] == event]
