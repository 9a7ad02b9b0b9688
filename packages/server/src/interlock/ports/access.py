"""Repositories about who may do what: keys, tickets, grants, saved values, and replies that are given again."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from interlock.domain.api_key import ApiKey, Ticket
from interlock.domain.grant import Grant
from interlock.domain.hold import Hold
from interlock.domain.saved_secret import SavedSecret

EVERYBODY = "*"
"""In place of a person's id: the access of all of them has changed."""


class Access(Protocol):
    """A number, raised by every change after which an open stream may have to end: of a password, a role, a key."""

    async def version(self) -> int: ...

    async def list_changed_since(self, version: int) -> set[str]:
        """Whose access it was that changed, by the ids of the people."""
        ...

    async def record_change(self, user_id: str) -> None: ...


class ApiKeys(Protocol):
    async def add(self, key: ApiKey) -> None: ...

    async def get(self, key_id: str) -> ApiKey | None: ...

    async def by_hash(self, key_hash: str) -> ApiKey | None: ...

    async def of_owner(self, owner_id: str | None) -> list[ApiKey]:
        """The owner's keys, or with None everybody's, the newest first; revoked ones too."""
        ...

    async def record_use(self, key_id: str, at: datetime) -> None: ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """False when it was revoked before."""
        ...

    async def revoke_of(self, owner_id: str, at: datetime) -> list[str]:
        """Revoke all that the owner has; their ids."""
        ...


class TokenKeys(Protocol):
    """The keys behind people's tokens. One signs; what one before it signed no longer holds."""

    async def newest(self) -> tuple[int, bytes]:
        """The key to sign with, and its number, as they are in the database now."""
        ...

    async def get(self, number: int) -> bytes | None:
        """The key of that number. It may have been retired a moment ago: `Users.by_token` knows."""
        ...


class Tickets(Protocol):
    async def add(self, ticket: Ticket) -> None: ...

    async def take(self, ticket_hash: str) -> Ticket | None:
        """The ticket, which is gone from then on: of several callers one gets it."""
        ...

    async def purge(self, before: datetime) -> None:
        """Drop those that expired before then."""
        ...


class Grants(Protocol):
    async def add(self, grant: Grant) -> None: ...

    async def get(self, grant_id: str) -> Grant | None: ...

    async def live(self, owner_id: str, agent: str) -> list[Grant]:
        """Those not revoked, the oldest first; nobody revokes them until this transaction ends."""
        ...

    async def of_person(self, user_id: str | None) -> list[Grant]:
        """What stands for the person's threads and what they gave for others', or with None everybody's.

        Not revoked, the newest first.
        """
        ...

    async def record_use(self, grant_id: str, at: datetime) -> None: ...

    async def revoke(self, grant_id: str, by: str, at: datetime) -> bool:
        """False when it was revoked before."""
        ...

    async def revoke_of(self, user_id: str, by: str, at: datetime) -> list[str]:
        """Revoke what is that person's, and what that person gave for others; their ids."""
        ...

    async def end_of_thread(self, thread_id: str, at: datetime) -> None:
        """Revoke what was granted for one thread: it is gone."""
        ...


class SavedSecrets(Protocol):
    """Values are sealed before they reach the database; only `value` gives one in clear."""

    async def put(self, secret: SavedSecret, value: str) -> None:
        """Keep the value, in place of an earlier one of the same owner, agent, asker and name."""
        ...

    async def by_names(
        self, owner_id: str, agent: str, asker_id: str | None, names: Collection[str]
    ) -> dict[str, SavedSecret]:
        """What is saved for a hosted agent (no asker), or for an agent elsewhere with just this asker."""
        ...

    async def value(self, secret_id: str) -> str: ...

    async def get(self, secret_id: str) -> SavedSecret | None: ...

    async def of_owner(self, owner_id: str | None) -> list[SavedSecret]:
        """The owner's, or with None everybody's, by agent and name."""
        ...

    async def delete(self, secret_id: str) -> bool: ...

    async def delete_of(self, owner_id: str) -> int:
        """How many there were."""
        ...


class Replies(Protocol):
    """Replies that were given under an idempotency key, so that the same call gets the same bytes again."""

    async def claim(self, principal_id: str, operation: str, key: str, body: bytes, at: datetime) -> bytes | None:
        """Take the key for this transaction, or give the reply that was given under it before.

        `KeyReused` when it came with another body. Bodies are kept as keyed hashes only. Whoever comes while another
        transaction holds the key waits for that one's end.
        """
        ...

    async def keep(self, principal_id: str, operation: str, key: str, reply: bytes) -> None:
        """Write the reply under a key that this transaction claimed."""
        ...

    async def recall(self, principal_id: str, operation: str, key: str, at: datetime) -> bytes | None:
        """The reply that was given under the key. None: nothing was done under it, and from now on nothing will be.

        As with `claim`, whoever comes while another transaction holds the key waits for that one's end.
        """
        ...

    async def forget(self, principal_id: str, operation: str, key: str) -> None:
        """The next call under the key is a new one."""
        ...

    async def purge(self, before: datetime) -> None: ...


class Holds(Protocol):
    """Which call waits for an ask of which nobody was told the id yet. Of several that want it one gets it."""

    async def add(self, hold: Hold) -> None: ...

    async def orphans(self, asker_id: str, digest: str, now: datetime) -> list[Hold]:
        """Asks of just this that no call waits for, the oldest first."""
        ...

    async def take_over(self, orphan: Hold, holder: str, until: datetime, call: str | None) -> bool:
        """True for the caller that has it from now on, False when another one was quicker."""
        ...

    async def replace(self, request_id: str, holder: str, until: datetime) -> bool:
        """Let this call wait in the place of any other; False when nobody has to: the id was told, or it has ended."""
        ...

    async def renew(self, request_id: str, holder: str, until: datetime) -> bool:
        """False when it is another's by now, or has ended."""
        ...

    async def end(self, request_id: str, holder: str) -> bool:
        """Forget the hold: True for its holder, who may tell the id and the answer, and False for all others."""
        ...

    async def release_all(self, now: datetime) -> None:
        """No call waits any longer: the only process in which one could has just begun."""
        ...

    async def abandoned(self, before: datetime, limit: int) -> list[Hold]:
        """Those that nobody has waited for since then, the oldest first."""
        ...
