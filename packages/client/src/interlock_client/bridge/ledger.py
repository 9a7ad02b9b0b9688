"""What a process asks now, in a file: one that is killed withdraws nothing, and the next one does that in its place."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from interlock_client.hook.call import list_of, object_of

SUFFIX = ".asks"


class Ledger:
    """Of one process, which holds a lock on it for as long as it lives."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self._requests: set[str] = set()
        self._file: Path | None = None
        self._handle: IO[str] | None = None

    def add(self, request_id: str) -> None:
        self._requests.add(request_id)
        self._write()

    def remove(self, request_id: str) -> None:
        """It is settled."""
        self._requests.discard(request_id)
        self._write()

    def close(self) -> None:
        """What is still in it is left for the next one."""
        if self._handle is None or self._file is None:
            return
        if not self._requests:
            with suppress(OSError):
                self._file.unlink()
        self._handle.close()
        self._handle = None

    def left(self) -> list[str]:
        """The requests of processes that were killed, each told to one caller only."""
        found: list[str] = []
        for file in _files(self._folder):
            found += self._take(file)
        return found

    def _take(self, file: Path) -> list[str]:
        with suppress(OSError), file.open() as handle:
            if not _lock(handle):
                return []
            said = _read(handle)
            if said.get("url") in (None, self._url):
                file.unlink()
                return [one for one in list_of(said.get("requests")) if isinstance(one, str)]
        return []

    def _write(self) -> None:
        """Where it cannot be written, people are asked all the same."""
        with suppress(OSError):
            if self._handle is None:
                self._open()
            assert self._handle is not None
            self._handle.seek(0)
            self._handle.truncate()
            json.dump({"url": self._url, "requests": sorted(self._requests)}, self._handle)
            self._handle.flush()

    def _open(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{os.getpid()}-{os.urandom(8).hex()}"
        # Nobody looks at it before it is locked.
        begun = self._folder / name
        self._handle = begun.open("w")
        _lock(self._handle)
        self._file = begun.rename(self._folder / f"{name}{SUFFIX}")


def _lock(handle: IO[Any]) -> bool:
    """Whether nobody else has it. There are no such locks on Windows, where nothing is found that was left."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _read(handle: IO[str]) -> dict[str, Any]:
    """Nothing of one whose process was killed while it wrote."""
    try:
        return object_of(json.load(handle)) or {}
    except ValueError:
        return {}


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == SUFFIX)
    except OSError:
        return []
