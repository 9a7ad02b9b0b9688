"""`interlock chat` in a real terminal: what an agent asks, asked in place."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.servers.terminal import Terminal
from tests.support.hitl import HitlClient, asked_by_agent
from tests.support.people import People
from tests.support.puppet import Call, Turn, calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

THE_END = says("the ", "end")
"""In two pieces, so that the message that orders it does not show it."""


@pytest.fixture
def thread(owner: ThreadsClient) -> str:
    return owner.new_thread()


@pytest.fixture
def chat(server: ServerProcess, key: str, tmp_path: Path, thread: str) -> Generator[Terminal]:
    """A chat on the thread."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    environment |= {"INTERLOCK_URL": server.url, "INTERLOCK_KEY": key, "EDITOR": "", "VISUAL": ""}
    command = [sys.executable, "-m", "interlock", "chat", "--thread", thread]
    with Terminal(command, tmp_path, environment) as terminal:
        yield terminal


def say(chat: Terminal, *turns: Turn) -> None:
    # At the end of the screen: an earlier prompt is still to be seen, and what is typed too early is forgotten.
    chat.waits_at("you>")
    chat.enter(script(*turns))


def answer(chat: Terminal, prompt: str, *typed: str) -> None:
    chat.sees(prompt)
    for text in typed:
        chat.waits_at(">", ":")
        chat.enter(text)


def test_a_yes_that_is_not_the_last_one_leaves_the_rest_to_others(
    chat: Terminal, thread: str, person: HitlClient, people: People
) -> None:
    """The rule names nobody: whoever may answer on the conversation does, its owner too."""
    root = people.named("root").http
    rule = '[[rule]]\nname = "two"\ntools = ["guarded"]\nthen = "ask"\npeople = 2\nseparate = false\n'
    version = root.post("/api/v1/policy/versions", json={"text": rule}).raise_for_status().json()["version"]
    root.post(f"/api/v1/policy/versions/{version}/activate", json={"expected": None}).raise_for_status()
    try:
        say(chat, calls(("guarded", {"name": "two"})), THE_END)
        asked = person.one_pending(thread)["request_id"]
    finally:
        root.post("/api/v1/policy/deactivate", json={"expected": version}).raise_for_status()
    answer(chat, "yes | no", "yes")
    chat.sees("Your yes is in. 1 of 2.")
    chat.waits_at("you>")
    assert person.look(asked)["status"] == "pending"


def test_a_risky_call_needs_the_typed_word(
    chat: Terminal, thread: str, person: HitlClient, witness: Witness, owner: ThreadsClient
) -> None:
    command = f"run-{owner.username}"
    say(chat, calls(("execute", {"command": command})))
    answer(chat, "YES or execute | no", "yes", "", "y")
    chat.sees("To allow it, type YES or execute.")
    assert person.one_pending(thread)["status"] == "pending"
    assert witness.count(command) == 0
    chat.type("execute")
    chat.press("Enter")
    chat.sees("execute success")
    assert witness.count(command) == 1


