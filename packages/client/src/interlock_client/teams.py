"""Teams on the wire: groups, people, who is away, and where a request stands with its people."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from interlock_client.base import ClientModel, ServerModel

Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Candidate = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Note = Annotated[str, StringConstraints(max_length=4_000)]


class Needs(ServerModel):
    people: int = Field(description="How many have to say yes.")
    candidates: list[str] = Field(description="`group:NAME` and `person:NAME`; none: whoever may answer here.")
    separate: bool = Field(description="Who asked does not count.")
    code: bool = Field(description="A yes repeats the code.")


class Votes(ServerModel):
    yes: int
    needed: int
    refusals: int = 0


class Voter(ServerModel):
    by: str
    yes: bool
    at: datetime


class Claim(ServerModel):
    by: str
    mine: bool
    until: datetime


class Level(ServerModel):
    number: int
    of: int


class PolicyRule(ServerModel):
    version: int | None
    rule: str


class PassedOn(ServerModel):
    """Somebody put it to others."""

    by: str
    to: list[str] = Field(description="`group:NAME` and `person:NAME`.")
    note: str | None
    at: datetime


class People(ServerModel):
    """Where a request stands with its people, for the reader."""

    needs: Needs
    votes: Votes | None = Field(description="Null where one person is enough.")
    own_vote: Literal["yes", "no"] | None
    voters: list[Voter] = Field(description="For those who have voted, and once it is settled.")
    claim: Claim | None
    level: Level | None
    policy: PolicyRule | None
    may_answer: bool
    may_refuse: bool
    excluded: bool = Field(
        default=False, description="The reader asked for it, or has put it to others: their yes does not count."
    )
    may_override: bool = Field(
        default=False, description="The reader, an admin, may answer it alone all the same, with a reason."
    )
    conversation: bool = Field(description="Whether the reader may see the conversation too.")


class Claimed(ServerModel):
    request_id: str
    until: datetime


class Released(ServerModel):
    request_id: str


class Delegate(ClientModel):
    to: Name
    note: Note = ""


class Route(ClientModel):
    model_config = ConfigDict(strict=True, extra="ignore", populate_by_name=True)

    from_: Annotated[list[Candidate], Field(min_length=1, max_length=20)] = Field(alias="from")
    note: Note = ""


class Routed(ServerModel):
    request_id: str


class NewComment(ClientModel):
    text: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class Comment(ServerModel):
    comment_id: str
    by: str
    text: str
    at: datetime


class Comments(ServerModel):
    comments: list[Comment]


class VoteWithdrawn(ServerModel):
    request_id: str
    votes: Votes


class NewGroup(ClientModel):
    name: Name
    members: Annotated[list[Name], Field(max_length=1_000)] = Field(default_factory=list[str])
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class GroupMembers(ClientModel):
    members: Annotated[list[Name], Field(max_length=1_000)]
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class Group(ServerModel):
    name: str
    source: Literal["local", "oidc"]
    members: list[str]


class Groups(ServerModel):
    groups: list[Group]


class GroupRemoved(ServerModel):
    name: str


class FoundPeople(ServerModel):
    people: list[str] = Field(description="Names, 20 at most.")


class SetAway(ClientModel):
    model_config = ConfigDict(strict=True, extra="ignore", populate_by_name=True)

    from_: Annotated[AwareDatetime, Field(strict=False)] = Field(alias="from")
    until: Annotated[AwareDatetime, Field(strict=False)]
    to: Name | None = Field(default=None, description="Who is asked in their place.")
    person: Name | None = Field(default=None, description="For an admin: somebody else.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class AwayTime(ServerModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    from_: datetime = Field(alias="from")
    until: datetime
    to: str | None


class Away(ServerModel):
    away: AwayTime | None = Field(description="Null: they are not, and will not be.")
