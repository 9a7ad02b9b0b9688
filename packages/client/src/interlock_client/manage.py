"""Keys, tickets, grants and saved values: what people manage of their own."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from interlock_client.base import Sent, Told

KeyRole = Literal["person", "agent"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class NewKey(Sent):
    name: Name
    role: KeyRole = "person"
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = Field(
        default=None, description="ISO 8601 with a zone; it never expires when left out."
    )
    agent: Name | None = Field(default=None, description="For an agent's key: the name people see. Default: its name.")


class KeyEntry(Told):
    id: str
    name: str
    role: KeyRole
    agent: str | None
    owner_id: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class KeyMade(Told):
    id: str
    key: str = Field(description="Shown here, and never again.")
    name: str
    role: KeyRole
    agent: str | None
    expires_at: datetime | None


class KeyList(Told):
    keys: list[KeyEntry]


class TicketMade(Told):
    ticket: str = Field(description="For `?ticket=` of one stream or socket, once.")
    expires_at: datetime


class GrantEntry(Told):
    id: str
    agent: str
    allow: bool
    scope: Literal["this_action", "this_tool", "all_tools"]
    duration: Literal["session", "forever"]
    tool: str | None
    conversation_id: str | None
    owner_id: str
    granted_by: str
    request_id: str
    created_at: datetime
    uses: int
    last_used_at: datetime | None


class GrantList(Told):
    grants: list[GrantEntry]


class SavedEntry(Told):
    id: str
    agent: str
    name: str
    sensitive: bool
    owner_id: str
    saved_by: str
    request_id: str
    created_at: datetime
    updated_at: datetime


class SavedList(Told):
    secrets: list[SavedEntry]


class Ended(Told):
    id: str
    ended: bool = True
