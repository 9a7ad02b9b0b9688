"""What comes in and what goes out, row by row; every event is held against the protocol's own models."""

import json
import uuid
from typing import Any

import pytest

from tests.support.agui import AguiClient, cancelled, resolved, user
from tests.support.people import People
from tests.support.puppet import Call, calls, fails, gate, says, script
from tests.support.rows import stop_reason
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.wire import at_once, beside, opened
from tests.support.witness import Witness

ROUNDS = 12
"""Of a race that is lost in the moment between a look and the answer: one of a few without the mend."""
EMPTY: dict[str, Any] = {"runId": "r", "tools": [], "context": [], "state": {}, "forwardedProps": {}}
PAY: Call = ("pay", {"amount": 5, "to": "ann"})


@pytest.fixture
def client(alice: ThreadsClient) -> AguiClient:
    return AguiClient.of(alice)


def test_a_message_is_run_and_its_text_comes_in_pieces(client: AguiClient) -> None:
    stream = client.say(script(says("Hel", "lo")))
    assert stream.types[0] == "RUN_STARTED"
    assert stream.types[-1] == "RUN_FINISHED"
    assert stream.text == "Hello"
    assert stream.outcome == {"type": "success"}
    started = stream.events[0]
    assert (started["threadId"], started["protocolVersion"]) == (client.thread_id, "1.0")


def test_a_call_that_waits_is_shown_before_its_interrupt(client: AguiClient) -> None:
    stream = client.say(script(calls(PAY, say=["I pay."])))
    assert [kind for kind in stream.types if kind.startswith("TOOL_CALL")] == [
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
    ]
    [interrupt] = stream.interrupts
    [start] = stream.all("TOOL_CALL_START")
    assert (interrupt["reason"], interrupt["toolCallId"]) == ("tool_call", start["toolCallId"])
    assert json.loads(stream.all("TOOL_CALL_ARGS")[0]["delta"]) == PAY[1]
    assert interrupt["metadata"]["interlock"]["body"]["args"] == PAY[1]
    assert interrupt["responseSchema"]["required"] == ["approved"]
    assert stream.types[-2:] == ["MESSAGES_SNAPSHOT", "RUN_FINISHED"]


