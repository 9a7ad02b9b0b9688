"""What a backup is: a zip with one part of JSON lines for each table, and a manifest that says what must be in them.

A row is a JSON array in the order of its part's columns. JSON columns go as the text that they are, moments as ISO 8601
and bytes as base64, so that every value is the same again in either database. The master key is sealed under a
passphrase, and bound to the manifest that it came with.
"""

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, Table
from sqlalchemy.types import TypeEngine

from interlock.domain.canonical import canonical_json
from interlock.domain.errors import InvalidInput
from interlock.domain.moment import to_iso
from interlock.storage.schema import Json, Moment, SafeText, holds, metadata, tickets, unfollowed, waiting_runs, workers
from interlock.storage.sealing import KEY_BYTES, decrypt, derive, encrypt

FORMAT = 1
MANIFEST = "manifest.json"
SEALED_KEY = "key.sealed"
LEFT_OUT: tuple[Table, ...] = (holds, tickets, unfollowed, waiting_runs, workers)
"""What counts for moments only: credentials that can be used once, signs of life and questions about them, and runs
that wait their turn: they may have run since, and must not do so again."""
SHORTEST_PASSPHRASE = 12
_KEY_VERSION = b"\x01"
_SALT_BYTES = 16
# A hundred megabytes and some tenths of a second for each guess.
_COST = 2**17


def backup_tables() -> list[Table]:
    return [table for table in metadata.sorted_tables if table not in LEFT_OUT]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value: how it goes into a part and comes out again, and the type of its column."""

    type: TypeEngine[Any]
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _exactly(*types: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError(f"{type(value).__name__} in the place of {types[0].__name__}")
        return value

    return read


def _moment(value: str) -> datetime:
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError("a moment without its zone")
    return at.astimezone(UTC)


def _same(value: Any) -> Any:
    return value


KINDS: Mapping[str, Kind] = {
    "text": Kind(SafeText(), _same, _exactly(str)),
    "json": Kind(SafeText(), _same, _exactly(str)),
    "integer": Kind(BigInteger(), _same, _exactly(int)),
    "float": Kind(Float(), float, _exactly(float)),
    "boolean": Kind(Boolean(), bool, _exactly(bool)),
    "moment": Kind(Moment(), to_iso, _moment),
    "bytes": Kind(
        LargeBinary(),
        lambda value: base64.b64encode(value).decode("ascii"),
        lambda value: base64.b64decode(value, validate=True),
    ),
}
_KIND_OF_TYPE: Sequence[tuple[type[TypeEngine[Any]], str]] = (
    (Json, "json"),
    (Moment, "moment"),
    (SafeText, "text"),
    (LargeBinary, "bytes"),
    (Boolean, "boolean"),
    (Float, "float"),
    (Integer, "integer"),
)


def kind_of(column: Column[Any]) -> str:
    return next(kind for known, kind in _KIND_OF_TYPE if isinstance(column.type, known))


def line_of(kinds: Sequence[Kind], row: Sequence[Any]) -> bytes:
    values = [None if value is None else kind.write(value) for kind, value in zip(kinds, row, strict=True)]
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def row_of(columns: Mapping[str, str], line: bytes) -> dict[str, Any]:
    """The row, by column; `ValueError` or `TypeError` when the line is not one of such a part."""
    values: Any = json.loads(line)
    if type(values) is not list:
        raise TypeError("a line that is no row")
    pairs = zip(columns.items(), cast("list[Any]", values), strict=True)
    return {name: None if value is None else KINDS[kind].read(value) for (name, kind), value in pairs}


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    columns: Mapping[str, str]
    """By name, in the order of a row, the kind of its values."""
    rows: int
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.name}.jsonl"

    @property
    def fields(self) -> dict[str, Any]:
        return {"name": self.name, "columns": dict(self.columns), "rows": self.rows, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Manifest:
    version: str
    """Of the Interlock that made it."""
    revision: str
    """Of the schema."""
    taken_at: datetime
    parts: tuple[Part, ...]
    mac: str = field(default="", repr=False)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": self.version,
            "revision": self.revision,
            "taken_at": to_iso(self.taken_at),
            "parts": [part.fields for part in self.parts],
        }

    @property
    def audit_record(self) -> dict[str, Any]:
        """What the audit trail keeps of it."""
        return {"taken_at": to_iso(self.taken_at), "revision": self.revision, "rows": self.rows, "mac": self.mac}

    def mac_under(self, audit_key: bytes) -> str:
        """Under a key that is in no backup in clear: whoever can write to a file alone cannot make a backup of it."""
        return hmac.digest(derive(audit_key, "backup"), canonical_json(self.fields).encode(), "sha256").hex()

    def encode(self) -> bytes:
        # In the order of the columns, which is that of the rows.
        return json.dumps({**self.fields, "mac": self.mac}, ensure_ascii=True, indent=1).encode("ascii") + b"\n"


def manifest_of(text: bytes) -> Manifest:
    """`ValueError`, `TypeError` or `KeyError` when it is no manifest of this format."""
    fields: Any = json.loads(text)
    parts = [
        Part(
            _text(part["name"]),
            {_text(name): _check_kind(kind) for name, kind in part["columns"].items()},
            int(part["rows"]),
            _text(part["sha256"]),
        )
        for part in fields["parts"]
    ]
    return Manifest(
        _text(fields["version"]),
        _text(fields["revision"]),
        _moment(fields["taken_at"]),
        tuple(parts),
        _text(fields["mac"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("another type than a manifest has")
    return value


def _check_kind(kind: Any) -> str:
    if kind not in KINDS:
        raise ValueError("a kind of column that is not known")
    return kind


def seal_key(key: bytes, passphrase: str, manifest: bytes) -> bytes:
    check_passphrase(passphrase)
    salt = os.urandom(_SALT_BYTES)
    return _KEY_VERSION + salt + encrypt(_cipher(passphrase, salt), key, _bind(manifest))


def unseal_key(sealed: bytes, passphrase: str, manifest: bytes) -> bytes:
    """The key; `InvalidInput` with another passphrase, or beside another manifest."""
    salt, rest = sealed[1 : 1 + _SALT_BYTES], sealed[1 + _SALT_BYTES :]
    try:
        if sealed[:1] != _KEY_VERSION or len(salt) != _SALT_BYTES:
            raise ValueError("no key of this format")
        key = decrypt(_cipher(passphrase, salt), rest, _bind(manifest))
    except (InvalidTag, ValueError) as error:
        raise InvalidInput(
            "the key in the backup does not open: the passphrase is another, or the file was changed"
        ) from error
    if len(key) != KEY_BYTES:
        raise InvalidInput("what is sealed in the backup is no key")
    return key


def check_passphrase(passphrase: str) -> None:
    if len(passphrase) < SHORTEST_PASSPHRASE:
        least = f"{SHORTEST_PASSPHRASE} characters at the least"
        raise InvalidInput(f"the passphrase needs {least}: whoever has the file may guess")


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    text = passphrase.encode("utf-8", "surrogatepass")
    return AESGCM(Scrypt(salt=salt, length=KEY_BYTES, n=_COST, r=8, p=1).derive(text))


def _bind(manifest: bytes) -> bytes:
    return _KEY_VERSION + hashlib.sha256(manifest).digest()
