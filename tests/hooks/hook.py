"""The hook as an agent starts it: a process with the event on standard input; and the person whom it asks."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from tests.support.hitl import HitlClient
from tests.support.waiting import wait_for

SECONDS = 120.0
PROGRAM = str(Path(sys.executable).with_name("interlock-hook"))

Event = Mapping[str, Any]
T = TypeVar("T")


def soon(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    """Once it is right: what others wrote takes long on a busy machine."""
    return wait_for(look, is_right, SECONDS)


class Desk:
    """One person, and the agent that asks them with a key of its own."""

    def __init__(self, url: str, key: str, person: HitlClient, home: Path) -> None:
        self.url = url
        self.key = key
        self.person = person
        self.agent = HitlClient(url, key)
        self.home = home

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "INTERLOCK_URL": self.url,
            "INTERLOCK_KEY": self.key,
        }

    def waiting(self) -> list[dict[str, Any]]:
        return self.agent.everything()["pending_requests"]

    def asked(self, count: int = 1) -> list[dict[str, Any]]:
        """What this agent asks now, once it is so much."""
        return wait_for(self.waiting, lambda found: len(found) == count, SECONDS)

    def next_asked(self, *before: str) -> str:
        """The id of one that is asked now, and is none of those."""
        found = wait_for(self.waiting, lambda all_: any(one["request_id"] not in before for one in all_), SECONDS)
        return next(one["request_id"] for one in found if one["request_id"] not in before)

    def allow(self, request_id: str, **more: Any) -> None:
        self.person.respond(request_id, {"granted": True, **more})

    def deny(self, request_id: str, **more: Any) -> None:
        self.person.respond(request_id, {"granted": False, **more})

    def kill_hook(self) -> None:
        """The one that waits: as a machine does that is out of memory."""
        [number] = wait_for(self._hooks, lambda found: len(found) == 1, SECONDS)
        os.kill(number, signal.SIGKILL)

    def _hooks(self) -> list[int]:
        found: list[int] = []
        for folder in Path("/proc").glob("[0-9]*"):
            # It may have ended by now, or be somebody else's.
            with suppress(OSError):
                words, named = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
                if PROGRAM.encode() in words and f"HOME={self.home}".encode() in named:
                    found.append(int(folder.name))
        return found

    def hook(self, *arguments: str, event: Event | str | bytes, **variables: str) -> "Hook":
        return Hook(arguments, event, {**self.environment, **variables})


class Hook:
    def __init__(self, arguments: Sequence[str], event: Event | str | bytes, environment: Mapping[str, str]) -> None:
        given = event if isinstance(event, bytes) else (event if isinstance(event, str) else json.dumps(event)).encode()
        self._is_read = False
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment), cwd=environment["HOME"]
        )
        assert self.process.stdin is not None
        self.process.stdin.write(given)
        self.process.stdin.close()
        self.process.stdin = None

    def ended(self) -> subprocess.CompletedProcess[str]:
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        self._is_read = True
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, stdout.decode(), stderr.decode())

    def said(self) -> dict[str, Any]:
        """Its answer, which has to be one object and nothing else."""
        done = self.ended()
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def hang_up(self) -> None:
        """As an agent that was killed: nobody reads what the hook says."""
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self._is_read = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_read:
            self.process.kill()
            self.process.communicate(timeout=SECONDS)
        elif self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS)


def decision(said: Mapping[str, Any]) -> dict[str, Any]:
    """Of a `PermissionRequest`."""
    output = said["hookSpecificOutput"]
    assert output.keys() == {"hookEventName", "decision"}
    assert output["hookEventName"] == "PermissionRequest"
    return output["decision"]


def bash(command: str = "touch one.txt", *, session: str = "e4e4a3eb-cd17-42c5-a83e", **more: Any) -> Event:
    """A `PermissionRequest` as Claude Code sent it."""
    return {
        "session_id": session,
        "transcript_path": "/home/ann/.claude/projects/-home-ann-my-project/transcript.jsonl",
        "cwd": "/home/ann/my-project",
        "prompt_id": "67c28b32-9783-4f7e-9dc1-d57dffd9de70",
        "permission_mode": "default",
        "effort": {"level": "medium"},
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Make one"},
        "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        **more,
    }


def ran(asked: Event, **more: Any) -> Event:
    """What Claude Code tells when the call has run."""
    told = {name: value for name, value in asked.items() if name != "permission_suggestions"}
    return {**told, "hook_event_name": "PostToolUse", "tool_use_id": "toolu_1", "tool_response": {}, **more}
