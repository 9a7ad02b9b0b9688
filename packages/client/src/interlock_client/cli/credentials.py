"""What `interlock login` keeps: a key for each server, in a file that only its owner may read."""

import json
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from interlock_client.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class StoredCredential:
    key: str = field(repr=False)
    key_id: str | None = None
    """Of a key that was made for this file, which `interlock logout` revokes."""
    user: str | None = None
    """Who signed in to make it."""


def stored_credential(file: Path, url: str) -> StoredCredential | None:
    """What is kept for the server. `InvalidInput` for a file that others may read, or that cannot be read."""
    return _all(file).get(_name(url))


def keep(file: Path, url: str, entry: StoredCredential) -> None:
    _write(file, {**_all(file), _name(url): entry})


def forget(file: Path, url: str) -> None:
    _write(file, {name: entry for name, entry in _all(file).items() if name != _name(url)})


def _name(url: str) -> str:
    return url.rstrip("/")


def _all(file: Path) -> dict[str, StoredCredential]:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            text = opened.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise InvalidInput(f"others may read {file}, which holds keys: run `chmod 600 {file}`")
    try:
        entries = cast("dict[str, dict[str, Any]]", json.loads(text))
        return {
            name: StoredCredential(str(entry["key"]), entry.get("key_id"), entry.get("user"))
            for name, entry in entries.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"{file} is not what `interlock login` wrote: remove it, and log in again") from error


def _write(file: Path, entries: dict[str, StoredCredential]) -> None:
    """All of it or nothing, and never for others to read."""
    written = ""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, written = tempfile.mkstemp(dir=file.parent, prefix=".credentials-")
        with os.fdopen(handle, "w") as opened:
            json.dump({name: asdict(entry) for name, entry in entries.items()}, opened, indent=2)
        os.replace(written, file)
    except OSError as error:
        with suppress(OSError):
            os.unlink(written)
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
