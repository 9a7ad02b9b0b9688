"""The audit trail, as it is written and as it is checked."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.audit import AuditEntry, AuditHead, AuditPosition, ChainKey, StoredAnswer
from interlock.domain.json_value import JsonValue
from interlock.domain.principal import Principal


class Audit(Protocol):
    """Chains of entries, one for each thread and `SERVER_CHAIN` for what belongs to none.

    What is read here is read as it is, whoever wrote it: a row that makes no sense comes as an entry that does not fit,
    and never as an error.
    """

    @property
    def key(self) -> ChainKey: ...

    async def append(
        self, thread_id: str, actor: Principal, action: str, data: Mapping[str, JsonValue], at: datetime
    ) -> None:
        """Append to the chain, covered by hash with the entry before, and move the chain's head.

        Nobody else appends to the chain until the transaction ends. A chain that was tampered with goes on after its
        last entry, and its head stays as it is: nothing that is to be found is covered up.
        """
        ...

    async def append_all(
        self, thread_id: str, actor: Principal, entries: Sequence[tuple[str, Mapping[str, JsonValue]]], at: datetime
    ) -> None:
        """As `append`, for many at once: each an action and its data."""
        ...

    async def entries(self, thread_id: str, after_number: int, limit: int) -> list[AuditEntry]:
        """Of one chain, in the order of their numbers."""
        ...

    async def trail(self, after_chain: str, after_number: int, limit: int) -> list[AuditEntry]:
        """Of all chains, one chain after the other, each in the order of its numbers."""
        ...

    async def page(
        self,
        limit: int,
        *,
        owner_id: str | None = None,
        thread_id: str | None = None,
        action: str | None = None,
        before: AuditPosition | None = None,
    ) -> list[AuditEntry]:
        """The newest first: of everything, of the threads that the owner has, or of one chain."""
        ...

    async def heads(self, after_chain: str, limit: int) -> list[AuditHead]:
        """In the order in which `trail` has their chains."""
        ...

    async def heads_of(self, thread_ids: Collection[str]) -> dict[str, AuditHead]: ...

    async def lone_heads(self, after_chain: str, limit: int) -> list[AuditHead]:
        """Heads of chains that have no entries."""
        ...

    async def make_heads(self) -> int:
        """Make a head for each chain that has none, from its last entry; how many were made."""
        ...

    async def is_recorded(self, thread_id: str, action: str) -> bool:
        """Whether the chain has an entry about this action."""
        ...

    async def stored_answers(self, request_ids: Collection[str]) -> dict[str, StoredAnswer]: ...

    async def all_stored_answers(self, after_request: str, limit: int) -> list[StoredAnswer]:
        """In the order of their requests' ids."""
        ...

    async def count_stored_answers(self) -> int: ...
