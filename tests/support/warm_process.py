"""A process that has imported Interlock, and runs its command in a fork: that costs its own work, not the imports.

`python -m tests.support.warm_process SOCKET`. Each connection asks for one run of the command, is told its process
id, and then how it ended.
"""

import gc
import json
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any

IMPORTED = (
    "interlock_client.cli.main",
    "interlock.cli.serving",
    "interlock.agents.demo.agent",
    "interlock.faces.app",
    "interlock.faces.web.pages",
    "interlock.metrics",
    "interlock.runners.hosting",
    "interlock.runners.loading",
    "interlock.runners.local",
    "interlock.runners.remote",
    "interlock.services.requests.deadlines",
    "interlock.services.webhooks.sender",
    "interlock.storage.checkpoints",
    "psycopg",
)


class Warm:
    def __init__(self, address: str) -> None:
        # As the server sets it before it imports them.
        os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
        for module in IMPORTED:
            import_module(module)
        _hash_lightly()
        gc.freeze()
        self._asking: dict[int, socket.socket] = {}
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen(64)
        signal.signal(signal.SIGCHLD, self._reap)

    def serve(self) -> dict[str, Any]:
        """Until it is killed. It returns in a fork only: what that is to do."""
        while True:
            connection, _ = self._listening.accept()
            with connection.makefile("r") as lines:
                asked = lines.readline()
            if not asked.strip():
                # Somebody who wanted to know whether it is there.
                connection.close()
                continue
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            pid = os.fork()
            if pid == 0:
                self._leave(connection)
                return json.loads(asked)
            self._asking[pid] = connection
            connection.sendall(f"{pid}\n".encode())
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])

    def _reap(self, _signal: int, _frame: FrameType | None) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                connection = self._asking.pop(pid)
                with suppress(OSError), connection:
                    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def _leave(self, connection: socket.socket) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        for one in (connection, self._listening, *self._asking.values()):
            one.close()


def _hash_lightly() -> None:
    """Hashing a password takes a third of a second, by design; the tests make hundreds of people, and sign them in."""
    passwords = import_module("interlock.passwords")
    lightly = partial(passwords.PasswordHasher, time_cost=1, memory_cost=1_024, parallelism=1)
    vars(passwords)["PasswordHasher"] = lightly


def _become(asked: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    for name, bounds in asked["limits"].items():
        resource.setrlimit(getattr(resource, name), tuple(bounds))
    for number, (path, flags) in enumerate(
        [
            (asked["stdin"], os.O_RDONLY),
            (asked["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (asked["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        ]
    ):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["interlock", *asked["arguments"]]


if __name__ == "__main__":
    _become(Warm(sys.argv[1]).serve())
    import_module("interlock_client.cli.entry").run()