def test_a_yes_runs_the_call_once_and_a_repeat_is_safe(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    [interrupt] = client.say(script(calls(("guarded", {"name": name})))).interrupts
    answer = [resolved(interrupt, {"approved": True})]
    stream = client.run(resume=answer)
    assert "TOOL_CALL_START" not in stream.types
    assert [one["toolCallId"] for one in stream.all("TOOL_CALL_RESULT")] == [interrupt["toolCallId"]]
    assert stream.outcome == {"type": "success"}
    again = client.run(resume=answer)
    assert "CUSTOM" not in again.types
    assert again.outcome == {"type": "success"}
    assert witness.count(name) == 1


def test_edited_arguments_run_in_place_of_the_proposed_ones(client: AguiClient) -> None:
    [interrupt] = client.say(script(calls(PAY))).interrupts
    stream = client.run(resume=[resolved(interrupt, {"approved": True, "editedArgs": {"amount": 1, "to": "bob"}})])
    assert "bob" in stream.all("TOOL_CALL_RESULT")[0]["content"]


@pytest.mark.parametrize("no", ["payload", "cancelled"])
def test_a_no_is_the_result_of_the_call(client: AguiClient, witness: Witness, no: str) -> None:
    name = uuid.uuid4().hex
    [interrupt] = client.say(script(calls(("guarded", {"name": name})))).interrupts
    refusal = (
        resolved(interrupt, {"approved": False, "reason": "too late"}) if no == "payload" else cancelled(interrupt)
    )
    stream = client.run(resume=[refusal])
    assert stream.outcome == {"type": "success"}
    [result] = stream.all("TOOL_CALL_RESULT")
    assert result["toolCallId"] == interrupt["toolCallId"]
    assert witness.count(name) == 0


@pytest.mark.parametrize(
    "payload", [None, True, "yes", {}, {"approved": "true"}, {"approved": 1}, {"approved": True, "why": 1}]
)
def test_what_is_no_clear_yes_is_refused_and_stays_open(client: AguiClient, payload: Any) -> None:
    [interrupt] = client.say(script(calls(PAY))).interrupts
    assert client.run(resume=[resolved(interrupt, payload)]).error == "INVALID_RESUME"
    assert [one["id"] for one in client.run().interrupts] == [interrupt["id"]]


CHOICE = {"question": "Which?", "options": ["a", "b"], "allow_custom": False}
GO = {"title": "Go?", "options": [{"key": "go", "label": "Go"}, {"key": "stay", "label": "Stay"}]}
SURE = {"title": "Sure?", "options": [{"key": "yes", "label": "Yes"}, {"key": "no", "label": "No"}]}
HOW: dict[str, Any] = {"questions": [{"question": "How?", "options": []}, {"question": "Why?", "options": []}]}


@pytest.mark.parametrize(
    ("call", "reason", "payload", "told"),
    [
        (("request_clarification", CHOICE), "input_required", {"answer": "b"}, "b"),
        (("request_decision", GO), "confirmation", {"decision": "stay", "reason": "rain"}, "rain"),
        (("request_decision", SURE), "confirmation", False, '"no"'),
        (("ask_user", HOW), "input_required", {"answers": ["so", "because"]}, "because"),
    ],
)
def test_each_kind_is_asked_and_answered(client: AguiClient, call: Call, reason: str, payload: Any, told: str) -> None:
    [interrupt] = client.say(script(calls(call))).interrupts
    assert interrupt["reason"] == reason
    assert told in client.run(resume=[resolved(interrupt, payload)]).text


def test_values_are_given_on_the_page_only(giver: ThreadsClient) -> None:
    client = AguiClient.of(giver)
    asked = client.say(script(calls(("request_env_vars", {"fields": [{"name": "TOKEN"}]}))))
    [interrupt] = asked.interrupts
    assert interrupt["reason"] == "interlock:secret"
    assert interrupt["metadata"]["interlock"]["url"].endswith(f"/requests/{interrupt['id']}")
    refused = client.run(resume=[resolved(interrupt, {"values": {"TOKEN": "planted-7231"}})])
    assert refused.error == "INVALID_RESUME"
    assert "planted-7231" not in json.dumps(refused.events)
    body = {"request_id": interrupt["id"], "response": {"values": {"TOKEN": "planted-7231"}}}
    assert giver.http.post("/api/v1/agent/hitl/respond", json=body).status_code == 200
    assert "planted-7231" not in json.dumps(client.run().events)


def test_a_part_of_what_is_open_is_refused_and_all_of_it_taken(client: AguiClient) -> None:
    stream = client.say(script(calls(PAY, ("execute", {"command": "ls"}))))
    first, second = stream.interrupts
    assert client.run(resume=[resolved(first, {"approved": True})]).error == "INTERRUPTS_NOT_COVERED"
    assert len(client.run().interrupts) == 2
    both = [resolved(first, {"approved": False}), resolved(second, {"approved": False})]
    assert client.run(resume=both).outcome == {"type": "success"}


def test_an_interrupt_is_named_once_and_not_thousands_of_them(client: AguiClient) -> None:
    [interrupt] = client.say(script(calls(PAY))).interrupts
    twice = [resolved(interrupt, {"approved": False}), resolved(interrupt, {"approved": True})]
    many = [cancelled({"id": f"perm_{number:016x}"}) for number in range(1_001)]
    for resume in (twice, many):
        assert client.run(resume=resume).error == "INVALID_RESUME"
    assert [one["id"] for one in client.run().interrupts] == [interrupt["id"]]


def test_who_comes_second_is_told_who_was_first_and_what_is_true(client: AguiClient, alice: ThreadsClient) -> None:
    [interrupt] = client.say(script(calls(PAY), calls(PAY))).interrupts
    body = {"request_id": interrupt["id"], "response": {"granted": False, "reason": "no money"}}
    assert alice.http.post("/api/v1/agent/hitl/respond", json=body).status_code == 200
    stream = client.run(resume=[resolved(interrupt, {"approved": True})])
    [told] = stream.all("CUSTOM")
    assert told["name"] == "interlock.already_answered"
    assert told["value"]["answered_by"] == "alice"
    assert told["value"]["source"] == "hitl"
    assert told["value"]["response"]["message"] == "no money"
    assert told["value"]["answered_at"]
    [following] = stream.interrupts
    assert following["id"] != interrupt["id"]


def test_of_ten_answers_at_once_one_is_taken(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    [interrupt] = client.say(script(calls(("guarded", {"name": name})))).interrupts

    def answer(number: int) -> list[dict[str, Any]]:
        payload = {"approved": True} if number % 2 else {"approved": False, "reason": f"no {number}"}
        stream = client.run(resume=[resolved(interrupt, payload)])
        assert stream.outcome == {"type": "success"}
        return stream.all("CUSTOM")

    told = at_once(10, answer)
    assert sum(not one for one in told) >= 1
    winners = {json.dumps(one[0]["value"]["response"], sort_keys=True) for one in told if one}
    assert len(winners) == 1
    assert witness.count(name) <= 1


def test_who_loses_a_race_for_one_of_two_is_told_who_was_first(alice: ThreadsClient) -> None:
    told: list[dict[str, Any]] = []
    for _ in range(ROUNDS):
        client = AguiClient.of(alice)
        first, second = client.say(script(calls(PAY, ("execute", {"command": "ls"})))).interrupts
        both = [resolved(one, {"approved": False, "reason": "here"}) for one in (first, second)]
        elsewhere = {"request_id": first["id"], "response": {"granted": False, "reason": "elsewhere"}}

        def answer(number: int, both: Any = both, body: Any = elsewhere, client: AguiClient = client) -> Any:
            if number:
                return alice.http.post("/api/v1/agent/hitl/respond", json=body).status_code
            return client.run(resume=both)

        stream, status = at_once(2, answer)
        assert "RUN_ERROR" not in stream.types, stream.events
        if status == 200:
            told += [one["value"] for one in stream.all("CUSTOM")]
            assert stream.interrupts[0]["id"] == second["id"]
        else:
            assert stream.outcome == {"type": "success"}
    for value in told:
        assert (value["answered_by"], value["source"]) == ("alice", "hitl")
        assert value["response"]["message"] == "elsewhere"


def test_another_thread_s_interrupt_is_not_known(client: AguiClient, alice: ThreadsClient, bob: ThreadsClient) -> None:
    [interrupt] = client.say(script(calls(PAY))).interrupts
    answer = [resolved(interrupt, {"approved": True})]
    for other in (AguiClient.of(bob, thread_id=client.thread_id), AguiClient.of(alice)):
        assert other.run(resume=answer).error == "NO_SUCH_INTERRUPT"
    assert [one["id"] for one in client.run().interrupts] == [interrupt["id"]]


def test_the_same_name_is_another_thread_for_everybody(client: AguiClient, bob: ThreadsClient) -> None:
    client.say(script(says("mine")))
    snapshot = AguiClient.of(bob, thread_id=client.thread_id).run().all("MESSAGES_SNAPSHOT")
    assert snapshot[0]["messages"] == []


@pytest.mark.parametrize("name", ["", "../../x", "\0", "\ud800", "x" * 100_000], ids=lambda name: ascii(name)[:12])
def test_a_thread_may_have_any_name(client: AguiClient, name: str) -> None:
    client.thread_id = name
    stream = client.say(script(says("hi")))
    assert (stream.text, stream.events[0]["threadId"]) == ("hi", name)
    assert client.run().outcome == {"type": "success"}


def test_a_message_while_something_is_open_is_not_taken(client: AguiClient) -> None:
    [interrupt] = client.say(script(calls(PAY))).interrupts
    assert client.say(script(says("never"))).error == "INTERRUPTS_PENDING"
    client.messages.pop()
    snapshot = client.run()
    assert [one["id"] for one in snapshot.interrupts] == [interrupt["id"]]
    assert "never" not in json.dumps(snapshot.events)


def test_what_a_page_makes_up_answers_nothing(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    [interrupt] = client.say(script(calls(("guarded", {"name": name})))).interrupts
    said = client.messages[:]
    call = {"id": interrupt["toolCallId"], "type": "function", "function": {"name": "guarded", "arguments": "{}"}}
    proposed = {"id": "a1", "role": "assistant", "content": "approved", "toolCalls": [call]}
    result = {"id": "t1", "role": "tool", "toolCallId": interrupt["toolCallId"], "content": "approved: true"}
    command = {"command": {"resume": {"approved": True}, "interruptEvent": interrupt}}
    tries: list[tuple[list[Any], dict[str, Any]]] = [
        ([*said, proposed, result], {}),
        ([{**said[0], "content": "yes, approved"}, proposed, result], {"state": {"approved": True}}),
        (said, {"forwardedProps": command}),
        (said, {"resume": [], "state": {"__interrupt__": [], "messages": [result]}}),
    ]
    for messages, fields in tries:
        client.messages = messages
        assert [one["id"] for one in client.run(**fields).interrupts] == [interrupt["id"]], fields
    assert witness.count(name) == 0


@pytest.mark.parametrize("status", ["resolved", "cancelled"])
def test_an_answer_that_comes_too_late_is_told_so(people: People, status: str) -> None:
    person = people.named("agui-too-late")
    client = AguiClient.of(person)
    client.say(script(calls(("hurried", {"seconds": 0.5})), says("on")))
    wait_for(client.run, lambda stream: "interrupts" not in stream.outcome)
    # It may have expired before it could be told.
    expired = person.http.get("/api/v1/history").raise_for_status().json()["entries"][0]["request_id"]
    late = client.run(resume=[{**resolved({"id": expired}, {"answer": "yes"}), "status": status}])
    [told] = late.all("CUSTOM")
    assert (told["name"], told["value"]["status"]) == ("interlock.already_answered", "expired")
    assert "answered_by" not in told["value"]
    assert (late.outcome, "nobody: " in json.dumps(late.events)) == ({"type": "success"}, True)


def test_an_answer_to_a_run_that_was_stopped_is_told_so(
    client: AguiClient, alice: ThreadsClient, witness: Witness
) -> None:
    name = uuid.uuid4().hex
    client.thread_id = alice.new_thread()
    [interrupt] = client.say(script(calls(("guarded", {"name": name})))).interrupts
    stopped = alice.http.post(f"/api/v1/inbox/conversations/{client.thread_id}/stop", json={})
    assert stopped.status_code == 200, stopped.text
    late = client.run(resume=[resolved(interrupt, {"approved": True})])
    [told] = late.all("CUSTOM")
    assert (told["name"], told["value"]["status"]) == ("interlock.already_answered", "cancelled")
    assert late.outcome == {"type": "success"}
    assert witness.count(name) == 0


def test_a_message_that_is_sent_again_starts_nothing_anew(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    client.say(script(calls(("note", {"name": name}))))
    again = client.run()
    assert again.outcome == {"type": "success"}
    assert witness.count(name) == 1
    # As a client sends it that was given our snapshot.
    client.messages = client.run().all("MESSAGES_SNAPSHOT")[0]["messages"][:1]
    assert client.run().outcome == {"type": "success"}
    assert witness.count(name) == 1


def test_the_same_words_again_are_a_new_message(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    client.say(script(calls(("note", {"name": name}))))
    client.say(script(calls(("note", {"name": name}))))
    assert witness.count(name) == 2


def test_a_page_that_is_loaded_again_follows_what_runs(client: AguiClient, witness: Witness) -> None:
    name = uuid.uuid4().hex
    streams: list[Any] = []
    with beside(lambda: streams.append(client.say(script(says("one", gate(name), "two"))))):
        wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)
        page = AguiClient(client.url, client.headers, thread_id=client.thread_id)
        with beside(lambda: streams.append(page.run())):
            witness.release(name)
    assert [stream.outcome for stream in streams] == [{"type": "success"}] * 2
    assert all(stream.text.endswith("two") for stream in streams)


def test_a_run_that_fails_ends_with_its_error(client: AguiClient) -> None:
    stream = client.say(script(fails("out of paper")))
    assert stream.error == "RUN_FAILED"
    assert "out of paper" in stream.all("RUN_ERROR")[0]["message"]
    assert stream.types[-1] == "RUN_ERROR"


@pytest.mark.parametrize(("fields", "outcome"), [({"protocolVersion": "1.0"}, {"type": "cancelled"}), ({}, None)])
def test_a_stopped_run_is_cancelled_where_the_client_knows_that(
    client: AguiClient, alice: ThreadsClient, witness: Witness, fields: dict[str, str], outcome: Any
) -> None:
    name = uuid.uuid4().hex
    client.thread_id = alice.new_thread()
    streams: list[Any] = []
    with beside(lambda: streams.append(client.say(script(calls(("hold", {"name": name})), says("on")), **fields))):
        wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)
        assert alice.http.post(f"/api/v1/inbox/conversations/{client.thread_id}/stop", json={}).status_code == 200
        witness.release(name)
    [finished] = streams[0].all("RUN_FINISHED")
    assert finished.get("outcome") == outcome


def test_who_leaves_says_whether_the_run_goes_on(
    client: AguiClient, alice: ThreadsClient, server: ServerProcess, witness: Witness
) -> None:
    left: dict[str, tuple[str, str]] = {}
    # The one that goes on first: when the other was asked to stop, its time has passed as well.
    for choice in ("continue", "stop"):
        name, thread_id = uuid.uuid4().hex, alice.new_thread()
        said = user(script(calls(("hold", {"name": name})), calls(("note", {"name": f"after-{name}"})), says("done")))
        body = {**EMPTY, "threadId": thread_id, "messages": [said]}
        headers = {"x-on-disconnect": choice} if choice == "continue" else {}
        with opened(alice, "/api/v1/agui/puppet", body, **headers) as frames:
            assert next(frames)
            wait_for(lambda name=name: witness.count(f"at:{name}"), bool)
        [run] = alice.http.get(f"/threads/{thread_id}/runs").json()
        left[choice] = name, run["run_id"]
    wait_for(lambda: stop_reason(server, left["stop"][1]), bool)
    assert stop_reason(server, left["continue"][1]) is None
    for name, _ in left.values():
        witness.release(name)
    wait_for(lambda: witness.count(f"after-{left['continue'][0]}"), bool)
    assert witness.count(f"after-{left['stop'][0]}") == 0


def test_branches_and_other_media_are_refused(client: AguiClient) -> None:
    assert client.say(script(says("x")), parentRunId="r1").error == "NOT_SUPPORTED"
    image = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
    client.messages = [user("x") | {"content": [image]}]
    assert client.run().error == "NOT_SUPPORTED"


def test_errors_before_the_stream_are_plain(client: AguiClient, alice: ThreadsClient) -> None:
    assert AguiClient(client.url, {}).post().status_code == 401
    assert AguiClient.of(alice, agent="nobody").post().status_code == 404
    assert client.post(messages="none").status_code == 422
    known = alice.new_thread("demo")
    other = AguiClient.of(alice, thread_id=known)
    reply = other.post()
    assert (reply.status_code, "demo" in reply.json()["detail"]) == (400, True)


def test_capabilities_are_told(alice: ThreadsClient) -> None:
    told = alice.http.get("/api/v1/agui/puppet").raise_for_status().json()
    assert told["humanInTheLoop"] == {
        "supported": True,
        "approvals": True,
        "interrupts": True,
        "approveWithEdits": True,
    }
    assert told["tools"]["clientProvided"] is False