def test_what_waited_before_is_asked_first(
    owner: ThreadsClient, thread: str, server: ServerProcess, key: str, tmp_path: Path
) -> None:
    asked_by_agent(owner, thread, ("guarded", {"name": "earlier"}))
    environment = {**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": key}
    command = [sys.executable, "-m", "interlock", "chat", "--thread", thread]
    with Terminal(command, tmp_path, environment) as chat:
        answer(chat, "yes | no [reason]", "no too early")
        chat.sees("guarded refused: too early")
        chat.sees("you>")


def test_one_that_is_answered_elsewhere_says_by_whom(chat: Terminal, thread: str, person: HitlClient) -> None:
    say(chat, calls(("guarded", {"name": "elsewhere"})))
    chat.sees("yes | no [reason]")
    person.respond(person.one_pending(thread)["request_id"], {"granted": False, "reason": "from elsewhere"})
    chat.sees("refused this")
    chat.press("Enter")
    chat.sees("guarded refused: from elsewhere")


def test_arguments_are_edited_and_confirmed(chat: Terminal, witness: Witness, owner: ThreadsClient) -> None:
    before, after = f"before-{owner.username}", f"after-{owner.username}"
    say(chat, calls(("guarded", {"name": before})))
    answer(chat, "yes | no [reason]", "edit")
    answer(chat, "as JSON in one line", f'{{"name": "{after}"}}')
    answer(chat, "allow it so?", "yes")
    chat.sees(f"done {after}")
    assert (witness.count(before), witness.count(after)) == (0, 1)


def test_a_permission_is_remembered_in_plain_words(chat: Terminal, person: HitlClient) -> None:
    say(chat, calls(("guarded", {"name": "again"})))
    answer(chat, "yes | no [reason]", "always")
    answer(chat, "Always allow guarded, any arguments, in this conversation", "3")
    answer(chat, "in this conversation? yes", "yes")
    chat.sees("done again")
    assert [(grant["scope"], grant["duration"]) for grant in person.grants()] == [("this_tool", "session")]


def test_a_permission_for_high_risk_too_takes_its_own_words(
    chat: Terminal, person: HitlClient, owner: ThreadsClient
) -> None:
    say(chat, calls(("guarded", {"name": "again"})))
    answer(chat, "yes | no [reason]", "always")
    answer(chat, "NUMBER high: also for high-risk calls", "4 high")
    chat.sees(f"Always allow guarded, any arguments, in all of {owner.username}'s conversations")
    answer(chat, "also for high-risk calls? HIGH RISK", "yes")
    answer(chat, "yes | no [reason]", "always")
    answer(chat, "NUMBER high: also for high-risk calls", "4 high")
    answer(chat, "also for high-risk calls? HIGH RISK", "HIGH RISK")
    chat.sees("done again")
    told = [(grant["scope"], grant["duration"], grant["ceiling"]) for grant in person.grants()]
    assert told == [("this_tool", "forever", "high")]


@pytest.mark.parametrize(
    ("call", "typed", "told"),
    [
        (("request_clarification", {"question": "Which?", "options": ["eu", "us"]}), ["", "2"], "us"),
        (("request_clarification", {"question": "Which?", "options": ["eu", "us"]}), ["asia"], "asia"),
        (("ask_user", {"questions": [{"question": "What?"}, {"question": "Who?"}]}), ["this", "me"], "this"),
        (
            (
                "request_decision",
                {
                    "title": "Go?",
                    "options": [{"key": "go", "label": "Go", "style": "danger"}, {"key": "stop", "label": "Stop"}],
                },
            ),
            ["1", "1", "1", "YES", "why not"],
            "go",
        ),
    ],
    ids=["option", "own words", "questions", "decision"],
)
def test_questions_are_asked_line_by_line(chat: Terminal, call: Call, typed: list[str], told: str) -> None:
    say(chat, calls(call), THE_END)
    for text in typed:
        chat.waits_at(" >")
        chat.enter(text)
    assert told in chat.sees("the end")


def test_a_secret_is_typed_unseen(chat: Terminal) -> None:
    say(chat, calls(("request_env_vars", {"fields": [{"name": "TOKEN"}]})), THE_END)
    chat.waits_at("TOKEN:")
    answer(chat, "TOKEN:", "sesame7")
    answer(chat, "save them, encrypted?", "no")
    assert "sesame7" not in chat.sees("the end")


def test_what_an_agent_says_does_not_steer_the_terminal(chat: Terminal) -> None:
    say(chat, says("\x1b[2J", "\u202e", "\x1b]0;owned\x07", "all ", "there"))
    assert "\\x1b[2J\\u202e\\x1b]0;owned\\x07all there" in chat.sees("all there")


def test_control_c_stops_the_agent_and_leaves_what_waits(chat: Terminal, thread: str, person: HitlClient) -> None:
    say(chat, calls(("guarded", {"name": "left"})))
    chat.waits_at("/cancel >")
    chat.press("C-c")
    chat.sees("still waits")
    assert person.one_pending(thread)["status"] == "pending"
    say(chat, says("more"))
    chat.sees("Not sent")
    chat.waits_at("/cancel >")
    answer(chat, "yes | no [reason]", "no")
    chat.sees("guarded refused")
