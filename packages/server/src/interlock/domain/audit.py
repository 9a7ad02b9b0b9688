"""The audit trail: chains of entries, each with a head that says where the chain ends.

An entry's hash covers the entry before, and a head's mac covers the last one, both under a key that the database does
not hold: whoever can write to the database alone can neither change an entry nor shorten a chain unseen.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from interlock.domain.canonical import canonical_json
from interlock.domain.json_value import JsonValue

SERVER_CHAIN = "server"
"""The chain of what belongs to no thread: keys, grants, webhooks, rotation."""
HEADS_MADE = "audit.heads_made"
"""The server's entry about the heads it made for chains that were older than heads."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    chain: str
    """The thread's id, or `SERVER_CHAIN`."""
    number: int
    at: datetime
    actor_id: str
    actor_name: str
    action: str
    data: JsonValue
    """A mapping; anything else where somebody wrote to the database."""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The last entry of a chain, authenticated."""

    chain: str
    number: int
    hash: str
    mac: str


@dataclass(frozen=True, slots=True)
class AuditPosition:
    """Where a page of the trail ended."""

    at: datetime
    chain: str
    number: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as the database has it, whoever wrote it there."""

    request_id: str
    chain: str
    """The thread of its request; empty when there is no such request."""
    value: JsonValue
    by_id: str
    by_name: str
    source: str
    origin: str


class FindingKind(StrEnum):
    EDITED = "edited"
    """The entry is not what was recorded."""
    MISSING = "missing"
    REORDERED = "reordered"
    """The entry stands under another number."""
    ADDED = "added"
    """The entry was never recorded."""
    CUT_TAIL = "cut_tail"
    UNPROVEN = "unproven"
    """The entry may be right, but what its hash covers is gone."""
    NO_HEAD = "no_head"
    FORGED_HEAD = "forged_head"
    STALE_HEAD = "stale_head"
    """The head is of an earlier entry than the last."""
    UNKNOWN_HEAD = "unknown_head"
    """The head is authentic, but of another entry than the chain has there."""
    ROLLED_BACK = "rolled_back"
    """The chain is not the one that was exported, or is shorter."""
    ALTERED_ANSWER = "altered_answer"
    UNRECORDED_ANSWER = "unrecorded_answer"
    FORGED_EXPORT = "forged_export"


@dataclass(frozen=True, slots=True)
class Finding:
    kind: FindingKind
    chain: str
    number: int | None
    """The entry that it is about; None where it is about none."""
    text: str


class ChainKey:
    """What hashes and macs are made with. Nothing of it is shown."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "ChainKey(***)"

    def entry_hash(self, previous: str, entry: AuditEntry, number: int | None = None) -> str:
        """The hash of the entry after one with the hash `previous`; as if it had `number`, if one is given."""
        content = canonical_json(
            {
                "thread_id": entry.chain,
                "number": entry.number if number is None else number,
                "at": entry.at.astimezone(UTC).isoformat(),
                "actor_id": entry.actor_id,
                "actor_name": entry.actor_name,
                "action": entry.action,
                "data": entry.data,
            }
        )
        return self._mac(previous + content)

    def head_mac(self, chain: str, number: int, last_hash: str) -> str:
        return self._mac(canonical_json(["head", chain, number, last_hash]))

    def is_authentic(self, head: AuditHead) -> bool:
        return hmac.compare_digest(self.head_mac(head.chain, head.number, head.hash).encode(), head.mac.encode())

    def whole_mac(self, about: Iterable[JsonValue]) -> str:
        """The mac of an export as a whole."""
        return self._mac(canonical_json(["heads", *about]))

    def _mac(self, text: str) -> str:
        return hmac.digest(self._key, text.encode(), "sha256").hex()


class HeadsDigest:
    """One digest over many heads, in their order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def add(self, head: AuditHead) -> None:
        self._hash.update(canonical_json([head.chain, head.number, head.hash]).encode() + b"\n")
        self.count += 1

    @property
    def hex(self) -> str:
        return self._hash.hexdigest()
