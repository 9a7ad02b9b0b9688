"""A resume is an answer: row by row of who may settle what, and that nobody answers what they did not see."""

from typing import Any

import pytest

from tests.support.langgraph import LanggraphClient
from tests.support.waiting import wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness

AGENTS = ("one_node", "two_nodes")
BROWSER = {"origin": "https://app.example.org"}
EDIT = {"name": "pay", "args": {"amount": 3, "to": "bob"}}


def question(interrupt: dict[str, Any]) -> str:
    return interrupt["value"]["question"].rpartition("/")[2]


def name(interrupt: dict[str, Any]) -> str:
    return interrupt["value"]["question"].removeprefix("delete ").rpartition("/")[0]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_bare_resume_answers_what_was_shown(client: LanggraphClient, witness: Witness, agent: str) -> None:
    thread_id, asked = client.asked(agent)
    assert question(asked) == "staging?"
    then = client.resume(thread_id, agent, "yes").json()["__interrupt__"]
    assert [question(one) for one in then] == ["PRODUCTION?"]
    done = client.resume(thread_id, agent, "really").json()
    assert done["out"] == ["yes", "really"]
    assert "__interrupt__" not in done
    assert witness.count(f"{name(asked)}/production") == 1


@pytest.mark.parametrize("agent", AGENTS)
def test_ids_are_ours_and_are_not_used_again(client: LanggraphClient, agent: str) -> None:
    thread_id, asked = client.asked(agent)
    assert len(asked["id"]) == 32
    assert client.state(thread_id)["tasks"][0]["interrupts"] == [{"id": asked["id"], "value": asked["value"]}]
    [then] = client.resume(thread_id, agent, {asked["id"]: "yes"}).json()["__interrupt__"]
    assert then["id"] != asked["id"]
    refused = client.resume(thread_id, agent, {asked["id"]: "another"})
    assert (refused.status_code, refused.json()["code"]) == (409, "already_settled")
    assert refused.json()["interrupts"][0]["id"] == then["id"]
    assert (refused.json()["current_status"], refused.json()["source"]) == ("answered", "langgraph")


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("by", "how"), [("bare", ""), ("id", ""), ("id", "wait"), ("id", "stream")])
@pytest.mark.parametrize("tabs", ["one connection", "two tabs"])
def test_a_double_click_answers_one_question(
    client: LanggraphClient, witness: Witness, agent: str, by: str, how: str, tabs: str
) -> None:
    thread_id, asked = client.asked(agent)
    value = "yes" if by == "bare" else {asked["id"]: "yes"}

    def click(_: int) -> int:
        if tabs == "one connection":
            return client.resume(thread_id, agent, value, how, **BROWSER).status_code
        with LanggraphClient(str(client.http.base_url)) as tab:
            return tab.resume(thread_id, agent, value, how, **BROWSER).status_code

    # Without an id no reply shows the next question here: whether a click came within a second is for the clock.
    statuses = at_once(2, click)
    assert statuses.count(200) >= 1
    assert set(statuses) <= {200, 409}
    thread = wait_for(lambda: client.http.get(f"/threads/{thread_id}").json(), lambda seen: seen["status"] != "busy")
    assert thread["status"] == "interrupted"
    [still] = client.state(thread_id)["interrupts"]
    assert still["id"] != asked["id"]
    assert witness.count(f"{name(asked)}/production") == 0


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("by", ["bare", "id"])
def test_a_repeat_gets_the_first_reply(client: LanggraphClient, witness: Witness, agent: str, by: str) -> None:
    thread_id, asked = client.asked(agent)
    value = "yes" if by == "bare" else {asked["id"]: "yes"}
    first, again, third = (client.resume(thread_id, agent, value, "") for _ in range(3))
    assert {first.status_code, again.status_code, third.status_code} == {200}
    assert first.json()["run_id"] == again.json()["run_id"] == third.json()["run_id"]
    assert witness.count(f"{name(asked)}/production") == 0


