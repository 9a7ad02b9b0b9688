"""What a graph asks without saying what it takes, answered from a terminal: nobody's no becomes a yes."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Interlock
from tests.cli.terminal.driving import inbox
from tests.servers.terminal import Terminal
from tests.support.hitl import HitlClient, asked_by_agent, finished
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

VALUE: dict[str, Any] = {"question": "Approve this transfer?", "amount": 12_000, "to": {"name": "Mal\u202elory"}}


@pytest.fixture
def thread(owner: ThreadsClient) -> str:
    """A conversation whose graph has asked."""
    thread_id = owner.new_thread()
    asked_by_agent(owner, thread_id, ("transfer", {"name": owner.username, "value": VALUE}))
    return thread_id


KEYS: list[tuple[list[str], str, str, Any]] = [
    (["1"], "", "true", True),
    (["2"], "", "false", False),
    (["3"], "fine", '"fine"', "fine"),
    (["4"], "[1]", "[1]", [1]),
    (["4"], "null", "null", None),
]


@pytest.mark.parametrize(("keys", "typed", "gets", "got"), KEYS)
async def test_the_inbox_says_what_the_graph_gets_and_sends_that(
    server: ServerProcess,
    key: str,
    owner: ThreadsClient,
    thread: str,
    witness: Witness,
    keys: list[str],
    typed: str,
    gets: str,
    got: Any,
) -> None:
    async with inbox(server.url, key) as driver:
        await driver.open("Approve this transfer?")
        shown = await driver.sees("Mal\\u202elory")
        assert "amount  12000" in shown
        assert "WRITTEN BY THE AGENT" in shown
        await driver.press("ctrl+s")
        await driver.sees("Choose one")
        await driver.press(*keys)
        await driver.type(typed)
        await driver.sees(f"the graph gets {gets}")
        await driver.press("ctrl+s")
        await driver.sees("✓ answered")
    assert finished(owner, thread) == f"the graph got {got!r}"
    assert witness.count(owner.username) == (1 if got else 0)


async def test_a_text_that_reads_as_a_refusal_is_not_sent_and_stays_open(
    server: ServerProcess, key: str, owner: ThreadsClient, person: HitlClient, thread: str, witness: Witness
) -> None:
    async with inbox(server.url, key) as driver:
        await driver.open("Approve this transfer?")
        await driver.press("3")
        await driver.type("no")
        await driver.press("ctrl+s")
        await driver.sees("refusal, but as a text it counts as true")
        assert person.one_pending(thread)["status"] == "pending"
        await driver.press("escape")
    assert witness.count(owner.username) == 0


async def test_json_is_checked_while_it_is_typed(server: ServerProcess, key: str, thread: str) -> None:
    async with inbox(server.url, key) as driver:
        await driver.open("Approve this transfer?")
        await driver.press("4")
        await driver.type("tru")
        await driver.sees("This is no JSON")
        await driver.type("e")
        await driver.sees("the graph gets true")


def terminal(server: ServerProcess, key: str, folder: Path, *arguments: str) -> Terminal:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    environment |= {"INTERLOCK_URL": server.url, "INTERLOCK_KEY": key}
    return Terminal([sys.executable, "-m", "interlock", *arguments], folder, environment)


TYPED: list[tuple[list[str], str, Any]] = [
    (["", "maybe", "yes"], "the graph gets true", True),
    (["no"], "the graph gets false", False),
    (["text no", "no"], "the graph gets false", False),
    (["json {", 'json {"text": "no"}'], 'the graph gets {"text": "no"}', {"text": "no"}),
    (['json "no"'], 'the graph gets "no"', "no"),
]


@pytest.mark.parametrize(("typed", "gets", "got"), TYPED)
def test_a_chat_asks_how_it_is_meant(
    server: ServerProcess,
    key: str,
    owner: ThreadsClient,
    thread: str,
    witness: Witness,
    tmp_path: Path,
    typed: list[str],
    gets: str,
    got: Any,
) -> None:
    with terminal(server, key, tmp_path, "chat", "--thread", thread) as chat:
        chat.sees("yes: the graph gets true. no: the graph gets false.")
        chat.sees("Mal")
        for text in typed:
            chat.waits_at("json JSON | /cancel >")
            chat.enter(text)
        chat.sees(gets)
        chat.sees("you>")
    assert finished(owner, thread) == f"the graph got {got!r}"
    assert witness.count(owner.username) == (1 if got else 0)


@pytest.mark.parametrize("answer", [False, None, "go", {"a": [1]}])
def test_who_follows_is_told_the_json_that_was_answered(
    server: ServerProcess, key: str, person: HitlClient, thread: str, tmp_path: Path, answer: Any
) -> None:
    with terminal(server, key, tmp_path, "follow", thread) as following:
        following.sees("? clar_")
        person.respond(person.one_pending(thread)["request_id"], {"answer": answer})
        following.sees(f"(hitl): {json.dumps(answer)}.")


ANSWERS: list[tuple[list[str], str, Any]] = [
    (["--json", "false"], "", False),
    (["--json", "null"], "", None),
    (["--json", "-"], "[0]", [0]),
    (["--json", '{"text": "no"}'], "", "no"),
    (["--json", '{"json": {"text": "no"}}'], "", {"text": "no"}),
    (["--text", "go"], "", "go"),
]


@pytest.mark.parametrize(("arguments", "given", "got"), ANSWERS)
def test_a_script_answers_with_json(
    interlock: Interlock,
    server: ServerProcess,
    key: str,
    owner: ThreadsClient,
    person: HitlClient,
    thread: str,
    arguments: list[str],
    given: str,
    got: Any,
) -> None:
    request_id = person.one_pending(thread)["request_id"]
    done = interlock("answer", request_id, *arguments, given=given, url=server.url, key=key)
    assert done.returncode == 0, done.stderr
    assert finished(owner, thread) == f"the graph got {got!r}"
    assert person.look(request_id)["response"] == {"answer": got}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--text", "No."], 1, '{"text": "No."}'),
        (["--yes"], 1, "for yes use --json true, for no --json false"),
        (["--no"], 1, "for yes use --json true, for no --json false"),
        (["--json", "nope"], 2, "--json is no JSON"),
        (["--json", "NaN"], 2, "--json is no JSON"),
        (["--json", "1", "--text", "x"], 2, "give one of"),
    ],
)
def test_what_a_script_cannot_mean_is_refused(
    interlock: Interlock,
    server: ServerProcess,
    key: str,
    person: HitlClient,
    thread: str,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    request_id = person.one_pending(thread)["request_id"]
    done = interlock("answer", request_id, *arguments, url=server.url, key=key)
    assert done.returncode == code
    assert said in " ".join(done.stderr.split())
    assert person.one_pending(thread)["status"] == "pending"
