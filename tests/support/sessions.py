"""A client of the sessions face, as a program written for it would be one."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import httpx

from interlock_client import sessions as wire
from tests.support.http import client as http_client
from tests.support.puppet import Turn, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import WAIT_SECONDS, wait_for


class SessionsClient:
    """Somebody with a session; their credential, where one is needed, is in the headers."""

    def __init__(self, url: str, user_id: str, headers: httpx.Headers | None = None) -> None:
        self.http = http_client(url, headers=headers)
        self.user_id = user_id
        self.session_id = ""
        self._others: list[SessionsClient] = []

    def try_invoke(self, query: str, **fields: Any) -> httpx.Response:
        return self.http.post("/agent/invoke", json={"user_id": self.user_id, "query": query, **fields})

    def invoke(self, *turns: Turn, **fields: Any) -> dict[str, Any]:
        """Let the puppet take these turns."""
        response = response_of(self.try_invoke(script(*turns), **fields))
        self.session_id = response["session_id"]
        return response

    def try_resume(self, how: str, args: Any = None, **fields: Any) -> httpx.Response:
        body = {"user_id": self.user_id, "session_id": self.session_id, "response_type": how, "args": args}
        return self.http.post("/agent/resume", json=body | fields)

    def resume(self, how: str, args: Any = None, **fields: Any) -> dict[str, Any]:
        return response_of(self.try_resume(how, args, **fields))

    def status(self) -> dict[str, Any]:
        reply = self.http.get(f"/agent/status/{self.user_id}").raise_for_status()
        body = reply.json()
        assert body.keys() == wire.SessionStatusResponse.model_fields.keys()
        wire.SessionStatusResponse.model_validate(body)
        return body

    def wait_for(self, state: str) -> dict[str, Any]:
        """The status once the session has come to that state."""
        return wait_for(self.status, lambda status: status["status"] == state)

    def delete(self) -> httpx.Response:
        return self.http.delete(f"/agent/session/{self.user_id}")

    def info(self) -> dict[str, Any]:
        return self.http.get("/system/info").raise_for_status().json()

    def again(self) -> "SessionsClient":
        """The same user on a connection of their own, for doing several things at once."""
        other = SessionsClient(str(self.http.base_url), self.user_id, self.http.headers)
        other.session_id = self.session_id
        self._others.append(other)
        return other

    def close(self) -> None:
        for one in self._others:
            one.close()
        self.http.close()


def response_of(reply: httpx.Response) -> dict[str, Any]:
    """An agent's response; it has to be one of the three."""
    body = reply.json()
    assert reply.status_code == 200, body
    assert body.keys() == wire.AgentResponse.model_fields.keys()
    wire.AgentResponse.model_validate(body)
    assert isinstance(body["timestamp"], float)
    told = {"error": "message", "completed": "result", "interrupted": "interrupt_data"}
    given = {name for name in told.values() if body[name] is not None}
    assert given == {told[body["status"]]}, body
    return body


def of(person: ThreadsClient) -> SessionsClient:
    """The same person, with the same token, on this face."""
    return SessionsClient(str(person.http.base_url), person.username, person.http.headers)


@contextmanager
def left_alone(user: SessionsClient, path: str, body: dict[str, Any]) -> Generator[None]:
    """A call whose client is gone when the block ends, without having read a word."""
    request = user.http.build_request("POST", path, json=body)
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items())]
    with socket.create_connection((request.url.host, request.url.port or 0), timeout=WAIT_SECONDS) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + request.content)
        yield
