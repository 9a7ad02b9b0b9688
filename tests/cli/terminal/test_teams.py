"""Requests that are put to people by name: in the inbox, and by `interlock pending` and `interlock answer`."""

import json
import re
from collections.abc import Callable, Generator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from interlock_client.cli.terminal.request_screen import RequestScreen
from interlock_client.cli.terminal.team_wording import TEXTS
from tests.cli.conftest import Interlock
from tests.cli.terminal.driving import Asker, inbox
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess

_numbers = count(1)
INBOX = "/api/v1/inbox/requests"
Ask = Callable[..., str]


class Team:
    """Two people in a group, each with a key for a terminal."""

    def __init__(self, people: People, stack: ExitStack) -> None:
        number = next(_numbers)
        self.group = f"team-{number}"
        self.names = (f"ann-{number}", f"bob-{number}")
        self.clients = [stack.enter_context(of(people.named(name))) for name in self.names]
        self.keys = [client.new_key("terminal")["key"] for client in self.clients]
        members = {"name": self.group, "members": self.names}
        people.named("root").http.post("/api/v1/groups", json=members).raise_for_status()


@pytest.fixture
def team(people: People) -> Generator[Team]:
    with ExitStack() as stack:
        yield Team(people, stack)


@pytest.fixture
def ask(asker: Asker, team: Team) -> Ask:
    """Somebody's agent asks them."""

    def ask(**needs: Any) -> str:
        asked = {"tool_name": "refund", "args": {"amount": 900}, "risk_level": "medium"}
        return asker.ask("permission", asked, needs={"from": [f"group:{team.group}"], **needs})["request_id"]

    return ask


async def test_two_people_say_yes(server: ServerProcess, team: Team, ask: Ask, asker: Asker) -> None:
    asked = ask(people=2)
    ann, bob = team.names
    async with inbox(server.url, team.keys[0]) as first, inbox(server.url, team.keys[1]) as second:
        await first.sees("[0/2] refund")
        await first.open("refund")
        shown = await first.sees(f"Needs the yes of 2 people of {team.group}. Whoever asked does not count.")
        assert "0 of 2 have said yes." in shown
        assert "e edit" not in shown
        assert "m reply" not in shown
        await first.press("e")
        await first.sees("no edits, replies or remembered answers")
        await first.press("a")
        await first.sees("Allow refund, exactly as shown?")
        assert not first.app.screen.query("#remember")
        await first.press("a")
        await first.sees("✓ Your yes is in. 1 of 2.")
        await first.sees(f"✓ {ann} said yes at")
        await first.sees("u take my yes back")
        assert "a approve" not in first.text
        await first.press("t")
        await first.type("is this right?")
        await first.press("ctrl+s")
        await first.sees("Your comment is sent.")
        await first.sees("is this right?")

        await second.sees("[1/2] refund")
        await second.open("refund")
        await second.sees("1 of 2 have said yes. You see who, once you have decided yourself.")
        assert ann not in second.text
        assert "is this right?" not in second.text
        await first.press("u")
        await first.sees("Your yes is taken back. 0 of 2.")
        await second.sees("0 of 2 have said yes.")
        await first.press("a", "a")
        await first.sees("✓ Your yes is in. 1 of 2.")
        await second.press("a", "a")
        await second.sees("✓ approved")
        await first.sees(f"{ann}, {bob} approved this")
    assert asker.response_to(asked) == {"granted": True}


@pytest.mark.promise("P18")
async def test_a_yes_is_offered_again_where_all_places_are_filled_without_one(
    server: ServerProcess, team: Team, ask: Ask, people: People
) -> None:
    """Bob votes, leaves the group, and comes back to it after ann's yes."""
    asked, (ann, bob) = ask(people=2), team.clients
    group, root = f"/api/v1/groups/{team.group}", people.named("root").http
    bob.respond(asked, {"granted": True})
    root.put(group, json={"members": team.names[:1]}).raise_for_status()
    ann.respond(asked, {"granted": True})
    root.put(group, json={"members": team.names}).raise_for_status()
    assert ann.look(asked)["status"] == "pending"
    async with inbox(server.url, team.keys[0]) as driver:
        await driver.sees("[2/2] refund")
        await driver.open("refund")
        shown = await driver.sees("who may decide has changed: it waits for one more")
        assert "a approve" in shown
        await driver.press("a", "a")
        await driver.sees("✓ approved")
    assert ann.look(asked)["status"] == "answered"


