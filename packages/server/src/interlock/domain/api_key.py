"""API keys: `ms_sk_` and 64 hex digits, of which the last 8 are the CRC32 of the 56 before them.

The check digits let a scanner tell a real key from any other long number. Only the hash of a key is ever kept: it has
224 random bits, so a plain hash cannot be turned back.
"""

import hashlib
import re
import secrets
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

PREFIX = "ms_sk_"
_FORM = re.compile(rf"{PREFIX}([0-9a-f]{{56}})([0-9a-f]{{8}})\Z")

TICKET_LIFETIME = timedelta(seconds=30)


class KeyRole(StrEnum):
    PERSON = "person"
    """Does what its owner may do, but makes no other keys."""
    AGENT = "agent"
    """Asks, and reads what it asked; never answers."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: str
    name: str
    role: KeyRole
    owner_id: str
    hash: str
    created_at: datetime
    agent: str | None = None
    """For an agent's key: the name under which its requests are seen."""
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Ticket:
    """Stands for a credential once, for half a minute: browsers cannot set a header on a stream."""

    hash: str
    user_id: str | None
    key_id: str | None
    issued_at: datetime
    """When the credential behind it was issued: a password reset in between ends the ticket too."""
    expires_at: datetime
    token_key: int | None = None
    """Of a person's token: the number of the key that signed it, with which the ticket ends too."""


def new_key() -> str:
    digits = secrets.token_hex(28)
    return f"{PREFIX}{digits}{_check_digits(digits)}"


def is_key(text: str) -> bool:
    found = _FORM.match(text)
    return found is not None and _check_digits(found[1]) == found[2]


def credential_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def new_ticket() -> str:
    return secrets.token_urlsafe(32)


def _check_digits(digits: str) -> str:
    return f"{zlib.crc32(digits.encode()):08x}"
