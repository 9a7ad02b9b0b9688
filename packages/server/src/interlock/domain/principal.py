"""Who acts: people with a role, agents with a key, and the server itself."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    OWNER = "owner"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    AGENT = "agent"


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
    """For a reviewer: the agents whose threads they may answer."""


@dataclass(frozen=True, slots=True)
class Principal:
    id: str
    name: str
    role: Role
    reviews: tuple[str, ...] = ()

    def may_see(self, owner_id: str, agent: str) -> bool:
        if self.role is Role.ADMIN or self.id == owner_id:
            return True
        return self.role is Role.REVIEWER and agent in self.reviews

    def may_answer(self, owner_id: str, agent: str) -> bool:
        return self.role is not Role.AGENT and self.may_see(owner_id, agent)

    def may_drive(self, owner_id: str) -> bool:
        """Send messages to a thread, delete it: its owner and admins, not reviewers."""
        return self.role is not Role.AGENT and (self.role is Role.ADMIN or self.id == owner_id)


def principal_of(user: User) -> Principal:
    return Principal(user.id, user.username, user.role, user.reviews)


SYSTEM = Principal("system", "system", Role.ADMIN)
"""The server itself: the actor of expiry, of recovery and of drains."""