async def test_who_asked_gives_no_yes_and_may_end_it(
    server: ServerProcess, key: str, ask: Ask, person: HitlClient
) -> None:
    asked = ask(people=2)
    async with inbox(server.url, key) as driver:
        await driver.open("refund")
        shown = await driver.sees("You asked for this, so your yes does not count.")
        assert "a approve" not in shown
        assert "c I have it" not in shown
        await driver.press("a")
        assert isinstance(driver.app.screen, RequestScreen)
        await driver.press("c")
        await driver.sees("Could not do that:")
        assert person.look(asked)["status"] == "pending"
        await driver.press("r", "ctrl+s")
        await driver.sees("✓ refused")
    assert person.look(asked)["response"] == {"granted": False}


async def test_an_answer_over_somebodys_claim_asks_once(
    server: ServerProcess, team: Team, ask: Ask, asker: Asker
) -> None:
    asked = ask()
    ann, bob = team.clients
    async with inbox(server.url, team.keys[0]) as driver:
        await driver.open("refund")
        await driver.press("c")
        await driver.sees("You have it now, until")
        assert ann.http.get(f"{INBOX}/{asked}").json()["people"]["claim"]["mine"] is True
        await driver.press("x")
        await driver.sees("Released.")
        await driver.sees_no("x release")
        bob.http.post(f"{INBOX}/{asked}/claim").raise_for_status()
        await driver.sees(f"{team.names[1]} has it until")
        await driver.press("a", "a")
        await driver.sees("Answer all the same?")
        await driver.press("escape")
        assert ann.look(asked)["status"] == "pending"
        await driver.press("a", "a")
        await driver.sees("Answer all the same?")
        await driver.press("a")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_it_is_passed_on_to_who_may_be_asked_anyway(
    server: ServerProcess, team: Team, ask: Ask, people: People
) -> None:
    people.named("zoe")
    asked = ask()
    async with inbox(server.url, team.keys[0]) as driver:
        await driver.open("refund")
        for name, why in (("nobody-like-this", "nobody else of this name"), ("zoe", "only who may be asked for it")):
            await driver.press("d")
            await driver.sees("Pass this on. To whom?")
            field: Any = driver.app.screen.query_one("#text")
            field.value = name
            await driver.press("ctrl+s")
            await driver.sees("A note, for the record?")
            await driver.press("ctrl+s")
            await driver.sees("Could not do that:")
            assert why in " ".join(driver.text.split())
        await driver.press("d")
        await driver.sees("Pass this on. To whom?")
        field = driver.app.screen.query_one("#text")
        field.value = team.names[1]
        await driver.press("ctrl+s")
        await driver.sees("A note, for the record?")
        await driver.press("ctrl+s")
        await driver.sees(f"Passed on to {team.names[1]}.")
        await driver.sees("so your yes")
        await driver.sees_no("a approve")
    assert team.clients[0].try_respond(asked, {"granted": True}).status_code == 403


async def test_the_list_shows_whose_requests_one_wants(
    server: ServerProcess, team: Team, ask: Ask, asker: Asker
) -> None:
    ann, _ = team.clients
    first, own = ask(people=2), ann.ask("clarification", {"question": "mine alone?"})["request_id"]
    async with inbox(server.url, team.keys[0]) as driver:
        await driver.sees("2 waiting")
        await driver.press("f")
        await driver.sees(f"For {team.group}")
        await driver.press("4")
        await driver.sees(f"1 of 2 waiting · For {team.group}")
        await driver.sees_no("mine alone?")
        second = ask()
        await driver.sees(f"2 of 3 waiting · For {team.group}")
        await driver.press("f")
        await driver.sees("Claimed by me")
        await driver.press("3")
        await driver.sees("0 of 3 waiting · Claimed by me")
        ann.http.post(f"{INBOX}/{second}/claim").raise_for_status()
        await driver.sees("[you have it] refund")
        assert "[0/2]" not in driver.text
    for request_id in (first, second):
        asker.try_cancel(request_id)
    ann.try_cancel(own)


