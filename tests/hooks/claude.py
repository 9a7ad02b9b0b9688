"""Claude Code itself, from the wheel of the Agent SDK, with a home of its own and a scripted model."""

import json
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import claude_agent_sdk

from tests.hooks.hook import PROGRAM, SECONDS, Desk
from tests.hooks.messages_model import MessagesModel
from tests.servers.terminal import Terminal

BINARY = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
KEY = "sk-scripted"


class ClaudeCode:
    def __init__(
        self, desk: Desk, model: MessagesModel, *installing: str, project: str = "my-project", **variables: str
    ) -> None:
        self._desk = desk
        self.folder = desk.home / project
        self.folder.mkdir()
        self._environment = {
            **desk.environment,
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **variables,
        }
        self.install(*installing)

    def install(self, *options: str) -> None:
        command = [PROGRAM, "install", "claude-code", "--yes", *options]
        subprocess.run(command, env=self._desk.environment, check=True, capture_output=True, timeout=SECONDS)

    @property
    def settings(self) -> dict[str, Any]:
        return json.loads((self._desk.home / ".claude" / "settings.json").read_text())

    @settings.setter
    def settings(self, settings: Mapping[str, Any]) -> None:
        (self._desk.home / ".claude" / "settings.json").write_text(json.dumps(settings))

    @contextmanager
    def run(self, *options: str, prompt: tuple[str, ...] = ("go",)) -> Generator[subprocess.Popen[bytes]]:
        """Without a terminal: `claude -p`."""
        command = [str(BINARY), "-p", *prompt, "--permission-mode", "default", "--output-format", "json", *options]
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
    def terminal(self, aside: Path, mode: str = "default") -> Generator[Terminal]:
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(self.folder): project},
        }
        (self._desk.home / ".claude.json").write_text(json.dumps(known))
        command = [
            "sh",
            "-c",
            'cd "$0" && exec "$@"',
            str(self.folder),
            str(BINARY),
            "--permission-mode",
            "default",
            "go",
        ]
        with Terminal(command, aside, {**self._environment, "TERM": "screen-256color"}, size=(100, 40)) as screen:
            yield screen


def finished(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What the run told at its end."""
    stdout, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, (stdout, stderr)
    return json.loads(stdout)
