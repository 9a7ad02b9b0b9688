"""The manage face: policies, their versions, and what they would say."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from interlock_client.base import ClientModel, Kind, Risk, ServerModel

Ruling = Literal["allow", "deny", "ask"]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512 * 1024)]


class PolicyText(ClientModel):
    text: Text = Field(description="The policy, as TOML or as JSON.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class NewPolicyVersion(PolicyText):
    note: str = Field(default="", max_length=1_000, description="Why, for whoever reads the history.")


class PolicyChange(ClientModel):
    expected: int | None = Field(default=None, description="The version that counts now; null: none does.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class PolicyFacts(ClientModel):
    """What a rule may look at; what is left out has the value that is given here."""

    tool: str = ""
    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    agent: str = ""
    risk: Risk = "medium"
    kind: Kind = "approval"
    owner: str = ""
    outside: bool = False
    face: str = ""
    at: AwareDatetime | None = Field(default=None, strict=False)


class PolicyTrial(PolicyText):
    facts: PolicyFacts


class PolicyReplay(PolicyText):
    since: AwareDatetime | None = Field(
        default=None, strict=False, description="Only requests that were settled since then."
    )
    limit: int = Field(default=10_000, ge=1, le=100_000, description="How many requests to look at, the newest first.")


class PolicyProblem(ServerModel):
    message: str
    line: int | None = Field(description="Where the rule or test begins; null for JSON, and for the whole.")
    rule: str | None
    warning: bool = Field(description="It can be used all the same.")


class PolicyCheck(ServerModel):
    rules: int
    tests: int
    usable: bool
    problems: list[PolicyProblem]


class PolicyVersionEntry(ServerModel):
    version: int
    by: str
    note: str
    engine: str
    created_at: datetime


class PolicyVersion(PolicyVersionEntry):
    text: str


class SavedPolicyVersion(PolicyVersionEntry):
    problems: list[PolicyProblem] = Field(description="Warnings; a policy with errors is not saved.")


class PolicyHistory(ServerModel):
    active: int | None = Field(description="The version that counts; null: none does.")
    versions: list[PolicyVersionEntry] = Field(description="The newest first.")


class ActivePolicy(ServerModel):
    active: int | None
    by: str
    at: datetime


class RuleError(ServerModel):
    rule: str
    reason: str


class PolicyDecision(ServerModel):
    then: Ruling
    rule: str | None = Field(description="The rule that decided; null: none did, so a person is asked.")
    matches: list[str] = Field(description="All rules that apply.")
    errors: list[RuleError] = Field(description="Rules that could not be evaluated: none of them allows.")


class ReplaySample(ServerModel):
    request_id: str
    tool: str
    action: str
    answered_by: str | None
    settled_at: datetime | None
    rule: str | None


class ReplayRow(ServerModel):
    happened: str = Field(description="approved, edited, refused, replied, cancelled or expired.")
    then: Ruling = Field(description="What the policy would have said.")
    count: int
    samples: list[ReplaySample]


class ReplayReport(ServerModel):
    looked_at: int
    whole: bool = Field(description="Whether no older request was left out.")
    asks_saved: int
    asks_added: int
    rows: list[ReplayRow] = Field(description="First what a person refused and the policy would allow.")
    not_replayed: dict[str, int] = Field(description="Why, and how many.")
    errors: dict[str, int] = Field(description="By rule, how often it could not be evaluated.")
