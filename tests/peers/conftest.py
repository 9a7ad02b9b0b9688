"""The stages and servers of the other folders, which these tests share."""

from tests.client.adapters.conftest import desk
from tests.faces.conftest import alice, bob, people, root, server, thread, witness
from tests.runners.conftest import host, strict

__all__ = [
    "alice",
    "bob",
    "desk",
    "host",
    "people",
    "root",
    "server",
    "strict",
    "thread",
    "witness",
]
