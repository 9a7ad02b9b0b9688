"""What this session has asked and not yet been told, in files: one hook asks, another hears of the end of the call.

A call that a person allowed is noted too, until it has run: of two calls that are alike, only the one that was answered
at the terminal is withdrawn.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from interlock_client.hook.call import End, object_of

OPEN, SETTLED, RUNS = ".open", ".settled", ".runs"
LONGEST_SESSION = 30 * 86_400.0
"""Seconds without a call, after which nobody asks for what was noted."""


class Note(NamedTuple):
    """One call that a person is asked about."""

    file: Path
    about: dict[str, Any]
    """The digest of the call, its turn, and whether a subagent makes it."""

    def write_request(self, request_id: str) -> None:
        """Write which request it is."""
        with suppress(OSError):
            _write(self.file, {**self.about, "request_id": request_id})

    @property
    def is_settled(self) -> bool:
        """Whether the terminal's answer was heard of."""
        return self.file.with_suffix(SETTLED).exists()

    def release(self, runs: str = "") -> None:
        """It is answered; `runs` is the call that is run now, if any is."""
        with suppress(OSError):
            if runs and not self.is_settled:
                _write(self.file.with_suffix(RUNS), {**self.about, "call": runs})
            for suffix in (OPEN, SETTLED):
                self.file.with_suffix(suffix).unlink(missing_ok=True)


class Notes:
    """Those of one session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, call: str, prompt: str, *, by_subagent: bool) -> Note:
        """A new one. Where it cannot be written, the request is still asked."""
        name = f"{time.time_ns():020}-{os.urandom(4).hex()}{OPEN}"
        note = Note(self._folder / name, {"call": call, "prompt": prompt, "subagent": by_subagent})
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(note.file, note.about)
        return note

    def record_end(self, end: End) -> list[str]:
        """The requests to withdraw."""
        if end.call:
            return self._ran(end.call)
        for file in self._files(RUNS):
            if _is_of(end, file):
                _remove(file)
        ended = [file for file in self._files(OPEN) if _is_of(end, file)]
        return [request for file in ended if _claim(file) for request in _request_of(file)]

    def _ran(self, call: str) -> list[str]:
        """None where a person allowed it here."""
        for file in self._files(RUNS):
            if _read(file).get("call") == call and _remove(file):
                return []
        for file in self._files(OPEN):
            if _read(file).get("call") == call and _claim(file):
                return _request_of(file)
        return []

    def forget(self) -> None:
        import shutil

        shutil.rmtree(self._folder, ignore_errors=True)
        # Those of sessions that were killed, and told nobody of their end.
        before = time.time() - LONGEST_SESSION
        for folder in _entries(self._folder.parent):
            with suppress(OSError):
                if folder.stat().st_mtime < before:
                    shutil.rmtree(folder, ignore_errors=True)

    def _files(self, suffix: str) -> list[Path]:
        return [file for file in _entries(self._folder) if file.suffix == suffix]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_of(end: End, file: Path) -> bool:
    about = _read(file)
    return end.is_of(str(about.get("prompt") or ""), by_subagent=about.get("subagent") is True)


def _claim(file: Path) -> bool:
    """Whether this is the first to say that it is settled."""
    try:
        file.with_suffix(SETTLED).touch(exist_ok=False)
    except OSError:
        return False
    return True


def _request_of(file: Path) -> list[str]:
    """Read after it was claimed: who asks writes the id, and then looks for the claim."""
    request_id = _read(file).get("request_id")
    return [request_id] if isinstance(request_id, str) else []


def _read(file: Path) -> dict[str, Any]:
    try:
        return object_of(json.loads(file.read_text())) or {}
    except (OSError, ValueError):
        return {}


def _write(file: Path, data: dict[str, Any]) -> None:
    written = file.with_name(f".{file.name}-{os.urandom(4).hex()}")
    written.write_text(json.dumps(data))
    written.replace(file)


def _remove(file: Path) -> bool:
    try:
        file.unlink()
    except OSError:
        return False
    return True