def test_a_browser_that_lost_its_reply_does_not_answer_what_was_in_it(
    client: LanggraphClient, witness: Witness
) -> None:
    thread_id, asked = client.asked("two_nodes")
    # The reply has the next question. For the server it was sent, also where it never arrived.
    first = client.resume(thread_id, "two_nodes", "yes", **BROWSER)
    again = client.resume(thread_id, "two_nodes", "yes", **BROWSER)
    assert again.status_code == 200
    assert again.headers["content-location"] == first.headers["content-location"]
    assert again.json() == first.json()
    assert [question(one) for one in again.json()["__interrupt__"]] == ["PRODUCTION?"]
    assert witness.count(f"{name(asked)}/production") == 0
    # A page looks at the thread after a reply; what is clicked then is meant for what it saw.
    client.state(thread_id)
    taken = wait_for(
        lambda: client.resume(thread_id, "two_nodes", "yes", **BROWSER), lambda reply: reply.status_code == 200
    )
    assert taken.json()["out"] == ["yes", "yes"]


def test_another_bare_value_for_an_unseen_question_is_refused(client: LanggraphClient) -> None:
    thread_id, _ = client.asked("one_node")
    client.resume(thread_id, "one_node", "yes", "")
    client.http.get(f"/threads/{thread_id}/runs").raise_for_status()
    refused = _until_refused_as(client, thread_id, "other", "not_shown")
    assert [question(one) for one in refused["interrupts"]] == ["PRODUCTION?"]
    # The refusal itself shows nothing: the third of three clicks is refused like the second.
    assert client.resume(thread_id, "one_node", "other", "").status_code == 409
    client.state(thread_id)
    assert client.resume(thread_id, "one_node", "other").json()["out"] == ["yes", "other"]


def _until_refused_as(client: LanggraphClient, thread_id: str, value: str, code: str) -> dict[str, Any]:
    def look() -> dict[str, Any]:
        reply = client.resume(thread_id, "one_node", value, "")
        assert reply.status_code == 409
        return reply.json()

    return wait_for(look, lambda body: body["code"] == code)


def test_null_is_no_answer_and_false_is_one(client: LanggraphClient) -> None:
    thread_id, _ = client.asked("two_nodes")
    commands: list[dict[str, Any]] = [{"resume": None}, {"resume": None, "update": None, "goto": []}]
    for command in commands:
        refused = client.post(thread_id, "", {"assistant_id": "two_nodes", "command": command})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_answer")
    client.resume(thread_id, "two_nodes", False)
    assert client.resume(thread_id, "two_nodes", []).json()["out"] == [False, []]


@pytest.mark.parametrize("more", [{"update": {"out": ["by hand"]}}, {"goto": "production"}], ids=["update", "goto"])
def test_what_stands_beside_an_answer_is_refused_with_it(client: LanggraphClient, more: dict[str, Any]) -> None:
    thread_id, asked = client.asked("two_nodes")
    command = {"resume": {asked["id"]: "yes"}, **more}
    refused = client.post(thread_id, "", {"assistant_id": "two_nodes", "command": command})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_supported")
    params = {"interrupt_id": asked["id"], "response": "yes", **more}
    sent = {"id": 1, "method": "input.respond", "params": params}
    replied = client.http.post(f"/threads/{thread_id}/commands", json=sent).json()
    assert (replied["type"], replied["error"]) == ("error", "not_supported")
    [open_now] = client.state(thread_id)["interrupts"]
    assert (open_now["id"], client.state(thread_id)["values"]["out"]) == (asked["id"], [])


