"""The caller's own account, and the people of a server for its admins."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import ClientModel, ServerModel
from interlock_client.threads import Password

PersonRole = Literal["owner", "reviewer", "admin"]
Review = Annotated[str, StringConstraints(min_length=1, max_length=129)]


class ChangePassword(ClientModel):
    old_password: Password
    new_password: Password


class SignInEntry(ServerModel):
    id: str
    signed_in_at: datetime
    last_used_at: datetime = Field(description="Right to the minute.")
    expires_at: datetime
    how: Literal["password", "link"] | None = Field(description="null where it is not known.")
    address: str | None = Field(description="Of an IPv6 address the network.")
    user_agent: str | None
    current: bool = Field(description="Whether it is the one that this is asked with.")


class SignInList(ServerModel):
    sessions: list[SignInEntry] = Field(description="The last used first; 200 at the most.")
    total: int


class SessionsEnded(ServerModel):
    ended: int
    access_token: str | None = Field(
        default=None, description="What the caller goes on with; a browser has it as its cookie instead."
    )


class PersonEntry(ServerModel):
    user_id: str
    username: str
    role: PersonRole
    reviews: list[str]
    created_at: datetime
    allowed: bool
    deleted_at: datetime | None


class PeopleList(ServerModel):
    people: list[PersonEntry]


class NewRole(ClientModel):
    role: PersonRole
    reviews: list[Review] = Field(
        default_factory=list[str],
        max_length=100,
        description="For a reviewer: the agents they answer for; OWNER/AGENT for one that runs elsewhere.",
    )


class NewAccess(ClientModel):
    allowed: bool


class PersonDeleted(ServerModel):
    user_id: str
    sessions: int
    keys: int
    grants: int
    saved_values: int
