"""The stages and servers of the other folders, which these tests share."""

from tests.faces.conftest import alice, bob, people, root, server, thread, witness
from tests.faces.langgraph.conftest import client, graphs
from tests.runners.conftest import host, strict

__all__ = ["alice", "bob", "client", "graphs", "host", "people", "root", "server", "strict", "thread", "witness"]
