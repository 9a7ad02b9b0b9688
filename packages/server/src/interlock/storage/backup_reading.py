"""Read a backup, whatever was done to the file meanwhile."""

import hashlib
import json
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from interlock.domain.errors import InvalidInput
from interlock.storage.backup_format import (
    FORMAT,
    MANIFEST,
    SEALED_KEY,
    Manifest,
    Part,
    manifest_of,
    row_of,
    unseal_key,
)
from interlock.storage.migrate import is_known

LARGEST = 16 * 1024 * 1024
"""Of the manifest, in bytes."""
_DAMAGE = (
    BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    TypeError,
)


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A backup whose manifest could be read. `rows` checks each part against it, and raises before it has ended."""

    path: Path
    archive: ZipFile
    manifest: Manifest
    spelled: bytes
    """The manifest as the file has it."""
    sealed_key: bytes | None

    def rows(self, part: Part) -> Iterator[dict[str, Any]]:
        count, summed = 0, hashlib.sha256()
        try:
            with self.archive.open(part.file) as lines:
                for line in lines:
                    summed.update(line)
                    count += 1
                    yield row_of(part.columns, line)
        except _DAMAGE as error:
            raise self.damage_error(part) from error
        if (count, summed.hexdigest()) != (part.rows, part.sha256):
            raise self.damage_error(part)

    def check(self) -> None:
        """Read all of it once; `InvalidInput` that names the part when something is not as it was written."""
        for part in self.manifest.parts:
            for _ in self.rows(part):
                pass

    def key(self, passphrase: str) -> bytes:
        if self.sealed_key is None:
            raise InvalidInput(f"{self.path} holds no key: leave out the passphrase, and have the server's key here")
        return unseal_key(self.sealed_key, passphrase, self.spelled)

    def damage_error(self, part: Part) -> InvalidInput:
        return InvalidInput(f"{self.path} is damaged: its part {part.name!r} is not what was written")


@contextmanager
def open_backup(path: Path) -> Generator[BackupFile]:
    try:
        archive = ZipFile(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise InvalidInput(f"{path} is no backup, or was cut off") from error
    with archive:
        manifest_text = _read(archive, path, MANIFEST)
        manifest = _manifest(path, manifest_text)
        has_key = SEALED_KEY in archive.namelist()
        names = [MANIFEST, *(part.file for part in manifest.parts), *([SEALED_KEY] if has_key else [])]
        if sorted(archive.namelist()) != sorted(names):
            raise InvalidInput(f"{path} is damaged: its parts are not those that its manifest names")
        yield BackupFile(path, archive, manifest, manifest_text, _read(archive, path, SEALED_KEY) if has_key else None)


def _read(archive: ZipFile, path: Path, name: str) -> bytes:
    try:
        with archive.open(name) as part:
            text = part.read(LARGEST + 1)
    except _DAMAGE as error:
        raise InvalidInput(f"{path} is no backup, or is damaged: {name} cannot be read") from error
    if len(text) > LARGEST:
        raise InvalidInput(f"{path} is no backup: its {name} is too large")
    return text


def _manifest(path: Path, text: bytes) -> Manifest:
    try:
        written: Any = json.loads(text)["format"]
        if isinstance(written, int) and written > FORMAT:
            raise _newer(path)
        manifest = manifest_of(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{path} is no backup, or is damaged: its manifest cannot be read") from error
    if not is_known(manifest.revision):
        raise _newer(path)
    return manifest


def _newer(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} was made by a newer version: restore it with that one, or a later one")