def test_several_open_need_ids_and_some_may_be_answered(client: LanggraphClient, witness: Witness) -> None:
    thread_id, _ = client.asked("pair")
    tasks = client.state(thread_id)["tasks"]
    ids = [one["interrupts"][0]["id"] for one in tasks]
    assert len(set(ids)) == 2
    refused = client.resume(thread_id, "pair", "yes")
    assert (refused.status_code, refused.json()["code"]) == (422, "ambiguous")
    assert {one["id"] for one in refused.json()["interrupts"]} == set(ids)
    partly = client.resume(thread_id, "pair", {ids[0]: "yes"}).json()
    assert [one["id"] for one in partly["__interrupt__"]] == [ids[1]]
    repeated = client.resume(thread_id, "pair", {ids[0]: "yes"}).json()
    assert [one["id"] for one in repeated["__interrupt__"]] == [ids[1]]
    both = client.resume(thread_id, "pair", {ids[0]: "yes", ids[1]: "yes"})
    assert (both.status_code, both.json()["code"]) == (409, "already_settled")
    shown = client.http.get(f"/threads/{thread_id}").json()
    assert [view["id"] for views in shown["interrupts"].values() for view in views] == [ids[1]]
    assert sorted(client.resume(thread_id, "pair", {ids[1]: "no"}).json()["out"]) == ["no", "yes"]


