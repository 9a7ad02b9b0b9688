"""What people do with accounts, and what is seen of it."""

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
from websockets.exceptions import ConnectionClosed

from tests.faces.account.conftest import PASSWORD
from tests.support.hitl import AGENT
from tests.support.http import client as http_client
from tests.support.sockets import joined
from tests.support.threads import ThreadsClient, bounded

ACCOUNT = "/api/v1/account"
PEOPLE = "/api/v1/people"


def sessions(person: ThreadsClient) -> list[dict[str, Any]]:
    return person.http.get(f"{ACCOUNT}/sessions").raise_for_status().json()["sessions"]


def change(person: ThreadsClient, new: str, old: str = PASSWORD) -> httpx.Response:
    return person.http.post(f"{ACCOUNT}/password", json={"old_password": old, "new_password": new})


def goes_on(person: ThreadsClient, reply: httpx.Response) -> None:
    """With what the reply gave them."""
    person.http.headers["authorization"] = f"Bearer {reply.raise_for_status().json()['access_token']}"


def is_in(person: ThreadsClient, url: str | None = None) -> bool:
    """Whether their credential holds, on that server."""
    return (
        httpx.get(f"{url or person.http.base_url}/api/v1/session", headers=person.http.headers, timeout=60).status_code
        == 200
    )


def sign_in_status(url: str, username: str, password: str) -> int:
    body = {"username": username, "password": password}
    return httpx.post(f"{url}/api/auth/login", json=body, timeout=30.0).status_code


def new_key(person: ThreadsClient, role: str = "person") -> str:
    return person.http.post("/api/v1/keys", json={"name": "laptop", "role": role}).raise_for_status().json()["key"]


def entries(root: ThreadsClient, action: str, username: str) -> list[dict[str, Any]]:
    """What the trail says was done to that person's account."""
    query = {"conversation_id": "server", "action": action, "limit": 200}
    found = root.http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]
    return [one for one in found if one["data"].get("username") == username]


def user_id(root: ThreadsClient, username: str) -> str:
    return one_of(root, username)["user_id"]


def one_of(root: ThreadsClient, username: str) -> dict[str, Any]:
    listed = root.http.get(PEOPLE).raise_for_status().json()["people"]
    return next(one for one in listed if one["username"] == username)


def delete(root: ThreadsClient, username: str) -> httpx.Response:
    return root.http.delete(f"{PEOPLE}/{user_id(root, username)}")


def set_role(root: ThreadsClient, user: str, role: str, *reviews: str) -> httpx.Response:
    return root.http.post(f"{PEOPLE}/{user}/role", json={"role": role, "reviews": list(reviews)})


def set_access(root: ThreadsClient, user: str, allowed: bool) -> httpx.Response:
    return root.http.post(f"{PEOPLE}/{user}/access", json={"allowed": allowed})


class OpenStreams:
    """A stream of a thread, one of the inbox and a socket, of one person on one server."""

    def __init__(self, person: ThreadsClient, url: str, thread_id: str) -> None:
        self.ended: list[str] = []
        self._url = url
        self._headers = dict(person.http.headers)
        self._thread_id = thread_id
        reads: list[Callable[[], None]] = [
            lambda: self._read(f"/api/stream/{thread_id}"),
            lambda: self._read("/api/v1/inbox/stream"),
            lambda: self._read(f"{AGENT}/stream?conversation_id={thread_id}"),
            self._listen,
        ]
        self.count = len(reads)
        self._open = threading.Barrier(self.count + 1)
        self._threads = [threading.Thread(target=read, daemon=True) for read in reads]
        for thread in self._threads:
            thread.start()
        self._open.wait(20)

    def _read(self, path: str) -> None:
        with (
            http_client(self._url, headers=self._headers, timeout=20.0) as http,
            http.stream("GET", path) as response,
        ):
            assert response.status_code == 200
            self._open.wait(20)
            for _ in bounded(response.iter_lines()):
                pass
        self.ended.append(path)

    def _listen(self) -> None:
        token = self._headers["authorization"].removeprefix("Bearer ")
        with joined(self._url, token, conversation_id=self._thread_id) as socket:
            self._open.wait(20)
            deadline = time.monotonic() + 30
            try:
                while time.monotonic() < deadline:
                    socket.connection.recv(timeout=20)
            except ConnectionClosed:
                self.ended.append("socket")

    def all_end(self) -> bool:
        for thread in self._threads:
            thread.join(25)
        return len(self.ended) == self.count
