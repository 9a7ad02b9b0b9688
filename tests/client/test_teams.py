"""Groups, who is away, and what people do with a request beside answering it, over the client."""

import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock_client import Conflict, Forbidden, Interlock, InvalidInput
from interlock_client.events import InboxAsked, InboxChanged, InboxEvent
from tests.client.asking import Person, within
from tests.client.conftest import token_of
from tests.support.hitl import PERMISSION
from tests.support.people import People
from tests.support.server import ServerProcess


@pytest.fixture
async def cyd(server: ServerProcess, people: People) -> AsyncGenerator[Interlock]:
    async with Interlock(server.url, token=token_of(people.named("cyd")), locale="en") as client:
        yield client


def ask(everybody: People, group: str, **needs: Any) -> str:
    """Alice asks, from a program."""
    body = {"type": "permission", "request_data": PERMISSION, "needs": {"from": [f"group:{group}"], **needs}}
    asked = everybody.named("alice").http.post("/api/v1/agent/hitl/requests", json=body).raise_for_status()
    return asked.json()["data"]["request_id"]


async def news(events: AsyncGenerator[InboxEvent], request_id: str) -> tuple[type, str]:
    """The next event about that request."""
    while (event := await within(anext(events))).entry.request_id != request_id:
        pass
    return type(event), event.what if isinstance(event, InboxChanged) else ""


async def test_groups_are_made_changed_and_removed(root: Interlock, alice: Person, bob: Interlock) -> None:
    name = f"g-{secrets.token_hex(4)}"
    assert (await root.create_group(name, ["alice"])).members == ["alice"]
    with pytest.raises(Conflict):
        await root.create_group(name)
    assert (await root.set_group(name, ["bob", "alice"])).members == ["alice", "bob"]
    assert [one.members for one in await bob.groups() if one.name == name] == [["alice", "bob"]]
    with pytest.raises(Forbidden):
        await bob.set_group(name, ["bob"])
    with pytest.raises(InvalidInput):
        await root.set_group(name, ["nobody-of-this-name"])
    await root.remove_group(name)
    assert name not in [one.name for one in await alice.groups()]
    assert await alice.find_people("BO") == ["bob"]


async def test_somebody_is_away_until_they_are_back(root: Interlock, bob: Interlock) -> None:
    assert await bob.away() is None
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    await bob.set_away(until, to="root")
    away = await bob.away()
    assert away is not None
    assert (away.until, away.to) == (until, "root")
    with pytest.raises(Forbidden):
        await bob.set_away(until, person="root")
    await root.end_away("bob")
    assert await bob.away() is None


async def test_a_request_is_claimed_voted_on_talked_about_and_passed_on(
    server: ServerProcess, people: People, root: Interlock, alice: Person, bob: Interlock, cyd: Interlock
) -> None:
    people.named("dee")
    assert (await bob.whoami()).username == "bob"
    name = f"g-{secrets.token_hex(4)}"
    await root.create_group(name, ["bob", "dee"])
    before = ask(people, name)
    events, late = bob.follow_inbox(), cyd.follow_inbox()
    assert await news(events, before) == (InboxAsked, "")
    both = ask(people, name, people=2)
    assert await news(events, both) == (InboxAsked, "")
    mine = {entry.request_id async for entry in bob.inbox(for_whom=f"group:{name}")}
    assert mine == {before, both}

    until = await bob.claim(before)
    assert await news(events, before) == (InboxChanged, "claimed")
    assert [entry.request_id async for entry in bob.inbox(for_whom="claimed")] == [before]
    seen = (await bob.inbox_request(before)).people
    assert seen is not None
    assert seen.claim is not None
    assert (seen.claim.mine, seen.claim.until, seen.may_answer) == (True, until, True)
    async with Interlock(server.url, token=token_of(people.named("dee"))) as dee:
        with pytest.raises(Conflict) as claimed:
            await dee.respond(before, granted=True, over_claim=False)
    assert (claimed.value.details["alias"], claimed.value.details["claimed_by"]) == ("CLAIMED", "bob")
    await bob.release(before)
    with pytest.raises(Conflict):
        await bob.release(before)

    assert (await bob.respond(both, granted=True)).status == "pending"
    while await news(events, both) != (InboxChanged, "voted"):
        pass
    comment = await bob.comment(both, "is this right?")
    assert [one.comment_id for one in await bob.comments(both)] == [comment.comment_id]
    assert await news(events, both) == (InboxChanged, "commented")
    assert (await bob.withdraw_vote(both)).yes == 0

    with pytest.raises(Forbidden):
        await bob.delegate(both, "alice")
    await bob.delegate(both, "dee", "yours")
    with pytest.raises(Forbidden):
        await bob.respond(both, granted=True)
    with pytest.raises(Forbidden):
        await bob.route(both, ["person:cyd"])
    await within(opened(late, people))
    await root.route(both, ["person:cyd"], "please look")
    assert await news(late, both) == (InboxAsked, "")
    assert (await cyd.explain(both)).request_id == both
    await alice.cancel(before)
    await alice.cancel(both)
    await events.aclose()
    await late.aclose()


async def opened(events: AsyncGenerator[InboxEvent], people: People) -> None:
    """Until the stream is open: something of their own is told of."""
    asked = people.named("cyd").http.post(
        "/api/v1/agent/hitl/requests", json={"type": "clarification", "request_data": {"question": "there?"}}
    )
    request_id = asked.raise_for_status().json()["data"]["request_id"]
    while (await anext(events)).entry.request_id != request_id:
        pass
