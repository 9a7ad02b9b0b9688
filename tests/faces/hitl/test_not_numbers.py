"""NaN and the infinities, which Python has and JSON has not: shown as words, on wires that every parser reads."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from tests.support import confirm, puppet
from tests.support.command import command
from tests.support.hitl import AGENT, HITL, HitlClient, asked_by_agent, finished
from tests.support.inbox import INBOX
from tests.support.inbox import answer as answer_shown
from tests.support.inbox import view as shown_in_inbox
from tests.support.server import ServerProcess
from tests.support.sockets import joined
from tests.support.threads import ThreadsClient, bounded
from tests.support.wire import own_connection
from tests.support.witness import Witness

WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def strictly(text: str) -> Any:
    """As a parser reads it that knows nothing but JSON."""

    def no_constant(name: str) -> NoReturn:
        raise AssertionError(f"{name} is no JSON: {text}")

    return json.loads(text, parse_constant=no_constant)


def frames(client: ThreadsClient, path: str, **query: str) -> Iterator[dict[str, Any]]:
    """The data of a stream that begins at the beginning."""
    with (
        own_connection(client) as http,
        http.stream("GET", path, params=query, headers={"last-event-id": "0"}) as response,
    ):
        for line in bounded(response.iter_lines()):
            if line.startswith("data: "):
                yield strictly(line.removeprefix("data: "))


@pytest.mark.parametrize("number", WORDS)
def test_a_call_with_such_a_number_is_shown_as_its_word_everywhere_and_runs_with_the_number(
    server: ServerProcess, owner: ThreadsClient, theirs: HitlClient, witness: Witness, number: str
) -> None:
    thread_id = owner.new_thread()
    args = {"amount": float(number), "to": f"{owner.username}{number}"}
    shown = args | {"amount": WORDS[number]}
    asked_by_agent(owner, thread_id, ("pay", args))
    pages = [f"{HITL}/pending", f"{HITL}/conversations/{thread_id}/pending", f"/api/status/{thread_id}", INBOX]
    listed = [strictly(owner.http.get(page).raise_for_status().text) for page in pages]
    [request] = listed[0]["data"]["pending_requests"]
    assert request["request_data"]["args"] == shown
    assert listed[1]["data"]["pending_requests"] == [request]
    assert listed[2]["interrupt_info"]["requests"][0]["request_data"]["args"] == shown
    assert WORDS[number] in listed[3]["requests"][0]["headline"]
    page = strictly(owner.http.get(f"{INBOX}/requests/{request['request_id']}").text)
    assert f'  "amount": "{WORDS[number]}",' in page["view"]["lines"]
    told = next(data for data in frames(owner, f"{AGENT}/stream", conversation_id=thread_id))
    assert told["data"]["args"] == shown
    paused = next(data for data in frames(owner, f"/api/stream/{thread_id}") if data["event"] == "interrupt")
    assert paused["requests"][0]["request_data"]["args"] == shown
    assert witness.count(f"{args['to']}:{number}") == 0

    theirs.respond(request["request_id"], {"granted": True})

    assert finished(owner, thread_id) == f"done {args['to']}:{number}"
    assert witness.count(f"{args['to']}:{number}") == 1
    assert strictly(owner.http.get("/api/v1/audit", params={"conversation_id": thread_id}).text)["entries"]
    exported = command("threads", "export", thread_id, *server.where)
    assert exported.returncode == 0, exported.stderr
    assert strictly(exported.stdout)["pauses"][0]["requests"][0]["body"]["args"] == shown


def test_sockets_tell_of_such_a_number_by_its_word(server: ServerProcess, owner: ThreadsClient) -> None:
    token = owner.http.headers["authorization"].removeprefix("Bearer ")
    call = ("pay", {"amount": float("nan"), "to": owner.username})
    with confirm.of(owner) as socket:
        session_id = socket.create()
        socket.say(puppet.script(puppet.calls(call)))
        while (told := strictly(str(socket.socket.recv(timeout=20))))["event"] != "agent.user_confirm":
            pass
        assert told["metadata"]["tool_args"]["amount"] == "NaN"
    with joined(server.url, token, conversation_id=session_id) as hitl:
        assert strictly(str(hitl.connection.recv(timeout=20)))["type"] == "subscribed"
        assert strictly(str(hitl.connection.recv(timeout=20)))["data"]["args"]["amount"] == "NaN"


def test_one_such_call_spoils_no_list(owner: ThreadsClient, theirs: HitlClient) -> None:
    other = theirs.ask("clarification", {"question": "Which one?"})
    asked_by_agent(owner, owner.new_thread(), ("pay", {"amount": float("nan"), "to": "x"}))
    found = strictly(owner.http.get(f"{HITL}/pending").text)["data"]["pending_requests"]
    assert len(found) == 2
    assert found[0]["request_id"] == other["request_id"]


def test_such_a_number_in_an_interrupt_of_any_form_is_shown_as_its_word(
    owner: ThreadsClient, theirs: HitlClient
) -> None:
    thread_id = owner.new_thread()
    value = {"question": "Pay?", "amounts": [float("inf"), 1.5, {"deep": float("-inf")}]}
    asked_by_agent(owner, thread_id, ("transfer", {"name": "x", "value": value}))
    [request] = strictly(owner.http.get(f"{HITL}/pending").text)["data"]["pending_requests"]
    assert request["request_data"]["value"] == {
        "question": "Pay?",
        "amounts": ["Infinity", 1.5, {"deep": "-Infinity"}],
    }


def test_the_number_can_be_replaced_and_what_runs_is_the_edit(owner: ThreadsClient, witness: Witness) -> None:
    thread_id = owner.new_thread()
    to = f"edit-{owner.username}"
    asked_by_agent(owner, thread_id, ("pay", {"amount": float("nan"), "to": to}))
    [entry] = owner.http.get(INBOX).json()["requests"]
    shown = shown_in_inbox(owner, entry)
    kept = answer_shown(owner, shown, {"decision": "edit", "args": {"amount": "NaN", "to": to}})
    assert kept.status_code == 400, kept.text
    assert answer_shown(owner, shown, {"decision": "edit", "args": {"amount": 2.5, "to": to}}).status_code == 200
    finished(owner, thread_id)
    assert witness.count(f"{to}:2.5") == 1
    assert witness.count(f"{to}:nan") == 0


BODIES = {
    "/api/sessions": '{"agent": %s}',
    "/api/chat/x": '{"message": %s}',
    "/api/resume/x": '{"action": "answer", "answers": [%s]}',
    "/agent/invoke": '{"user_id": "x", "query": %s}',
    "/agent/resume": '{"user_id": "x", "session_id": "y", "response_type": "response", "args": {"args": [%s]}}',
    f"{HITL}/requests": '{"type": "clarification", "request_data": {"question": "x", "more": {"a": %s}}}',
    f"{HITL}/respond": '{"request_id": "clar_1", "response": {"answer": %s}}',
    f"{INBOX}/requests/clar_1/answer": '{"digest": "x", "value": {"answer": %s}}',
    "/api/v1/keys": '{"name": "x", "role": "agent", "expires_at": %s}',
}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("path", BODIES)
def test_a_body_with_such_a_number_is_refused(owner: ThreadsClient, path: str, number: str) -> None:
    headers = {"content-type": "application/json", "idempotency-key": "k"}
    reply = owner.http.post(path, content=BODIES[path] % number, headers=headers)
    assert reply.status_code in (400, 422), reply.text
    strictly(reply.text)