def test_unknown_ids_and_nothing_pending(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("one_node")
    _, elsewhere = client.asked("one_node")
    unknown = [{"0" * 32: "yes"}, {elsewhere["id"]: "yes"}]
    beside = [{asked["id"]: "yes", other: "yes"} for other in ("0" * 32, elsewhere["id"], "staging")]
    for value in (*unknown, *beside):
        refused = client.resume(thread_id, "one_node", value)
        assert (refused.status_code, refused.json()["code"]) == (409, "no_such_interrupt"), value
        assert [one["id"] for one in refused.json()["interrupts"]] == [asked["id"]]
    fresh = client.thread()
    nothing = client.resume(fresh, "one_node", "yes")
    assert (nothing.status_code, nothing.json()["code"]) == (409, "nothing_pending")


def test_an_object_with_other_keys_is_the_answer_itself(client: LanggraphClient) -> None:
    thread_id, _ = client.asked("two_nodes")
    client.resume(thread_id, "two_nodes", {"a": 1})
    assert client.state(thread_id)["values"]["out"] == [{"a": 1}]


def test_a_checkpoint_is_a_fence(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("two_nodes")
    head = client.state(thread_id)["checkpoint"]
    body = {"assistant_id": "two_nodes", "command": {"resume": {asked["id"]: "yes"}}}
    taken = client.post(thread_id, "wait", {**body, "checkpoint": head}).json()
    [then] = taken["__interrupt__"]
    later = {"assistant_id": "two_nodes", "command": {"resume": {then["id"]: "yes"}}, "checkpoint": head}
    stale = client.post(thread_id, "wait", later)
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_checkpoint")
    assert client.state(thread_id)["values"]["out"] == ["yes"]


def test_an_input_is_never_an_answer(client: LanggraphClient, witness: Witness) -> None:
    thread_id, asked = client.asked("one_node")
    busy = client.post(
        thread_id, "wait", {"assistant_id": "one_node", "input": {"q": "x"}, "multitask_strategy": "reject"}
    )
    assert busy.status_code == 409
    went_on = client.post(thread_id, "wait", {"assistant_id": "one_node", "input": {"q": "other"}}).json()
    [then] = went_on["__interrupt__"]
    assert then["id"] != asked["id"]
    assert then["value"]["question"] == "delete other/staging?"
    late = client.resume(thread_id, "one_node", {asked["id"]: "yes"})
    assert (late.status_code, late.json()["current_status"]) == (409, "cancelled")
    assert witness.count("other/production") == 0


def test_an_input_beside_an_answer_is_not_taken(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("two_nodes")
    body = {"assistant_id": "two_nodes", "input": {"q": "other"}, "command": {"resume": {asked["id"]: "yes"}}}
    [then] = client.post(thread_id, "wait", body).json()["__interrupt__"]
    assert (name(then), client.state(thread_id)["values"]["out"]) == (name(asked), ["yes"])


def test_an_input_that_waits_comes_after_the_answers(client: LanggraphClient) -> None:
    thread_id, _ = client.asked("two_nodes")
    body = {"assistant_id": "two_nodes", "input": {"q": "later"}, "multitask_strategy": "enqueue"}
    waiting = client.post(thread_id, "", body).json()
    assert (waiting["status"], waiting["kwargs"]["input"]) == ("pending", {"q": "later"})
    other = client.post(thread_id, "", body).json()["run_id"]
    assert client.http.post(f"/threads/{thread_id}/runs/{other}/cancel").status_code == 202
    # What a person is asked does not end with a run that waits behind it.
    assert client.http.get(f"/threads/{thread_id}").json()["status"] == "interrupted"
    client.resume(thread_id, "two_nodes", "yes")
    client.resume(thread_id, "two_nodes", "yes")
    asked = client.http.get(f"/threads/{thread_id}/runs/{waiting['run_id']}/join").json()
    assert asked["__interrupt__"][0]["value"]["question"] == "delete later/staging?"


@pytest.mark.parametrize("by", ["goto", "state"])
def test_resolving_cancels_what_is_open(client: LanggraphClient, by: str) -> None:
    thread_id, asked = client.asked("one_node")
    if by == "goto":
        body = {"assistant_id": "one_node", "command": {"goto": "__end__"}, "stream_mode": ["values"]}
        assert client.stream(thread_id, body).frames[-1].event == "end"
    else:
        written = client.http.post(f"/threads/{thread_id}/state", json={"values": None, "as_node": "__end__"})
        assert written.json()["checkpoint"]["thread_id"] == thread_id
    shown = client.http.get(f"/threads/{thread_id}").json()
    assert (shown["status"], shown["interrupts"]) == ("idle", {})
    assert client.state(thread_id)["tasks"][0]["interrupts"] == []
    assert client.resume(thread_id, "one_node", {asked["id"]: "yes"}).json()["code"] == "already_settled"


def test_no_input_shows_the_question_again(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("one_node")
    again = client.post(thread_id, "wait", {"assistant_id": "one_node", "input": None}).json()
    assert again["__interrupt__"][0]["id"] == asked["id"]
    fresh = client.thread()
    assert client.post(fresh, "wait", {"assistant_id": "one_node", "input": None}).status_code == 422


def test_a_breakpoint_is_passed_by_no_input(client: LanggraphClient) -> None:
    thread_id = client.thread()
    body = {"assistant_id": "plain", "input": {"q": "x"}, "interrupt_before": ["second"]}
    stopped = client.post(thread_id, "wait", body).json()
    assert stopped["out"] == ["first"]
    shown = client.http.get(f"/threads/{thread_id}").json()
    assert (shown["status"], shown["interrupts"]) == ("interrupted", {})
    assert client.state(thread_id)["next"] == ["second"]
    passed = client.post(thread_id, "wait", {"assistant_id": "plain", "input": None}).json()
    assert passed["out"] == ["first", "second"]


def test_decisions_are_checked_before_they_count(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("hitl")
    assert [one["args"]["amount"] for one in asked["value"]["action_requests"]] == [1, 2]
    wrong: list[Any] = [
        {"decisions": [{"type": "approve"}]},
        {"decisions": [{"type": "approve"}, {"type": "maybe"}]},
        {"decisions": [{"type": "approve"}, {"type": "respond", "message": "x"}]},
        {"decisions": [{"type": "approve"}, {"type": "edit", "edited_action": {"name": "rob", "args": {}}}]},
        {
            "decisions": [
                {"type": "approve"},
                {"type": "edit", "edited_action": EDIT, "editedAction": {**EDIT, "args": {}}},
            ]
        },
        "yes",
    ]
    for value in wrong:
        refused = client.resume(thread_id, "hitl", value)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_answer"), value
    refusal = {"type": "reject", "message": "no"}
    done = client.resume(thread_id, "hitl", {"decisions": [{"type": "edit", "editedAction": EDIT}, refusal]}).json()
    assert done["out"] == [{"decisions": [{"type": "edit", "edited_action": EDIT}, refusal]}]


def test_agent_inbox_answers_the_first_action_only(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("hitl")
    accept = [{"type": "accept", "args": None}]
    left = client.resume(thread_id, "hitl", accept, "").json()
    assert left["status"] == "success"
    # The same once more, before what is left was shown, is the same answer.
    again = client.resume(thread_id, "hitl", accept, "")
    assert again.status_code == 200
    by_id = client.resume(thread_id, "hitl", {asked["id"]: accept}, "")
    assert by_id.status_code == 200
    [interrupt] = client.state(thread_id)["tasks"][0]["interrupts"]
    assert [one["args"]["amount"] for one in interrupt["value"]["action_requests"]] == [2]
    done = client.resume(thread_id, "hitl", [{"type": "response", "args": "too much"}]).json()
    decisions = [{"type": "approve"}, {"type": "reject", "message": "too much"}]
    assert done["out"] == [{"decisions": decisions}]


@pytest.mark.parametrize("amount", ["[" * 100_000, "[" * 70 + "]" * 70, "NaN", "1e999", "many"])
def test_a_text_that_is_no_value_of_an_argument_is_refused(client: LanggraphClient, amount: str) -> None:
    thread_id, _ = client.asked("hitl")
    edit = [{"type": "edit", "args": {"action": "pay", "args": {"amount": amount, "to": "ann"}}}]
    refused = client.resume(thread_id, "hitl", edit)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_answer")


def test_what_is_left_is_shown_by_frames_that_have_it(client: LanggraphClient) -> None:
    thread_id, _ = client.asked("hitl")
    resume = {"resume": [{"type": "accept", "args": None}]}
    body = {"assistant_id": "hitl", "command": resume, "stream_mode": ["custom"]}
    # Neither frame has the second action: the same once more is the same answer.
    for _ in range(2):
        assert [one.event for one in client.stream(thread_id, body).frames] == ["metadata", "end"]
    [interrupt] = client.state(thread_id)["tasks"][0]["interrupts"]
    assert [one["args"]["amount"] for one in interrupt["value"]["action_requests"]] == [2]


@pytest.mark.parametrize(
    ("agent", "call"), [("hitl", {"amount": 1, "to": "ann"}), ("inbox", {"text": "hi"})], ids=["decisions", "older"]
)
def test_a_card_of_another_call_accepts_nothing(client: LanggraphClient, agent: str, call: dict[str, Any]) -> None:
    thread_id, asked = client.asked(agent)
    tool = "pay" if agent == "hitl" else "send"
    if agent == "hitl":
        # Agent Inbox reads the arguments by this name only, and sends them back with its yes.
        assert asked["value"]["action_requests"][0]["arguments"] == call
    other = {name: f"{value}0" for name, value in call.items()}
    for shown in ({"action": tool, "args": other}, {"action": "rob", "args": call}, {"action": tool, "args": None}):
        refused = client.resume(thread_id, agent, [{"type": "accept", "args": shown}])
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_answer"), shown
    [still] = client.state(thread_id)["interrupts"]
    assert (still["id"], still["value"]) == (asked["id"], asked["value"])
    # Where it was edited and set back, what was a number is a text.
    texts = {name: str(value) for name, value in call.items()}
    assert client.resume(thread_id, agent, [{"type": "accept", "args": {"action": tool, "args": texts}}]).is_success


def test_the_older_form_is_answered_in_its_own_words(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("inbox")
    assert asked["value"][0]["action_request"] == {"action": "send", "args": {"text": "hi"}}
    edited = [{"type": "edit", "args": {"action": "send", "args": {"text": "hello"}}}]
    done = client.resume(thread_id, "inbox", edited).json()
    assert done["out"] == [[{"type": "edit", "args": {"action": "send", "args": {"text": "hello"}}}]]
