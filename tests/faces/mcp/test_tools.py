"""Every tool, in both eras of the protocol: what is asked, what a person sees, and what the model is told."""

import json
from typing import Any

import jsonschema
import pytest
from mcp_types import CallToolResult

from tests.support.mcp import Host, code_of, text_of, told, underway

NAMES = [
    *("ask_person", "ask_questions", "decide", "request_approval", "request_secret"),
    *("wait", "withdraw", "permission_prompt"),
]
APPROVAL: dict[str, Any] = {"action": "deploy", "args": {"to": "production"}, "risk_level": "high"}
ASKS: dict[str, tuple[dict[str, Any], str, dict[str, Any], Any]] = {
    "ask_person": ({"question": "Which one?", "options": ["A", "B"]}, "clarification", {"answer": "B"}, "B"),
    "ask_questions": ({"questions": ["Who?", "When?"]}, "clarification", {"answers": ["I", "now"]}, ["I", "now"]),
    "decide": ({"title": "Go on?", "options": ["yes", "no"]}, "decision", {"decision": "no"}, "no"),
}


async def test_the_tools_are_listed_in_a_fixed_order_with_schemas_and_instructions(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == NAMES
        for tool in listed.tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert ("additionalProperties" in tool.input_schema) == (tool.name != "permission_prompt")
            assert (tool.output_schema is None) == (tool.name == "permission_prompt")
        hints = {tool.name: tool.annotations for tool in listed.tools}
        assert all(hint and hint.read_only_hint is (name != "withdraw") for name, hint in hints.items())
        assert "pending is not a yes" in (client.instructions or "")
        if mode == "auto":
            assert (client.protocol_version, listed.ttl_ms, listed.cache_scope) == ("2026-07-28", 3_600_000, "private")


@pytest.mark.parametrize("tool", ASKS)
async def test_a_question_is_put_to_the_person_and_the_call_holds_until_the_answer(
    host: Host, mode: str, tool: str
) -> None:
    arguments, kind, response, answer = ASKS[tool]
    async with host.connected(mode) as client, underway(client.call_tool(tool, arguments)) as call:
        [request] = await host.asked()
        assert (request["type"], request["timeout_seconds"]) == (kind, 3600)
        host.person.respond(request["request_id"], response)
        outcome = told(await call)
    assert (outcome["status"], outcome["answer"], outcome["answered_by"]) == ("answered", answer, "alice")
    assert outcome["request_id"] == request["request_id"]


@pytest.mark.parametrize(
    ("response", "approved", "args", "words"),
    [
        ({"granted": True}, True, {"to": "production"}, "approved"),
        ({"granted": True, "args": {"to": "staging"}}, True, {"to": "staging"}, "staging"),
        ({"granted": False, "reason": "not today"}, False, None, "not today"),
        ({"granted": False, "reply": "ask Bob"}, False, None, "ask Bob"),
    ],
)
async def test_an_approval_is_told_with_the_arguments_to_use_and_a_refusal_is_no_error(
    host: Host, mode: str, response: dict[str, Any], approved: bool, args: Any, words: str
) -> None:
    async with host.connected(mode) as client, underway(client.call_tool("request_approval", APPROVAL)) as call:
        host.person.respond(await host.ask_id(), response)
        outcome = told(result := await call)
    assert (outcome["approved"], outcome.get("args")) == (approved, args)
    assert words in text_of(result)


async def test_who_is_not_answered_in_time_is_told_pending_and_waits_with_the_id(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        result = await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0})
        outcome = told(result)
        assert (outcome["status"], outcome.get("approved")) == ("pending", None)
        assert "Do not go on as if it were a yes" in text_of(result)
        request_id = outcome["request_id"]
        again = await client.call_tool("wait", {"request_id": request_id, "wait_seconds": 0})
        assert told(again)["status"] == "pending"
        async with underway(client.call_tool("wait", {"request_id": request_id})) as call:
            host.person.respond(request_id, {"granted": True})
            assert told(await call)["approved"] is True


