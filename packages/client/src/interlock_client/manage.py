"""Keys, tickets, grants and saved values: what people manage of their own."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from interlock_client.base import ClientModel, GrantDuration, GrantScope, Risk, ServerModel

KeyRole = Literal["person", "agent"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class NewKey(ClientModel):
    name: Name
    role: KeyRole = "person"
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = Field(
        default=None, description="ISO 8601 with a zone; it never expires when left out."
    )
    agent: Name | None = Field(default=None, description="For an agent's key: the name people see. Default: its name.")


class KeyEntry(ServerModel):
    id: str
    name: str
    role: KeyRole
    agent: str | None
    owner_id: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class KeyMade(ServerModel):
    id: str
    key: str = Field(description="Shown here, and never again.")
    name: str
    role: KeyRole
    agent: str | None
    expires_at: datetime | None


class KeyList(ServerModel):
    keys: list[KeyEntry]


class TicketMade(ServerModel):
    ticket: str = Field(description="For `?ticket=` of one stream or socket, once.")
    expires_at: datetime


class GrantEntry(ServerModel):
    id: str
    agent: str
    allow: bool
    scope: GrantScope
    duration: GrantDuration
    tool: str | None
    conversation_id: str | None
    owner_id: str
    owner: str = Field(default="", description="Whose conversations it stands for; who gave it may be somebody else.")
    ceiling: Risk | None = Field(
        default=None, description="The highest risk that a yes covers; null for a no, which holds for every risk."
    )
    granted_by: str
    request_id: str
    created_at: datetime
    uses: int
    last_used_at: datetime | None


class GrantList(ServerModel):
    grants: list[GrantEntry]


class SavedEntry(ServerModel):
    id: str
    agent: str
    name: str
    sensitive: bool
    owner_id: str
    asker_id: str | None = None
    """Of an agent that runs elsewhere: the key that it was saved for, or the person who asked themselves."""
    saved_by: str
    request_id: str
    created_at: datetime
    updated_at: datetime


class SavedList(ServerModel):
    secrets: list[SavedEntry]


class Ended(ServerModel):
    id: str
    ended: bool = True


class WeekFigures(ServerModel):
    week: str = Field(description="Its Monday; weeks begin at midnight in UTC.")
    asks: int = Field(description="Of the person's own conversations and agents, ended in this week in any way.")
    by_grant: int
    by_rule: int
    unanswered: int = Field(description="Cancelled, or ended by their deadline.")
    answers: int = Field(description="That the person gave, in whosever conversation.")
    approvals: int = Field(description="How many of those answers were to approvals.")
    yes: int = Field(description="How many of those let the call run, as it stood or edited.")
    dwell_ms: int | None = Field(description="Their median reading time; null where none is known.")
    drills: int = Field(default=0, description="That the person answered; they are in no other figure.")
    drills_caught: int = Field(default=0, description="How many of those they did not approve.")
    by_shadow: int = Field(default=0, description="Of what people answered, what a rule in shadow would have.")
    votes_contradicted: int = Field(default=0, description="Of the person's votes, those against which it ended.")


class ReadingTime(ServerModel):
    longest: int | None = Field(description="Requests of at most so many characters; null: longer ones.")
    answers: int
    dwell_ms: int | None


class PersonFigures(ServerModel):
    user_id: str
    name: str
    weeks: list[WeekFigures] = Field(description="The oldest first.")
    reading: list[ReadingTime] = Field(description="Over all of these weeks, by the length of the request.")


class Figures(ServerModel):
    people: list[PersonFigures] = Field(description="The caller first; others for admins only.")
    whole: bool = Field(description="Whether everything of these weeks was counted.")
