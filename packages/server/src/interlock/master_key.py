"""The key that the server's own keys are sealed under: given by the operator, or made once and kept beside the data."""

import hashlib
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from interlock.config import Config
from interlock.domain.errors import InvalidInput
from interlock.storage.key_ring import MasterKey

KEY_BYTES = 32
SHORTEST = 16


def master_key(config: Config) -> MasterKey:
    """Where this server's master key is; it is not read yet."""
    if config.secret_key is not None:
        return GivenKey(config.secret_key)
    return KeyFile(config.data / "secret.key")


def master_key_to_rotate(config: Config) -> MasterKey:
    """The same, together with where its successor comes from."""
    given, new = config.secret_key, config.new_secret_key
    if given is None:
        if new is not None:
            raise InvalidInput(
                "INTERLOCK_NEW_SECRET_KEY goes with INTERLOCK_SECRET_KEY, which is not set; the key is in "
                f"{config.data / 'secret.key'}, for which the new one is made here: unset INTERLOCK_NEW_SECRET_KEY"
            )
        return master_key(config)
    if new is None:
        raise InvalidInput("set INTERLOCK_NEW_SECRET_KEY to the new key, and leave INTERLOCK_SECRET_KEY as it is")
    if new == given:
        raise InvalidInput("INTERLOCK_NEW_SECRET_KEY is the same as INTERLOCK_SECRET_KEY")
    return GivenKey(given, new)


@contextmanager
def replace_master_key(config: Config, key: bytes) -> Generator[None]:
    """Have this key, which came out of a backup, be the master key from now on; not if the block raises."""
    if config.secret_key is not None:
        if GivenKey(config.secret_key).current() != key:
            raise InvalidInput("INTERLOCK_SECRET_KEY is not the key in the backup: unset it, or set it to that one")
        yield
        return
    file = config.data / "secret.key"
    present = KeyFile(file).current()
    if present is not None and present != key:
        raise InvalidInput(f"{file} is another key than the one in the backup: restore with another --data folder")
    if present is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, key)
    try:
        yield
    except BaseException:
        if present is None:
            file.unlink(missing_ok=True)
        raise


class GivenKey:
    """From the environment. Only the operator can put another one there."""

    def __init__(self, given: str, new: str | None = None) -> None:
        self._present = _digest("INTERLOCK_SECRET_KEY", given)
        self._new = None if new is None else _digest("INTERLOCK_NEW_SECRET_KEY", new)

    def current(self) -> bytes:
        return self._present

    def pending(self) -> bytes | None:
        return self._new

    def make(self) -> bytes:
        return self._present

    def prepare(self) -> bytes:
        assert self._new is not None, "whoever rotates has checked that there is one"
        return self._new

    def promote(self) -> None: ...

    def discard(self) -> None: ...

    def advice(self) -> str:
        return (
            "INTERLOCK_SECRET_KEY is not the key that this database was last used with: set it to that one (after "
            "`interlock secrets rotate` it is the new one), or, if the server ran without it, unset it and have the "
            "secret.key of that time in the data folder"
        )


def _digest(name: str, text: str) -> bytes:
    if len(text) < SHORTEST:
        raise InvalidInput(f"{name} needs {SHORTEST} characters at the least; 64 random ones are best")
    return hashlib.sha256(text.encode()).digest()


class KeyFile:
    """In a file of the data folder. A rotation writes the next one beside it, and renames it once it counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = path.with_name(f"{path.name}.next")

    def current(self) -> bytes | None:
        try:
            mode = self._path.stat().st_mode
        except FileNotFoundError:
            return None
        if stat.S_IMODE(mode) & 0o077:
            raise InvalidInput(f"{self._path} can be read by others: run chmod 600 on it")
        key = self._path.read_bytes()
        if len(key) != KEY_BYTES:
            raise InvalidInput(f"{self._path} does not hold a key; without the right one nothing sealed can be read")
        return key

    def pending(self) -> bytes | None:
        try:
            key = self._next.read_bytes()
        except FileNotFoundError:
            return None
        # A shorter one was being written when its process died; nothing is sealed under that.
        return key if len(key) == KEY_BYTES else None

    def make(self) -> bytes:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return _write(self._path, secrets.token_bytes(KEY_BYTES))

    def prepare(self) -> bytes:
        self.discard()
        return _write(self._next, secrets.token_bytes(KEY_BYTES))

    def promote(self) -> None:
        self._next.replace(self._path)
        _sync_folder(self._path.parent)

    def discard(self) -> None:
        self._next.unlink(missing_ok=True)

    def advice(self) -> str:
        what = "is not the key that this database was last used with" if self._path.exists() else "is missing"
        return (
            f"{self._path} {what}: restore the secret.key of the time when the server last ran on this database (after "
            "`interlock secrets rotate` it is the new one), or set INTERLOCK_SECRET_KEY if it ran with that"
        )


def _write(path: Path, key: bytes) -> bytes:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)
    return key


def _sync_folder(folder: Path) -> None:
    """The name of a file is on the disk only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
