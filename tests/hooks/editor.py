"""An editor of the Agent Client Protocol, for the tests: it starts an agent through `interlock acp`."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self

from tests.hooks.hook import SECONDS, Desk

INTERLOCK = str(Path(sys.executable).with_name("interlock"))

Message = dict[str, Any]


class Editor:
    def __init__(self, desk: Desk, command: Sequence[str], folder: Path, *options: str, **variables: str) -> None:
        self._start([INTERLOCK, "acp", *options, "--", *command], {**desk.environment, **variables}, folder)

    @classmethod
    def by_settings(cls, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Self:
        """Started as its settings say."""
        editor = cls.__new__(cls)
        editor._start(command, environment, folder)
        return editor

    def _start(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.folder = folder
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment), cwd=folder
        )
        self._ids = count(1)
        self._heard: queue.Queue[Message] = queue.Queue()
        self._aside: list[Message] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._heard.put(json.loads(line))

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> int:
        number = next(self._ids)
        self.send(id=number, method=method, params=params)
        return number

    def result(self, number: int, seconds: float = SECONDS) -> Message:
        """Of a request of ours."""
        found = self._find(lambda one: one.get("id") == number and "method" not in one, seconds)
        assert "result" in found, found
        return found["result"]

    def asked(self) -> Message:
        """The next permission that the agent asks for."""
        return self._find(lambda one: one.get("method") == "session/request_permission")

    def cancelled(self) -> Any:
        """The next request whose dialog is to go away."""
        return self._find(lambda one: one.get("method") == "$/cancel_request")["params"]["requestId"]

    def _find(self, is_right: Callable[[Message], bool], seconds: float = SECONDS) -> Message:
        for message in self._aside:
            if is_right(message):
                self._aside.remove(message)
                return message
        while True:
            message = self._heard.get(timeout=seconds)
            if is_right(message):
                return message
            self._aside.append(message)

    def choose(self, asked: Message, kind: str) -> None:
        [option] = [one["optionId"] for one in asked["params"]["options"] if one["kind"] == kind]
        self.send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": option}})

    def begin(self, seconds: float = SECONDS) -> str:
        """The id of a new session."""
        self.result(self.request("initialize", protocolVersion=1, clientCapabilities={}), seconds)
        return self.result(self.request("session/new", cwd=str(self.folder), mcpServers=[]), seconds)["sessionId"]

    def prompt(self, session: str, text: str) -> int:
        return self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def calls(self, *calls: Mapping[str, Any]) -> int:
        """A turn of the tests' own agent."""
        return self.prompt("s1", json.dumps(calls))

    def outcomes(self, number: int) -> dict[str, list[Any]]:
        """How the calls of that turn came out."""
        return self.result(number)["_meta"]["outcomes"]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ended(self) -> tuple[int, str]:
        """The exit code, and what was said aside."""
        assert self.process.stderr is not None
        code = self.process.wait(SECONDS)
        return code, self.process.stderr.read().decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        self._thread.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
