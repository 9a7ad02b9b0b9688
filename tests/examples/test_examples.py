"""Every file in `examples/` is hosted by a real server, asks a person, and does with the answer what it says."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.examples.conftest import EXAMPLES
from tests.support.threads import ThreadsClient

pytestmark = pytest.mark.xdist_group("examples")
LONGEST = 40


@dataclass(frozen=True, slots=True)
class Talk:
    message: str
    kind: str
    reply: dict[str, Any]
    ends_with: str
    events: list[str] = field(default_factory=lambda: ["messages/partial", "end"])


CONTINUE = {"action": "continue"}
TOOL_RUNS = ["tool/start", "tool/end", "messages/partial", "end"]

TALKS = {
    "ask_first": Talk("order 7", "approval", CONTINUE, "Refunded order 7."),
    "plain_interrupt": Talk("a trip", "clarification", {"action": "answer", "answers": ["Oslo"]}, "You chose Oslo."),
    "show_changes": Talk("milk and bread", "approval", CONTINUE, "Noted 14 characters.", TOOL_RUNS),
    "approve_tools": Talk("ann", "approval", CONTINUE, "Sent to ann.", TOOL_RUNS),
    "record_effects": Talk(
        "a table", "clarification", {"action": "answer", "answers": ["12"]}, "reserved as reserve, charged 12"
    ),
    "ask_for_keys": Talk(
        "connect",
        "env_var",
        {"action": "answer", "answers": ["s3cret", ""]},
        "Connected to anywhere with a token of 6 characters.",
    ),
}


def test_every_example_is_talked_to() -> None:
    assert set(TALKS) == {path.stem for path in EXAMPLES}


def test_every_example_fits_on_a_screen() -> None:
    assert {path.name: count for path in EXAMPLES if (count := len(path.read_text().splitlines())) > LONGEST} == {}


def test_an_example_shows_what_its_call_would_change(person: ThreadsClient) -> None:
    thread_id = person.new_thread("show_changes")
    asked = person.chat(thread_id, "milk, bread and salt")
    found = asked.first("interrupt")["requests"][0]["request_data"]["preview"]
    assert found["type"] == "diff"
    assert found["path"].endswith("notes.txt")
    assert found["lines"][-1] == "+milk, bread and salt"
    person.resume(thread_id, "cancel")


@pytest.mark.parametrize("name", TALKS)
def test_an_example_asks_and_goes_on_with_the_answer(name: str, person: ThreadsClient) -> None:
    talk = TALKS[name]
    thread_id = person.new_thread(name)
    asked = person.chat(thread_id, talk.message)
    assert asked.events[-2:] == ["interrupt", "end"]
    assert [request["kind"] for request in asked.first("interrupt")["requests"]] == [talk.kind]
    answered = person.resume(thread_id, **talk.reply)
    assert (answered.events, answered.text) == (talk.events, talk.ends_with)
    assert person.status(thread_id)["status"] == "idle"


def test_a_cancelled_ask_for_keys_is_told_to_the_example(person: ThreadsClient) -> None:
    thread_id = person.new_thread("ask_for_keys")
    person.chat(thread_id, "connect")
    assert person.resume(thread_id, "cancel").text == "Not connected: cancelled by reader."