async def test_a_yes_repeats_the_code_where_a_rule_says_so(
    server: ServerProcess, people: People, team: Team, asker: Asker
) -> None:
    root = people.named("root").http
    rule = f'[[rule]]\nname = "coded"\ntools = ["coded"]\nthen = "ask"\ncode = true\nfrom = ["group:{team.group}"]\n'
    version = root.post("/api/v1/policy/versions", json={"text": rule}).raise_for_status().json()["version"]
    root.post(f"/api/v1/policy/versions/{version}/activate", json={"expected": None}).raise_for_status()
    try:
        asked = asker.approval("coded")
    finally:
        root.post("/api/v1/policy/deactivate", json={"expected": version}).raise_for_status()
    code = team.clients[0].http.get(f"{INBOX}/{asked}").json()["code"]
    async with inbox(server.url, team.keys[0]) as driver:
        await driver.open("coded")
        await driver.sees(f"A yes repeats the code {code}.")
        await driver.press("a")
        await driver.type("YES")
        await driver.press("ctrl+s")
        await driver.sees("That is not it")
        await driver.press("backspace", "backspace", "backspace")
        await driver.type(code)
        await driver.press("ctrl+s")
        await driver.sees("✓ approved")
    assert asker.response_to(asked) == {"granted": True}


async def test_the_words_are_those_of_ones_own_language(server: ServerProcess, team: Team, ask: Ask) -> None:
    asked = ask(people=2)
    async with inbox(server.url, team.keys[0], locale="zh") as driver:
        await driver.open("refund")
        await driver.sees(TEXTS["yes"]["zh"].format(yes=0, needed=2))
        await driver.press("a", "a")
        await driver.sees(TEXTS["yes is in"]["zh"].format(yes=1, needed=2))
    team.clients[0].try_respond(asked, {"granted": False})


def test_every_sentence_is_there_in_both_languages() -> None:
    for key, texts in TEXTS.items():
        assert texts.keys() == {"en", "zh"}, key
        names = [sorted(set(re.findall(r"{(\w+)}", text))) for text in texts.values()]
        assert names[0] == names[1], key


def test_commands_show_and_honour_the_same(
    interlock: Interlock, server: ServerProcess, team: Team, ask: Ask, key: str, asker: Asker
) -> None:
    def run(credential: str, *arguments: str, code: int = 0) -> str:
        done = interlock(*arguments, url=server.url, key=credential)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout if code in (0, 3) else done.stderr

    ann, bob = team.keys
    both, one = ask(people=2), ask()
    alone = asker.approval("alone")
    rows = [row.split("\t") for row in run(ann, "pending").splitlines()]
    assert [(row[0], len(row)) for row in rows] == [(both, 8), (one, 8)]
    assert "0 of 2 have said yes." in rows[0][7]
    assert [len(row.split("\t")) for row in run(key, "pending", "--type", "permission").splitlines()] == [8, 8, 7]
    told = {row["request_id"]: row.get("people") for row in json.loads(run(key, "pending", "--json"))}
    assert (told[alone], told[both]["may_answer"], told[both]["votes"]["yes"]) == (None, False, 0)

    assert "NOT_ELIGIBLE" not in run(key, "answer", both, "--yes", code=1)
    assert "1 of 2" in run(ann, "answer", both, "--yes", code=3)
    assert "1 of 2" in run(ann, "answer", both, "--yes", code=3)
    assert "0 of 2" in run(ann, "answer", both, "--take-back")
    run(ann, "answer", both, "--take-back", code=1)
    run(ann, "answer", both, "--yes", code=3)
    assert run(bob, "answer", both, "--yes") == f"{both} is answered\n"
    assert asker.response_to(both) == {"granted": True}

    team.clients[1].http.post(f"{INBOX}/{one}/claim").raise_for_status()
    assert run(ann, "pending", "--for", "claimed") == ""
    assert run(bob, "pending", "--for", "claimed").startswith(one)
    assert run(bob, "pending", "--for", f"group:{team.group}").startswith(one)
    run(bob, "pending", "--for", "group:nobodys", code=1)
    refused = run(ann, "answer", one, "--yes", code=1)
    assert team.names[1] in refused
    assert "--over-claim" in refused
    assert run(ann, "answer", one, "--yes", "--over-claim") == f"{one} is answered\n"
    asker.try_cancel(alone)
