"""Codex itself, from npm, with a home of its own and a scripted model."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.hooks.hook import PROGRAM, SECONDS, Desk
from tests.hooks.responses_model import ResponsesModel
from tests.servers.terminal import Terminal

PACKAGES = Path(__file__).parent / "agents" / "node_modules"
UNREVIEWED = "--dangerously-bypass-hook-trust"


def binary() -> Path:
    found = [file for file in PACKAGES.glob("@openai/codex-*/vendor/*/bin/codex*") if file.is_file()]
    assert found, "the npm package @openai/codex is missing: `make test` installs it, or `npm ci` in tests/hooks/agents"
    return found[0]


def processes_of(folder: Path) -> list[int]:
    """Those that run with a folder below as Codex' own."""
    named = f"CODEX_HOME={folder}/".encode()
    found: list[int] = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        # It may have ended by now, or be somebody else's.
        with suppress(OSError):
            if any(one.startswith(named) for one in file.read_bytes().split(b"\0")):
                found.append(int(file.parent.name))
    return found


def end_processes_of(folder: Path) -> list[int]:
    """Those that were there: at its terminal Codex starts a daemon, which outlives it."""
    found = processes_of(folder)
    for number in found:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return found


class Codex:
    def __init__(self, desk: Desk, model: ResponsesModel, *installing: str, others: str = "", **variables: str) -> None:
        self._home = desk.home / ".codex"
        self._home.mkdir()
        self.folder = desk.home / "my-project"
        self.folder.mkdir()
        self._environment = {**desk.environment, "CODEX_HOME": str(self._home), **variables}
        provider = f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model.url}"\nwire_api = "responses"\n'
        trusted = f'[projects."{self.folder}"]\ntrust_level = "trusted"\n'
        settings = (
            'model = "gpt-5"\nmodel_provider = "scripted"\napproval_policy = "on-request"\nsandbox_mode = "read-only"\n'
        )
        self.settings = self._home / "config.toml"
        self.settings.write_text(settings + provider + trusted + others)
        self.told = self.install("install", "codex", "--yes", *installing)

    def install(self, *arguments: str) -> str:
        """What the installer says."""
        path = f"{binary().parent}:{self._environment['PATH']}"
        environment = {**self._environment, "PATH": path}
        done = subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done
        return done.stdout

    def trust(self) -> None:
        """What a person does with /hooks: the hash of each hook that Codex knows, among its own settings."""
        told = {"clientInfo": {"name": "tests", "title": "Tests", "version": "0"}}
        messages = [
            {"id": 1, "method": "initialize", "params": told},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(self.folder)]}},
        ]
        pipe = subprocess.PIPE
        command = [str(binary()), "app-server"]
        # In a group of its own, so that what it starts ends with it.
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, env=self._environment, text=True, start_new_session=True
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
            server.stdin.flush()
            replies = (json.loads(line) for line in server.stdout)
            [listed] = next(reply["result"]["data"] for reply in replies if reply.get("id") == 2)
            os.killpg(server.pid, signal.SIGKILL)
        with self.settings.open("a") as settings:
            for hook in listed["hooks"]:
                settings.write(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')

    @contextmanager
    def run(self) -> Generator[subprocess.Popen[bytes]]:
        """Without a terminal, where it asks nobody: `codex exec`."""
        command = [str(binary()), "exec", "--skip-git-repo-check", UNREVIEWED, "-s", "danger-full-access", "go"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self.folder,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=SECONDS)

    @contextmanager
    def terminal(self, aside: Path, *options: str) -> Generator[Terminal]:
        start = [str(binary()), *(options or (UNREVIEWED,)), "go"]
        command = ["sh", "-c", 'cd "$0" && exec "$@"', str(self.folder), *start]
        with Terminal(command, aside, {**self._environment, "TERM": "screen-256color"}, size=(100, 40)) as screen:
            yield screen
