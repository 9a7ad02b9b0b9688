"""How risky a call may be that a remembered answer stands for."""

from typing import Any

import pytest

from tests.faces.hitl.granting import (
    GUARDED,
    OTHER_TOOL,
    granted,
    is_asked,
    remembered,
    wrong_fields,
)
from tests.support.hitl import PERMISSION, HitlClient, asked_by_agent, finished
from tests.support.puppet import Call
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness


@pytest.mark.parametrize("duration", ["session", "forever"])
def test_every_tool_granted_on_a_medium_call_lets_no_call_of_high_risk_run_unasked(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness, duration: str
) -> None:
    here = granted(owner, theirs, remembered("all_tools", duration))
    assert theirs.grants()[0]["ceiling"] == "medium"
    assert not is_asked(owner, here, OTHER_TOOL)
    risky: Call = ("execute", {"command": f"rm-{duration}-{owner.username}"})
    assert is_asked(owner, here, risky)
    assert witness.count(f"rm-{duration}-{owner.username}") == 0


@pytest.mark.parametrize("scope", ["this_tool", "all_tools"])
def test_an_agent_elsewhere_that_raises_the_risk_is_asked_about_again(
    server: ServerProcess, theirs: HitlClient, scope: str
) -> None:
    said = PERMISSION | {"risk_level": "medium"}
    with HitlClient(server.url, theirs.new_key("raising", "agent")["key"]) as agent:
        theirs.respond(agent.ask("permission", said)["request_id"], remembered(scope, "forever"))
        assert agent.ask("permission", said)["status"] == "answered"
        for risk in ("high", "critical"):
            assert agent.ask("permission", said | {"risk_level": risk})["status"] == "pending"


def test_high_risk_is_granted_only_where_that_is_said_and_confirmed(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    here = owner.new_thread("puppet")
    asked_by_agent(owner, here, GUARDED)
    request_id = theirs.one_pending(here)["request_id"]
    wide = remembered("all_tools", "session") | {"also_high_risk": True}
    reply = theirs.try_respond(request_id, wide)
    assert (reply.status_code, wrong_fields(reply)) == (400, ["response.confirm_high_risk"])
    assert theirs.grants() == []
    theirs.respond(request_id, wide | {"confirm_high_risk": True})
    finished(owner, here)
    assert theirs.grants()[0]["ceiling"] == "high"
    risky = f"also-risky-{owner.username}"
    assert not is_asked(owner, here, ("execute", {"command": risky}))
    assert witness.count(risky) == 1


@pytest.mark.parametrize(
    "response",
    [remembered("this_action", "session"), remembered("all_tools", "session", allow=False)],
    ids=["of one action", "of a refusal"],
)
def test_high_risk_is_not_added_to_what_has_no_use_for_it(theirs: HitlClient, response: dict[str, Any]) -> None:
    request_id = theirs.ask("permission", PERMISSION | {"risk_level": "medium"})["request_id"]
    reply = theirs.try_respond(request_id, response | {"also_high_risk": True, "confirm_high_risk": True})
    assert (reply.status_code, wrong_fields(reply)) == (400, ["response.also_high_risk"])
    assert theirs.look(request_id)["status"] == "pending"


def test_a_critical_call_is_asked_about_also_where_high_risk_was_granted(
    server: ServerProcess, theirs: HitlClient
) -> None:
    said = PERMISSION | {"risk_level": "medium"}
    wide = remembered("all_tools", "forever") | {"also_high_risk": True, "confirm_high_risk": True}
    with HitlClient(server.url, theirs.new_key("critical", "agent")["key"]) as agent:
        theirs.respond(agent.ask("permission", said)["request_id"], wide)
        assert agent.ask("permission", said | {"risk_level": "high"})["status"] == "answered"
        assert agent.ask("permission", said | {"risk_level": "critical"})["status"] == "pending"


def test_a_refusal_of_every_tool_holds_whatever_the_risk(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    here = granted(owner, theirs, remembered("all_tools", "session", allow=False))
    assert theirs.grants()[0]["ceiling"] is None
    refused = f"refused-{owner.username}"
    assert not is_asked(owner, here, ("execute", {"command": refused}))
    assert witness.count(refused) == 0
