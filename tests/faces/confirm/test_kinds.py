"""What is asked besides the approval of a tool."""

import hashlib
import json
from typing import Any

import pytest

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents
from tests.faces.threads.asking import FREE, HOW, KEY, REGION, clarification, decision, questions, variables
from tests.support.confirm import ConfirmClient, of
from tests.support.puppet import Call, calls, script
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

Response = dict[str, Any]

CASES: dict[str, tuple[Call, Response, Response]] = {
    "clarification": (clarification("a", "b", allow_custom=False), {"answer": "c"}, {"answer": "b"}),
    "decision": (decision(), {"decision": "perhaps"}, {"decision": "stop", "reason": "late"}),
    "env_var": (variables(REGION), {"values": {"OTHER": "x"}}, {"values": {"REGION": "eu"}}),
    "questions": (questions(HOW, FREE), {"answers": ["now"]}, {"answers": ["now", "no"]}),
}
"""Of each kind: a call that asks, a wrong response, and a right one."""
TOLD = {"clarification": "b", "decision": '"stop"', "env_var": "REGION", "questions": '"now"'}
"""What the agent hears of the right one."""


@pytest.mark.parametrize("kind", CASES)
def test_a_question_is_a_step_with_its_kind_and_what_is_asked(person: ConfirmClient, kind: str) -> None:
    asked = person.ask(script(calls(CASES[kind][0])))
    assert asked["step_id"] == f"step_{asked['seq']}_confirm_{kind}"
    metadata = asked["metadata"]
    assert (metadata["kind"], metadata["tool_name"], metadata["requires_confirmation"]) == (kind, kind, True)
    assert metadata["tool_args"] == metadata["request"]
    assert metadata["tool_description"]
    assert asked["content"].startswith(("请回答: ", "请提供: "))


@pytest.mark.parametrize("kind", CASES)
def test_the_answer_is_what_it_is_on_the_hitl_face(person: ConfirmClient, kind: str) -> None:
    call, _, right = CASES[kind]
    asked = person.ask(script(calls(call)))
    person.confirm(asked["step_id"], metadata={"response": right})
    final = person.wait_for(AgentEvents.FINAL_ANSWER)["content"]
    assert TOLD[kind] in final


@pytest.mark.parametrize("kind", CASES)
def test_an_answer_that_does_not_fit_or_is_missing_leaves_it_open(person: ConfirmClient, kind: str) -> None:
    call, wrong, right = CASES[kind]
    asked = person.ask(script(calls(call)))
    for metadata in ({"response": wrong}, {}):
        person.confirm(asked["step_id"], metadata=metadata)
        assert person.next()["metadata"]["error_type"] == ErrorTypes.INVALID_MESSAGE
    person.confirm(asked["step_id"], metadata={"response": right})
    person.wait_for(AgentEvents.FINAL_ANSWER)


@pytest.mark.parametrize("kind", CASES)
def test_not_confirmed_cancels_it_and_the_agent_is_told(person: ConfirmClient, kind: str) -> None:
    asked = person.ask(script(calls(CASES[kind][0])))
    person.refuse(asked["step_id"], "not now")
    final = person.wait_for(AgentEvents.FINAL_ANSWER)["content"]
    assert final.startswith("Not answered")
    person.refuse(asked["step_id"])
    assert person.wait_for(SystemEvents.ERROR)["metadata"]["status"] == "cancelled"


def test_after_the_last_try_a_question_is_cancelled(person: ConfirmClient) -> None:
    asked = person.ask(script(calls(CASES["clarification"][0])))
    for _ in range(3):
        person.confirm(asked["step_id"])
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"].startswith("Not answered")


def test_a_secret_reaches_the_tool_and_nobody_else(
    giver: ThreadsClient, root: ThreadsClient, witness: Witness, fresh: str
) -> None:
    value = f"s3cret-{fresh}"
    with of(giver) as person:
        asked = person.ask(script(calls(variables(KEY)), calls(("use_key", {"name": "API_KEY"}))))
        reply = {"response": {"values": {"API_KEY": value}}, "note": "from a test"}
        person.confirm(asked["step_id"], metadata={"response": {"values": {"API_KEY": value, "X": value}}})
        assert person.next()["metadata"]["error_type"] == ErrorTypes.INVALID_MESSAGE
        person.confirm(asked["step_id"], metadata=reply)
        person.wait_for(AgentEvents.FINAL_ANSWER)
        person.confirm(asked["step_id"], metadata=reply)
        late = person.next()["metadata"]
        assert late["answer"]["values"] == {"API_KEY": "***"}
        session = str(person.session_id)
        with of(giver) as again:
            again.reconnect(session, 0)
            again.wait_for(AgentEvents.FINAL_ANSWER)
            assert value not in json.dumps([person.told, again.told])
    assert witness.count(f"key:{hashlib.sha256(value.encode()).hexdigest()}") == 1
    trail = root.http.get("/api/v1/audit", params={"conversation_id": session}).raise_for_status().text
    assert "from a test" in trail
    assert value not in trail
