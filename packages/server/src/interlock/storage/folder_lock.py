"""One server per SQLite database: the lock that says so, held for as long as the process lives."""

import fcntl
import os
from pathlib import Path

from interlock.domain.errors import StorageUnavailable


class FolderLock:
    def __init__(self, database_file: Path) -> None:
        self._path = database_file.resolve().with_suffix(".lock")
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock; the kernel gives it back when the process ends, however it ends."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            os.close(handle)
            raise StorageUnavailable(
                f"another server (process {owner}) uses {self._path.parent}: stop it, or start this one with another "
                "--data folder"
            ) from error
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
