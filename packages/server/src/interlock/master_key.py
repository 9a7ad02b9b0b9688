"""The key behind secrets, tokens and the audit trail: given by the operator, or made once and kept beside the data."""

import hashlib
import os
import secrets
import stat
from pathlib import Path

from interlock.config import Config
from interlock.domain.errors import InvalidInput

KEY_BYTES = 32
SHORTEST = 16


def master_key(config: Config) -> bytes:
    """32 bytes, the same at every start."""
    if config.secret_key is not None:
        if len(config.secret_key) < SHORTEST:
            raise InvalidInput(
                f"INTERLOCK_SECRET_KEY needs {SHORTEST} characters at the least; 64 random ones are best"
            )
        return hashlib.sha256(config.secret_key.encode()).digest()
    return _kept(config.data / "secret.key")


def _kept(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(handle, "wb") as file:
        key = secrets.token_bytes(KEY_BYTES)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key


def _read(path: Path) -> bytes:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InvalidInput(f"{path} can be read by others: run chmod 600 on it")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise InvalidInput(f"{path} does not hold a key; without the right one nothing sealed can be read")
    return key