async def test_a_deadline_is_never_a_yes(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        result = await client.call_tool("request_approval", {**APPROVAL, "timeout_seconds": 0.1})
        outcome = told(result)
        assert (outcome["status"], outcome["approved"]) == ("expired", False)
        assert "Do not go on as if it were a yes" in text_of(result)


async def test_a_default_stands_in_at_the_deadline_and_is_marked_as_one(host: Host, mode: str) -> None:
    asked = {"question": "Which?", "default": "A", "timeout_seconds": 0.1}
    async with host.connected(mode) as client:
        outcome = told(result := await client.call_tool("ask_person", asked))
    assert (outcome["status"], outcome["answer"], outcome["source"]) == ("expired", "A", "default")
    assert "answered_by" not in outcome
    assert "Nobody answered" in text_of(result)


async def test_what_was_withdrawn_is_closed_and_withdrawing_it_again_changes_nothing(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        asked = told(await client.call_tool("ask_person", {"question": "Still?", "wait_seconds": 0}))
        taken = {"request_id": asked["request_id"], "reason": "found out"}
        outcome = told(await client.call_tool("withdraw", taken))
        assert (outcome["status"], outcome["reason"]) == ("cancelled", "found out")
        assert told(await client.call_tool("withdraw", taken)) == outcome
        assert host.pending() == []
        late = host.person.try_respond(asked["request_id"], {"answer": "yes"})
        assert late.json()["error"]["details"]["current_status"] == "cancelled"


async def test_what_was_answered_first_cannot_be_withdrawn(host: Host) -> None:
    async with host.connected() as client:
        asked = told(await client.call_tool("ask_person", {"question": "Which?", "wait_seconds": 0}))
        host.person.respond(asked["request_id"], {"answer": "this"})
        late = await client.call_tool("withdraw", {"request_id": asked["request_id"]})
    assert code_of(late) == "already_settled"
    details = (late.meta or {})["interlock/details"]
    assert (details["answered_by"], details["source"], details["answer"]) == ("alice", "hitl", {"answer": "this"})
    assert all(part in text_of(late) for part in ("alice", details["answered_at"], "hitl", "this"))


@pytest.mark.parametrize("tool", ["wait", "withdraw"])
async def test_nobody_reaches_what_another_key_asked(host: Host, person: Any, tool: str) -> None:
    other = Host(host.server, person, f"{host.agent}-b", person.new_key(f"{host.agent}-b", "agent")["key"])
    # Also not the person themselves, by this way: no tool here answers for anybody.
    herself = Host(host.server, person, "external", person.new_key("own")["key"])
    async with host.connected() as client:
        asked = told(await client.call_tool("ask_person", {"question": "Which?", "wait_seconds": 0}))
    for one in (other, herself):
        async with one.connected() as client:
            assert code_of(await client.call_tool(tool, {"request_id": asked["request_id"]})) == "forbidden"
            assert code_of(await client.call_tool(tool, {"request_id": "perm_0000000000000000"})) == "not_found"
    assert [request["request_id"] for request in host.pending()] == [asked["request_id"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("ask_person", {}, "question"),
        ("ask_person", {"question": "Which?", "choices": ["A"]}, "choices"),
        ("ask_person", {"question": 7}, "question"),
        ("ask_person", {"question": "Which?", "options": [], "allow_custom": False}, "options"),
        ("ask_questions", {"questions": [{"text": "Who?"}]}, "questions[0].question"),
        ("decide", {"title": "Go on?", "options": ["a", "a"]}, "options"),
        ("request_approval", {"action": "", "args": {}}, "tool_name"),
        ("request_approval", {**APPROVAL, "risk_level": "none"}, "risk_level"),
        ("request_approval", {**APPROVAL, "timeout_seconds": -1}, "timeout_seconds"),
    ],
)
async def test_wrong_arguments_are_an_error_that_names_the_field_and_ask_nobody(
    host: Host, mode: str, tool: str, arguments: dict[str, Any], field: str
) -> None:
    async with host.connected(mode) as client:
        result = await client.call_tool(tool, arguments)
    assert code_of(result) == "invalid_input"
    assert f"- {field}" in text_of(result)
    assert host.pending() == []


PROMPT: dict[str, Any] = {"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "toolu_1"}
SEVERAL: dict[str, Any] = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": True}


def decided(result: CallToolResult) -> dict[str, Any]:
    """What Claude Code is told, which is one text and no error."""
    assert not result.is_error
    return json.loads(text_of(result))


@pytest.mark.parametrize(
    "odd",
    [
        *({"tool_name": ""}, {"tool_name": 7}, {"input": None}, {"input": "rm"}, {"input": [1]}),
        *({"tool_use_id": 7}, {"tool_use_id": ["toolu_1"]}, {"timeout_seconds": -1}, {"timeout_seconds": "soon"}),
    ],
)
async def test_odd_arguments_of_a_permission_prompt_are_no_yes_and_ask_nobody(host: Host, odd: dict[str, Any]) -> None:
    async with host.connected() as client:
        assert code_of(await client.call_tool("permission_prompt", {**PROMPT, **odd})) == "invalid_input"
    assert host.pending() == []


async def test_a_yes_to_a_permission_prompt_is_for_this_call_with_this_input(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        for asks_a_person in (True, False):
            async with underway(client.call_tool("permission_prompt", {**PROMPT, "later_field": 1})) as call:
                if asks_a_person:
                    host.person.respond(await host.ask_id(), {"granted": True})
                assert decided(await call) == {"behavior": "allow", "updatedInput": PROMPT["input"]}
        other = await client.call_tool("permission_prompt", {**PROMPT, "input": {"command": "rm"}})
        assert decided(other)["behavior"] == "deny"
    assert host.pending() == []


@pytest.mark.parametrize(
    ("questions", "response", "behavior", "answers"),
    [
        ([SEVERAL], {"answers": ["A, B"]}, "allow", {"Which?": "A, B"}),
        # Of another form: whether the tool may run is all that can be asked, and nothing is answered by a yes.
        ([SEVERAL, 7], {"granted": True}, "allow", None),
        ([{"question": " "}], {"granted": False}, "deny", None),
        ([{"question": "Which?", "options": "AB"}], {"granted": False}, "deny", None),
        ([{"question": "Which?", "options": [{"label": None}]}], {"granted": False}, "deny", None),
        ({"question": "Which?"}, {"granted": False}, "deny", None),
        ([], {"granted": False}, "deny", None),
    ],
)
async def test_questions_of_the_permission_prompt_are_asked_as_such_where_they_are_understood(
    host: Host, questions: Any, response: dict[str, Any], behavior: str, answers: Any
) -> None:
    asks = {**PROMPT, "tool_name": "AskUserQuestion", "input": {"questions": questions}}
    async with host.connected() as client, underway(client.call_tool("permission_prompt", asks)) as call:
        [request] = await host.asked()
        assert request["type"] == ("clarification" if answers else "permission")
        if answers:
            shown = request["request_data"]["questions"][0]["question"]
            assert shown == "Which? (several, with commas between)"
        host.person.respond(request["request_id"], response)
        said = decided(await call)
    assert said["behavior"] == behavior
    assert said.get("updatedInput", {}).get("answers") == answers


async def test_a_plan_of_the_permission_prompt_is_not_edited(host: Host) -> None:
    asks = {**PROMPT, "tool_name": "ExitPlanMode", "input": {"plan": "# Plan"}}
    async with host.connected() as client, underway(client.call_tool("permission_prompt", asks)) as call:
        [request] = await host.asked()
        assert request["request_data"]["allowed"] == ["accept", "reject", "response"]
        host.person.respond(request["request_id"], {"granted": True})
        assert decided(await call) == {"behavior": "allow", "updatedInput": {"plan": "# Plan"}}


async def test_what_belongs_together_is_shown_in_one_conversation(host: Host) -> None:
    async with host.connected(query="?conversation=release") as client:
        for number, named in enumerate((None, None, "other", "release")):
            asked = {"question": f"Number {number}?", "wait_seconds": 0, "conversation": named}
            told(await client.call_tool("ask_person", asked))
    first, second, other, last = [request["conversation_id"] for request in host.pending()]
    assert first == second == last != other


async def test_a_deleted_conversation_of_the_day_does_not_keep_the_next_ask_away(host: Host, alice: Any) -> None:
    asked = {"question": "Which?", "wait_seconds": 0}
    async with host.connected() as client:
        told(await client.call_tool("ask_person", asked))
        [request] = host.pending()
        alice.http.delete(f"/api/sessions/{request['conversation_id']}").raise_for_status()
        told(await client.call_tool("ask_person", asked))
    [again] = host.pending()
    assert again["conversation_id"] != request["conversation_id"]
