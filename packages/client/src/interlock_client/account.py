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
    how: Literal["password", "link", "oidc"] | None = Field(description="null where it is not known.")
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


class BeginSignOn(ClientModel):
    next: Annotated[str, StringConstraints(max_length=2_000)] = Field(
        default="", description="The page to go to afterwards: a path of this server."
    )


class SignOnPlace(ServerModel):
    url: str = Field(description="Where the browser goes.")


class FinishSignOn(ClientModel):
    state: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    code: Annotated[str, StringConstraints(min_length=1, max_length=4_000)] | None = Field(
        default=None, description="null where the provider sent none, because nobody signed in."
    )
    iss: Annotated[str, StringConstraints(max_length=2_000)] | None = None


class SignedOn(ServerModel):
    next: str
    linked: bool = Field(description="An identity was linked, and nobody signed in.")
    groups_left_out: bool = Field(description="The provider sent no groups, because there are too many.")


class IdentityEntry(ServerModel):
    """An account at the provider of single sign-on."""

    id: str
    issuer: str
    subject: str
    label: str = Field(description="What the provider calls the person; empty before they have signed in with it.")
    groups: list[str] = Field(description="Of the last sign-in.")
    groups_left_out: bool
    linked_at: datetime
    used_at: datetime | None


class IdentityList(ServerModel):
    identities: list[IdentityEntry]
    has_password: bool = Field(description="Whether the person can also sign in with a password.")


class NewIdentity(ClientModel):
    subject: Annotated[str, StringConstraints(min_length=1, max_length=255)]


class PersonEntry(ServerModel):
    user_id: str
    username: str
    role: PersonRole
    reviews: list[str]
    created_at: datetime
    allowed: bool
    deleted_at: datetime | None
    identities: list[IdentityEntry] = Field(
        default_factory=list[IdentityEntry], description="With which they sign in by single sign-on."
    )


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
