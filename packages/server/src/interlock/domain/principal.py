"""Who acts: people with a role, agents with a key, and the server itself."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from interlock.domain.thread import Thread


class Role(StrEnum):
    OWNER = "owner"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    AGENT = "agent"


OF_OWNER = "/"
"""Between an owner's id and the name of an agent of theirs. It is in no name."""


def review_key(owner_id: str, agent: str, asker_id: str | None) -> str:
    """What a thread is reviewed as. A hosted agent goes by its name, whoever talks to it; one that runs elsewhere only
    together with its owner: anybody may give theirs any name, and would reach the reviewers of another."""
    return agent if asker_id is None else f"{owner_id}{OF_OWNER}{agent}"


@dataclass(frozen=True, slots=True)
class User:
    id: str
    username: str
    password_hash: str
    role: Role
    created_at: datetime
    tokens_after: datetime
    """Tokens issued before this moment no longer hold."""
    reviews: tuple[str, ...] = ()
    """For a reviewer: the agents whose threads they may answer, as `review_key` names them."""
    disabled_at: datetime | None = None
    """Since when they may not sign in, and no credential of theirs holds."""
    deleted_at: datetime | None = None
    """Since when they are gone; the name stays theirs."""

    @property
    def is_allowed(self) -> bool:
        return self.disabled_at is None and self.deleted_at is None


@dataclass(frozen=True, slots=True)
class Principal:
    id: str
    name: str
    role: Role
    reviews: tuple[str, ...] = ()
    key_id: str | None = None
    """The API key that they came with, where it was one."""
    key_ends_at: datetime | None = None
    """When that key ends by itself."""
    on_behalf_of: "Principal | None" = None
    """For an agent's key: the person who made it, and who is asked."""
    agent: str | None = None
    """For an agent's key: the name under which its requests are seen."""

    @property
    def is_agent(self) -> bool:
        return self.role is Role.AGENT

    @property
    def person_id(self) -> str:
        """Of the person behind it."""
        return (self.on_behalf_of or self).id

    def may_see(self, thread: Thread) -> bool:
        return self.may_see_of(thread.owner_id, thread.agent, thread.asker_id)

    def may_see_of(self, owner_id: str, agent: str, asker_id: str | None) -> bool:
        """As `may_see`, of a thread that may be gone by now."""
        if self.is_agent:
            return asker_id == self.id
        if self.role is Role.ADMIN or self.id == owner_id:
            return True
        return self.role is Role.REVIEWER and review_key(owner_id, agent, asker_id) in self.reviews

    def may_answer(self, thread: Thread) -> bool:
        return not self.is_agent and self.may_see(thread)

    def may_drive(self, thread: Thread) -> bool:
        """Send messages to a thread, delete it: its owner and admins, not reviewers."""
        return not self.is_agent and (self.role is Role.ADMIN or self.id == thread.owner_id)


def principal_of(user: User) -> Principal:
    return Principal(user.id, user.username, user.role, user.reviews)


SYSTEM = Principal("system", "system", Role.ADMIN)
"""The server itself: the actor of expiry, of recovery and of drains."""
ESCALATION = replace(SYSTEM, name="escalation")
"""The same where it puts a request to more people."""
