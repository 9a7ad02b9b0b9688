"""Grants: whatever is remembered and whatever is asked, nothing beyond what the person meant is answered.

The oracle below is written from what the words mean to a person, on what was asked and said, and knows no digests.
"""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.canonical import action_digest, digest
from interlock.domain.grant import Grant, GrantDuration, GrantScope, Remember, ceiling_of, covers, deciding_grant
from interlock.domain.kinds import ApprovalBody, Body, ClarificationBody, DecisionBody, EnvVarBody, QuestionsBody
from interlock.domain.kinds.approval import APPROVAL_DECISIONS
from interlock.domain.request import Request, RequestStatus
from tests.conformance.examples import AT, after

pytestmark = pytest.mark.promise("P11")


@dataclass(frozen=True)
class Asked:
    """One call that an agent wants to make, and the tools that it has at that time."""

    owner: str
    agent: str
    thread: str
    tool: str
    args: str
    tools: tuple[int, int]
    """The version of each of its two tools: any other number is another definition."""
    risk: str = "medium"
    may_remember: bool = True
    takes_yes: bool = True

    @property
    def version(self) -> int:
        return self.tools[0 if self.tool == "read" else 1]


@dataclass(frozen=True)
class Said:
    """What a person answered to a call, with how much of it is to be remembered."""

    to: Asked
    scope: GrantScope
    duration: GrantDuration
    allow: bool
    is_revoked: bool
    also_high_risk: bool = False


few = st.sampled_from(["a", "b"])
versions = st.integers(1, 2)
calls = st.builds(
    Asked,
    owner=few,
    agent=few,
    thread=few,
    tool=st.sampled_from(["read", "write"]),
    args=few,
    tools=st.tuples(versions, versions),
    risk=st.sampled_from(["low", "medium", "high", "critical"]),
    may_remember=st.booleans(),
    takes_yes=st.booleans(),
)
answers = st.builds(
    Said,
    to=calls,
    scope=st.sampled_from(GrantScope),
    duration=st.sampled_from([GrantDuration.SESSION, GrantDuration.FOREVER]),
    allow=st.booleans(),
    is_revoked=st.sampled_from([False, False, False, True]),
    also_high_risk=st.booleans(),
)


def means(said: Said, now: Asked) -> bool:
    """Whether what was said then speaks about what is asked now."""
    then = said.to
    if said.is_revoked or not now.may_remember:
        return False
    if (then.owner, then.agent) != (now.owner, now.agent):
        return False
    if said.duration is GrantDuration.SESSION and then.thread != now.thread:
        return False
    if said.allow and not is_meant_for(said, now.risk):
        return False
    if said.scope is GrantScope.ALL_TOOLS:
        return then.tools == now.tools
    same_tool = then.tool == now.tool and then.version == now.version
    return same_tool and (said.scope is GrantScope.THIS_TOOL or then.args == now.args)


def is_meant_for(said: Said, risk: str) -> bool:
    """A yes is for what is no riskier than what it was said to, and for high risk where that was said as well."""
    no_riskier = {
        "low": ["low"],
        "medium": ["low", "medium"],
        "high": ["low", "medium", "high"],
        "critical": ["low", "medium", "high", "critical"],
    }
    return risk in no_riskier[said.to.risk] or (said.also_high_risk and risk != "critical")


def verdict(said: list[Said], now: Asked) -> str:
    about = [one for one in said if means(one, now)]
    if any(not one.allow for one in about):
        return "no"
    return "yes" if about and now.takes_yes else "ask"


OTHERS: list[Body] = [
    ClarificationBody.ask("?"),
    DecisionBody.ask("?", ["a"]),
    EnvVarBody.ask(["KEY"]),
    QuestionsBody.ask(["?"]),
]


def definition(call: Asked) -> str:
    return digest({"tool": call.tool, "version": call.version})


def toolset(call: Asked) -> str:
    return digest({"tools": call.tools})


def request(call: Asked) -> Request:
    body = ApprovalBody.ask(
        call.tool,
        {"path": call.args},
        risk_level=call.risk,
        allow_remember=call.may_remember,
        allowed=APPROVAL_DECISIONS if call.takes_yes else ["edit", "reject"],
    )
    return Request(
        "perm_1",
        "pause_1",
        call.thread,
        RequestStatus.PENDING,
        0,
        body,
        AT,
        digest=action_digest(call.tool, {"path": call.args}),
        definition=definition(call),
        toolset=toolset(call),
        owner_id=call.owner,
        agent=call.agent,
    )


def grant(said: Said, number: int = 0) -> Grant:
    is_all = said.scope is GrantScope.ALL_TOOLS
    is_action = said.scope is GrantScope.THIS_ACTION
    return Grant(
        f"grant_{number}",
        said.to.owner,
        said.to.agent,
        said.scope,
        toolset(said.to) if is_all else definition(said.to),
        said.allow,
        "u-ann",
        "ann",
        "perm_0",
        after(number),
        thread_id=said.to.thread if said.duration is GrantDuration.SESSION else None,
        tool=None if is_all else said.to.tool,
        action=action_digest(said.to.tool, {"path": said.to.args}) if is_action else None,
        revoked_at=AT if said.is_revoked else None,
        ceiling=ceiling_of(request(said.to), Remember(said.duration, said.scope, said.also_high_risk)),
    )


@given(answers, calls)
def test_a_grant_covers_what_the_person_meant_and_nothing_else(said: Said, now: Asked) -> None:
    assert covers(grant(said), request(now)) == means(said, now)


@given(st.lists(answers, max_size=8), calls)
def test_of_several_a_refusal_counts_before_any_permission(said: list[Said], now: Asked) -> None:
    found = deciding_grant([grant(one, number) for number, one in enumerate(said)], request(now))
    answered = "ask" if found is None else "yes" if found.allow else "no"
    assert answered == verdict(said, now)


@given(answers, calls)
def test_a_grant_for_the_call_that_was_asked_covers_just_that_call_again(said: Said, now: Asked) -> None:
    again = said.to
    expected = again.may_remember and not said.is_revoked
    assert covers(grant(said), request(again)) == expected
    if now.owner != again.owner or now.agent != again.agent:
        assert not covers(grant(said), request(now))


@given(answers, st.sampled_from(OTHERS))
def test_nothing_but_an_approval_is_ever_covered(said: Said, body: Body) -> None:
    asked = request(said.to)
    other = Request(
        asked.id,
        asked.pause_id,
        asked.thread_id,
        asked.status,
        0,
        body,
        AT,
        digest=asked.digest,
        definition=asked.definition,
        toolset=asked.toolset,
        owner_id=asked.owner_id,
        agent=asked.agent,
    )
    assert not covers(grant(said), other)


@given(answers)
def test_where_the_tool_is_not_known_nothing_is_covered(said: Said) -> None:
    asked = request(said.to)
    unknown = Request(
        asked.id,
        asked.pause_id,
        asked.thread_id,
        asked.status,
        0,
        asked.body,
        AT,
        owner_id=asked.owner_id,
        agent=asked.agent,
    )
    assert not covers(grant(said), unknown)
