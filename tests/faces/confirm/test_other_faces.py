"""Asked on one face and answered on another: once, whoever comes first."""

from typing import Any

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents
from tests.support import hitl
from tests.support.confirm import ConfirmClient, Told, of, only
from tests.support.hitl import PERMISSION, HitlClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.threads import ThreadsClient
from tests.support.wire import at_once
from tests.support.witness import Witness

ROUNDS = 10


def settled_error(told: Told) -> dict[str, Any]:
    assert told["metadata"]["error_type"] == ErrorTypes.INVALID_STEP_ID
    return told["metadata"]


def test_asked_here_and_answered_on_threads(
    person: ConfirmClient, alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    assert alice.resume(str(person.session_id), "continue").text == f"done {fresh}"
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == f"done {fresh}"
    person.confirm(asked["step_id"])
    metadata = settled_error(person.wait_for(SystemEvents.ERROR))
    assert (metadata["answered_by"], metadata["source"], metadata["status"]) == ("alice", "threads", "answered")
    assert witness.count(fresh) == 1


def test_asked_here_and_answered_on_hitl(
    person: ConfirmClient, alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    with hitl.of(alice) as client:
        (pending,) = client.pending(str(person.session_id))
        assert pending["request_id"] == asked["metadata"]["request_id"]
        assert pending["timeout_seconds"] == 300
        client.respond(pending["request_id"], {"granted": False, "reason": "from the other side"})
    result = person.wait_for(AgentEvents.TOOL_RESULT)
    assert (result["content"], result["step_id"]) == ("from the other side", asked["step_id"])
    person.confirm(asked["step_id"])
    assert settled_error(person.wait_for(SystemEvents.ERROR))["source"] == "hitl"
    assert witness.count(fresh) == 0


def test_asked_on_threads_and_answered_here(
    person: ConfirmClient, alice: ThreadsClient, thread: str, witness: Witness, fresh: str
) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": fresh}))), **{"x-on-disconnect": "continue"})
    person.reconnect(thread)
    asked = person.wait_for(AgentEvents.USER_CONFIRM)
    assert asked["metadata"]["timeout_seconds"] is None
    person.confirm(asked["step_id"])
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == f"done {fresh}"
    late = alice.resume(thread, "continue", request_id=asked["metadata"]["request_id"])
    assert (late.status, late.body["answered_by"], late.body["source"]) == (409, "alice", "confirm")
    assert witness.count(fresh) == 1


def test_asked_by_an_agent_elsewhere_and_answered_or_cancelled_here(
    person: ConfirmClient, alice: ThreadsClient
) -> None:
    with hitl.of(alice) as client:
        asked = [client.ask("permission", PERMISSION)]
        session = asked[0]["conversation_id"]
        asked += [client.ask("permission", PERMISSION, conversation_id=session) for _ in range(2)]
        person.reconnect(session)
        first = person.wait_for(AgentEvents.USER_CONFIRM)
        assert first["step_id"].endswith("_confirm_file_delete")
        person.confirm(first["step_id"])
        second = person.wait_for(AgentEvents.USER_CONFIRM)
        assert second["metadata"]["request_id"] == asked[1]["request_id"]
        person.cancel(session)
        person.wait_for(AgentEvents.INTERRUPTED)
        statuses = [client.look(one["request_id"])["status"] for one in asked]
        assert statuses == ["answered", "cancelled", "cancelled"]


def test_of_all_who_answer_at_once_one_wins_and_the_others_are_told_who(
    alice: ThreadsClient, people: People, witness: Witness, fresh: str
) -> None:
    with of(alice) as owner, of(people.named("root")) as admin, hitl.of(alice) as client:
        admin.reconnect(owner.create())
        for turn in range(ROUNDS):
            name = f"{fresh}-{turn}"
            asked = owner.ask(script(calls(("guarded", {"name": name}))))
            admin.wait_for(AgentEvents.USER_CONFIRM)
            answer_at_once(owner, admin, client, asked)
            settled = client.look(asked["metadata"]["request_id"], wait=20)
            assert settled["status"] == "answered"
            for person, by in ((owner, "alice"), (admin, "root")):
                is_winner = (settled["answered_by"], settled["source"]) == (by, "confirm")
                errors = only(person.until(AgentEvents.FINAL_ANSWER), SystemEvents.ERROR)
                assert not (is_winner and errors)
                if not is_winner:
                    metadata = settled_error(errors[0] if errors else person.wait_for(SystemEvents.ERROR))
                    assert metadata["answered_by"] == settled["answered_by"]
                    assert metadata["source"] == settled["source"]
            assert witness.count(name) == int(settled["response"]["granted"])


def answer_at_once(owner: ConfirmClient, admin: ConfirmClient, client: HitlClient, asked: Told) -> None:
    def answer(index: int) -> None:
        if index == 0:
            owner.confirm(asked["step_id"])
        elif index == 1:
            admin.refuse(asked["step_id"], "no")
        else:
            reply = client.try_respond(asked["metadata"]["request_id"], {"granted": True})
            assert reply.status_code in (200, 400), reply.text

    assert at_once(3, answer) == [None] * 3
