"""The Claude Agent SDK with a scripted command line: what a person answers is what Claude Code is told."""

import asyncio
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    ToolPermissionContext,
    query,
)

from interlock_client import InvalidInput
from interlock_client.adapters.claude_agent import ask_a_person
from interlock_client.client import Interlock
from tests.client.adapters.desk import YES, Desk, FrailServer
from tests.support.claude_code import ScriptedCli
from tests.support.waiting import wait_for

DELETE = ("Bash", {"command": "rm a.txt"})
WRITE = ("Write", {"file_path": "b.txt", "content": "b"})


async def turn(cli: ScriptedCli, desk: Desk, **settings: Any) -> str | None:
    """One turn of Claude; what it says at its end."""
    options = ClaudeAgentOptions(can_use_tool=ask_a_person(desk.client, **settings))
    said = [message async for message in query(prompt="tidy up", options=options, transport=cli)]
    assert isinstance(said[-1], ResultMessage)
    return said[-1].result


async def test_an_approved_call_is_allowed_as_it_was_shown(desk: Desk) -> None:
    about = {"title": "Claude wants to delete a.txt", "display_name": "Run command", "decision_reason": "outside"}
    cli = ScriptedCli(DELETE, about=about)
    said, [shown] = await desk.meanwhile(turn(cli, desk, risk={"Bash": "high"}), {"Bash": YES})
    assert said == "done"
    assert cli.decisions == [{"behavior": "allow", "updatedInput": {"command": "rm a.txt"}}]
    asked = shown["Bash"]
    assert (asked["args"], asked["risk_level"], asked["tool_display_name"]) == (DELETE[1], "high", "Run command")
    assert asked["description"] == "Claude wants to delete a.txt\noutside"


async def test_a_refused_call_is_denied_with_the_reason(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    await desk.meanwhile(turn(cli, desk), {"Bash": {"granted": False, "reason": "it is the last copy"}})
    [denied] = cli.decisions
    assert (denied["behavior"], "interrupt" in denied) == ("deny", False)
    assert "it is the last copy" in denied["message"]


async def test_an_edited_call_is_allowed_with_exactly_the_edited_arguments(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    edited = {"command": "ls"}
    await desk.meanwhile(turn(cli, desk), {"Bash": {"granted": True, "args": edited}})
    assert cli.decisions == [{"behavior": "allow", "updatedInput": edited}]


async def test_an_edit_that_empties_the_arguments_is_not_taken_for_none(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    await desk.meanwhile(turn(cli, desk), {"Bash": {"granted": True, "args": {}}})
    assert cli.decisions == [{"behavior": "allow", "updatedInput": {}}]


async def test_a_reply_is_carried_by_a_denial(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    await desk.meanwhile(turn(cli, desk), {"Bash": {"granted": False, "reply": "already gone"}})
    [denied] = cli.decisions
    assert denied["behavior"] == "deny"
    assert "already gone" in denied["message"]


async def test_nobody_answering_is_a_denial(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    await turn(cli, desk, timeout=0.2)
    [denied] = cli.decisions
    assert denied["behavior"] == "deny"
    assert "no person decided (expired)" in denied["message"]


async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(desk: Desk) -> None:
    cli = ScriptedCli(DELETE, WRITE)
    await desk.meanwhile(turn(cli, desk), {"Bash": {"granted": False}, "Write": YES})
    refused, allowed = cli.decisions
    assert (refused["behavior"], allowed["behavior"], allowed["updatedInput"]) == ("deny", "allow", WRITE[1])


async def test_a_call_that_claude_no_longer_waits_for_is_withdrawn(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)

    def withdraw() -> list[Any]:
        desk.comes()
        loop.call_soon_threadsafe(cli.withdraw, 0)
        gone = wait_for(desk.pending, lambda found: not found)
        loop.call_soon_threadsafe(cli.end)
        return gone

    loop = asyncio.get_running_loop()
    await asyncio.gather(turn(cli, desk), asyncio.to_thread(withdraw))
    assert cli.replies == {}


async def test_a_client_that_talks_on_asks_too(desk: Desk) -> None:
    cli = ScriptedCli(DELETE)
    options = ClaudeAgentOptions(can_use_tool=ask_a_person(desk.client))

    async def talk() -> None:
        async with ClaudeSDKClient(options, transport=cli) as claude:
            await claude.query("tidy up")
            async for _ in claude.receive_response():
                pass

    await desk.meanwhile(talk(), {"Bash": YES})
    assert [decision["behavior"] for decision in cli.decisions] == ["allow"]


async def test_a_restart_of_the_server_while_a_person_thinks_changes_nothing(
    frail: FrailServer, far_desk: Desk
) -> None:
    cli = ScriptedCli(DELETE)

    def restart_and_answer() -> dict[str, Any]:
        far_desk.comes()
        frail.restart()
        return far_desk.answer({"Bash": YES})

    await asyncio.gather(turn(cli, far_desk), asyncio.to_thread(restart_and_answer))
    assert [decision["behavior"] for decision in cli.decisions] == ["allow"]


async def test_what_cannot_be_asked_is_denied_and_ends_the_turn(desk: Desk) -> None:
    async with Interlock(desk.url, key="ilk_wrong") as stranger:
        options = ClaudeAgentOptions(can_use_tool=ask_a_person(stranger))
        cli = ScriptedCli(DELETE)
        assert [message async for message in query(prompt="tidy up", options=options, transport=cli)]
    [denied] = cli.decisions
    assert (denied["behavior"], denied["interrupt"]) == ("deny", True)


QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which format?",
            "header": "Format",
            "options": [{"label": "Short", "description": "One page"}, {"label": "Long"}],
            "multiSelect": False,
        },
        {
            "question": "Which parts?",
            "header": "Parts",
            "options": [{"label": "A"}, {"label": "B"}],
            "multiSelect": True,
        },
    ]
}


async def test_questions_of_claude_are_put_as_questions(desk: Desk) -> None:
    cli = ScriptedCli(("AskUserQuestion", QUESTIONS))

    def answer() -> dict[str, Any]:
        [asked] = desk.comes()
        desk.person.respond(asked["request_id"], {"answers": ["Short", "A, B"]})
        return asked

    _, asked = await asyncio.gather(turn(cli, desk), asyncio.to_thread(answer))
    assert asked["type"] == "clarification"
    given = {"Which format?": "Short", "Which parts?": "A, B"}
    assert cli.decisions == [{"behavior": "allow", "updatedInput": {**QUESTIONS, "answers": given}}]


async def test_questions_that_nobody_answers_are_denied(desk: Desk) -> None:
    cli = ScriptedCli(("AskUserQuestion", QUESTIONS))
    await turn(cli, desk, timeout=0.2)
    assert [decision["behavior"] for decision in cli.decisions] == ["deny"]


async def test_what_changes_the_arguments_meanwhile_does_not_change_what_is_allowed(desk: Desk) -> None:
    args: dict[str, Any] = {"command": "ls", "more": {"path": "."}}

    def change_and_answer() -> None:
        desk.comes()
        args["command"] = "rm"
        args["more"]["path"] = "/"
        desk.answer({"Bash": YES})

    decide = ask_a_person(desk.client)("Bash", args, ToolPermissionContext())
    allowed, _ = await asyncio.gather(decide, asyncio.to_thread(change_and_answer))
    assert allowed == PermissionResultAllow(updated_input={"command": "ls", "more": {"path": "."}})


def test_a_risk_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput):
        ask_a_person(Interlock(), risk={"Bash": "enormous"})  # pyright: ignore[reportArgumentType]
