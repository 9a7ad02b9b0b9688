"""OpenCode's own server, from npm, with a home of its own and a scripted model; and what follows it for the inbox."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx

from tests.hooks.completions_model import CompletionsModel
from tests.hooks.hook import SECONDS, Desk
from tests.support.waiting import wait_for

PACKAGES = Path(__file__).parent / "agents" / "node_modules"
INTERLOCK = str(Path(sys.executable).with_name("interlock"))
PASSWORD = "of-opencode"
STARTING = 180.0
"""It is a big program, and the machine may be busy."""


def binary() -> Path:
    found = [file for file in PACKAGES.glob("opencode-*/bin/opencode*") if os.access(file, os.X_OK)]
    assert found, "the npm package opencode-linux-x64 is missing: `make test` installs it"
    return sorted(found, key=lambda file: "baseline" not in file.parts[-3])[0]


class Lines:
    """What a process says, line by line."""

    def __init__(self, stream: IO[str] | None) -> None:
        assert stream is not None
        self._seen: list[str] = []
        self._at = 0
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._seen.append(line)

    def close(self) -> None:
        """When the process has ended."""
        self._thread.join(SECONDS)

    def find(self, text: str, seconds: float = SECONDS) -> str:
        """The next one that has that text, once it is there."""
        found = wait_for(lambda: [*self._seen], lambda seen: any(text in line for line in seen[self._at :]), seconds)
        self._at = next(at + 1 for at, line in enumerate(found) if at >= self._at and text in line)
        return found[self._at - 1]


class OpenCode:
    """`opencode serve`."""

    def __init__(self, home: Path, model: CompletionsModel) -> None:
        self.folder = home / "my-project"
        self.folder.mkdir()
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": model.url, "apiKey": "scripted"},
            "models": {"scripted": {"name": "scripted", "tool_call": True}},
        }
        settings = {
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "share": "disabled",
            "autoupdate": False,
            "provider": {"scripted": provider},
            "permission": {"bash": "ask", "edit": "ask"},
        }
        (self.folder / "opencode.json").write_text(json.dumps(settings))
        self._model = model
        self.here = {"directory": str(self.folder)}
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENCODE_SERVER_PASSWORD": PASSWORD}
        command = [str(binary()), "serve", "--hostname", "127.0.0.1", "--port", "0"]
        self._process = subprocess.Popen(
            command, env=environment, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._lines = Lines(self._process.stdout)
        self.url = self._lines.find("listening on", STARTING).split()[-1]
        self.http = httpx.Client(base_url=self.url, auth=("opencode", PASSWORD), timeout=SECONDS)

    def prompt(self) -> str:
        """A new session, with something to do."""
        session = self.http.post("/session", params=self.here, json={}).raise_for_status().json()["id"]
        body = {"parts": [{"type": "text", "text": self._model.prompt}]}
        self.http.post(f"/session/{session}/prompt_async", params=self.here, json=body).raise_for_status()
        return session

    def asks(self, kind: str = "permission") -> list[dict[str, Any]]:
        return self.http.get(f"/{kind}", params=self.here).raise_for_status().json()

    def reply(self, asked: str, **body: Any) -> None:
        """As at its terminal."""
        kind = "permission" if asked.startswith("per") else "question"
        self.http.post(f"/{kind}/{asked}/reply", params=self.here, json=body).raise_for_status()

    def close(self) -> None:
        self._process.kill()
        self._process.wait(SECONDS)
        self._lines.close()
        self.http.close()


class Watch:
    """`interlock watch opencode`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines = Lines(process.stderr)

    def says(self, text: str) -> None:
        """Once it has, after what was waited for before."""
        self.lines.find(text)

    def ended(self) -> int:
        return self.process.wait(SECONDS)


@contextmanager
def watching(desk: Desk, opencode: OpenCode, *options: str, **variables: str) -> Generator[Watch]:
    environment = {**desk.environment, "OPENCODE_SERVER_PASSWORD": PASSWORD, **variables}
    process = subprocess.Popen(
        [INTERLOCK, "watch", "opencode", "--url", opencode.url, *options],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    watch = Watch(process)
    try:
        yield watch
    finally:
        process.kill()
        process.wait(SECONDS)
        watch.lines.close()
