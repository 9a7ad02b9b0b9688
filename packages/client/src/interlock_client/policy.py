"""The manage face: policies, their versions, and what they would say."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from interlock_client.base import ClientModel, Kind, Risk, ServerModel

Ruling = Literal["allow", "deny", "ask"]
Because = Literal["rule", "no_rule", "not_evaluated", "wants_person", "no_policy", "not_judged"]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512 * 1024)]


class PolicyText(ClientModel):
    text: Text = Field(description="The policy, as TOML or as JSON.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class NewPolicyVersion(PolicyText):
    note: str = Field(default="", max_length=1_000, description="Why, for whoever reads the history.")


class PolicyChange(ClientModel):
    expected: int | None = Field(default=None, description="The version that counts now; null: none does.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class PolicyShadowChange(ClientModel):
    expected: int | None = Field(default=None, description="The version in shadow now; null: none is.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class PolicyFacts(ClientModel):
    """What a rule may look at; what is left out has the value that is given here."""

    tool: str = ""
    args: dict[str, Any] = Field(default_factory=dict[str, Any])
    agent: str = ""
    risk: Risk = "medium"
    kind: Kind = "approval"
    owner: str = ""
    owner_groups: list[str] = Field(default_factory=list[str])
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
    test: int | None = Field(default=None, description="Which of the policy's own tests fails, if that is the problem.")


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
    digest: str = Field(default="", description="Of its text, as the audit trail has it.")
    created_at: datetime


class PolicyVersion(PolicyVersionEntry):
    text: str


class SavedPolicyVersion(PolicyVersionEntry):
    problems: list[PolicyProblem] = Field(description="Warnings; a policy with errors is not saved.")


class PolicyChanged(ServerModel):
    by: str
    at: datetime


class PolicyHistory(ServerModel):
    active: int | None = Field(description="The version that counts; null: none does.")
    shadow: int | None = Field(default=None, description="The version in shadow; null: none is.")
    engine: str | None = Field(default=None, description="What evaluates conditions here; null: nothing does.")
    activated: PolicyChanged | None = Field(default=None, description="The last activation, or deactivation.")
    shadowed: PolicyChanged | None = Field(default=None, description="The last change of what is in shadow.")
    versions: list[PolicyVersionEntry] = Field(description="The newest first.")


class ActivePolicy(ServerModel):
    active: int | None
    by: str
    at: datetime


class PolicyShadow(ServerModel):
    shadow: int | None
    by: str
    at: datetime


class RuleError(ServerModel):
    rule: str = Field(description="Its name; empty for the whole policy, and for everybody but admins.")
    reason: str


class RuleFact(ServerModel):
    name: str = Field(description="Such as tool, or args.amount.")
    value: str | None = Field(description="As JSON, cut off after 500 characters; null: there is none.")


class PolicyDecision(ServerModel):
    then: Ruling
    rule: str | None = Field(description="The rule that decided; null: none did, so a person is asked.")
    matches: list[str] = Field(description="All rules that apply.")
    errors: list[RuleError] = Field(description="Rules that could not be evaluated: none of them allows.")
    because: Because = Field(default="rule", description="Why it comes to that.")
    facts: list[RuleFact] = Field(default_factory=list[RuleFact], description="What these rules read.")


class PolicyExplanation(PolicyDecision):
    """Other rules than the one that decided, and its condition, are for admins."""

    request_id: str
    version: int | None = Field(description="The version that counted when it was asked; null: none did.")
    recorded: bool = Field(
        description="Version and rule were written with the answer; else found by when it was asked."
    )
    reason: str = Field(description="Why, in the words of the rule that decided.")
    condition: str | None = Field(description="Of the rule that decided; for admins.")
    whole: bool = Field(description="Whether other rules are named.")


class ShadowSample(ServerModel):
    request_id: str
    tool: str
    agent: str
    at: datetime
    active_version: int | None
    active_rule: str | None
    rule: str | None
    failed: bool = Field(description="A rule of the version in shadow could not be evaluated.")


class ShadowRow(ServerModel):
    active: Ruling = Field(description="What the version that counted said; ask where none did.")
    shadow: Ruling
    count: int
    failed: int = Field(description="Of how many a rule could not be evaluated.")
    samples: list[ShadowSample] = Field(description="The newest, where the two differ.")


class ShadowReport(ServerModel):
    version: int
    on: bool = Field(description="Whether it is in shadow now.")
    since: datetime | None = Field(description="When the first of these requests was asked.")
    looked_at: int
    differ: int
    rows: list[ShadowRow] = Field(description="First what only the version in shadow allows, then where they differ.")


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
