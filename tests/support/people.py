"""People with an account on a server. Each signs in once: hashing passwords is slow on purpose."""

from typing import Self

from tests.support.threads import ThreadsClient

FIRST = "root"
"""Who registers first, and so is the admin."""


class People:
    def __init__(self, url: str) -> None:
        self._url = url
        self._signed_in: dict[str, ThreadsClient] = {}
        self._others: list[ThreadsClient] = []

    def named(self, username: str) -> ThreadsClient:
        if username != FIRST:
            self.named(FIRST)
        if username not in self._signed_in:
            self._signed_in[username] = ThreadsClient(self._url, username).sign_in()
        return self._signed_in[username]

    def again(self, username: str) -> ThreadsClient:
        """The same person and token on a connection of its own, for doing several things at once."""
        client = self.named(username).at(self._url)
        self._others.append(client)
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in (*self._signed_in.values(), *self._others):
            client.http.close()
