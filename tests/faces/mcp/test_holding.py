"""Who waits for an ask: a call that goes and comes back has its answer, and one yes is never for two calls."""

import asyncio
from typing import Any

import pytest

from tests.support.mcp import Host, code_of, told, underway

APPROVAL: dict[str, Any] = {"action": "deploy", "args": {"to": "production"}}
TOOL_USE = "claudecode/toolUseId"


async def left_behind(host: Host, mode: str, arguments: dict[str, Any], **more: Any) -> str:
    """Ask, and go before anything was told; the request that is an orphan from then on."""
    async with host.connected(mode) as client, underway(client.call_tool("request_approval", arguments, **more)):
        request_id = await host.ask_id()
    await host.orphaned()
    return request_id


async def test_a_disconnect_ends_the_wait_and_not_the_request(host: Host, mode: str) -> None:
    request_id = await left_behind(host, mode, APPROVAL)
    assert [request["request_id"] for request in host.pending()] == [request_id]


async def test_a_call_that_goes_while_its_ask_is_written_leaves_an_orphan(host: Host, mode: str) -> None:
    for milliseconds in range(0, 60, 3):
        arguments = {**APPROVAL, "args": {"after": milliseconds}}
        async with host.connected(mode) as client, underway(client.call_tool("request_approval", arguments)):
            await asyncio.sleep(milliseconds / 1000)
    await host.orphaned()


async def test_the_same_ask_again_takes_over_what_a_lost_call_asked(host: Host, mode: str) -> None:
    request_id = await left_behind(host, mode, APPROVAL)
    async with host.connected(mode) as client, underway(client.call_tool("request_approval", APPROVAL)) as call:
        host.person.respond(request_id, {"granted": True})
        outcome = told(await call)
    assert (outcome["request_id"], outcome["approved"]) == (request_id, True)


async def test_an_answer_that_came_while_nobody_waited_is_for_one_taker(host: Host, mode: str) -> None:
    request_id = await left_behind(host, mode, APPROVAL)
    host.person.respond(request_id, {"granted": True})
    async with host.connected(mode) as client:
        outcome = told(await client.call_tool("request_approval", APPROVAL))
        assert (outcome["request_id"], outcome["approved"]) == (request_id, True)
        again = told(await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}))
        assert (again["status"], again["request_id"] != request_id) == ("pending", True)


async def test_a_kept_answer_is_bound_to_what_was_asked(host: Host) -> None:
    request_id = await left_behind(host, "auto", APPROVAL)
    host.person.respond(request_id, {"granted": True})
    others: list[dict[str, Any]] = [
        {**APPROVAL, "args": {"to": "staging"}},
        {**APPROVAL, "action": "destroy"},
        {**APPROVAL, "conversation": "other"},
        {**APPROVAL, "description": "for fun"},
    ]
    async with host.connected() as client:
        for other in others:
            outcome = told(await client.call_tool("request_approval", {**other, "wait_seconds": 0}))
            assert (outcome["status"], outcome["request_id"] != request_id) == ("pending", True)


async def test_another_key_does_not_take_over_what_this_one_asked(host: Host, person: Any) -> None:
    request_id = await left_behind(host, "auto", APPROVAL)
    host.person.respond(request_id, {"granted": True})
    other = Host(host.server, person, f"{host.agent}-b", person.new_key(f"{host.agent}-b", "agent")["key"])
    async with other.connected() as client:
        outcome = told(await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}))
    assert (outcome["status"], outcome["request_id"] != request_id) == ("pending", True)


async def test_an_orphan_is_taken_over_by_one_of_several_that_come_at_once(host: Host, mode: str) -> None:
    request_id = await left_behind(host, mode, APPROVAL)
    async with host.connected(mode) as client:
        asks = [client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}) for _ in range(4)]
        asked = [told(result)["request_id"] for result in await asyncio.gather(*asks)]
    assert (len(set(asked)), asked.count(request_id)) == (4, 1)


async def test_two_calls_that_wait_at_once_never_share_a_request(host: Host, mode: str) -> None:
    async with (
        host.connected(mode) as client,
        underway(client.call_tool("request_approval", APPROVAL)) as first,
        underway(client.call_tool("request_approval", APPROVAL)) as second,
    ):
        one, other = await host.asked(2)
        host.person.respond(one["request_id"], {"granted": True})
        host.person.respond(other["request_id"], {"granted": False})
        approved = [told(await call)["approved"] for call in (first, second)]
    assert sorted(approved) == [False, True]


@pytest.mark.parametrize("named", ["tool_use_id", "idempotency_key"])
async def test_the_same_call_again_has_the_same_request(host: Host, mode: str, named: str) -> None:
    arguments = APPROVAL | ({"idempotency_key": "k-1"} if named == "idempotency_key" else {})
    more: dict[str, Any] = {"meta": {TOOL_USE: "toolu_1"}} if named == "tool_use_id" else {}
    async with host.connected(mode) as client:
        asks = [client.call_tool("request_approval", {**arguments, "wait_seconds": 0}, **more) for _ in range(4)]
        results = await asyncio.gather(*asks)
        told_of = {told(result)["request_id"] for result in results if not result.is_error}
        assert {code_of(result) for result in results if result.is_error} <= {"taken_over"}
        [request] = host.pending()
        assert told_of == {request["request_id"]}
        host.person.respond(request["request_id"], {"granted": True})
        for _ in range(2):
            assert told(await client.call_tool("request_approval", arguments, **more))["approved"] is True


async def test_the_same_call_again_waits_in_the_place_of_the_first(host: Host, mode: str) -> None:
    keyed: dict[str, Any] = {"meta": {TOOL_USE: "toolu_1"}}
    async with (
        host.connected(mode) as client,
        underway(client.call_tool("request_approval", APPROVAL, **keyed)) as call,
    ):
        request_id = await host.ask_id()
        told_pending = await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}, **keyed)
        assert told(told_pending)["request_id"] == request_id
        host.person.respond(request_id, {"granted": True})
        assert code_of(await call) == "taken_over"


async def test_a_key_with_other_arguments_is_refused(host: Host) -> None:
    keyed = {**APPROVAL, "idempotency_key": "k-1", "wait_seconds": 0}
    async with host.connected() as client:
        told(await client.call_tool("request_approval", keyed))
        other = {**keyed, "args": {"to": "staging"}}
        assert code_of(await client.call_tool("request_approval", other)) == "key_reused"
    assert len(host.pending()) == 1


async def test_a_models_retry_takes_over_and_the_first_call_then_asks_anew(host: Host) -> None:
    first: dict[str, Any] = {"meta": {TOOL_USE: "toolu_1"}}
    request_id = await left_behind(host, "auto", APPROVAL, **first)
    host.person.respond(request_id, {"granted": True})
    async with host.connected() as client:
        retried = await client.call_tool("request_approval", APPROVAL, meta={TOOL_USE: "toolu_2"})
        assert told(retried)["request_id"] == request_id
        again = told(await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}, **first))
        assert (again["status"], again["request_id"] != request_id) == ("pending", True)


async def test_an_orphan_that_has_expired_is_asked_anew(host: Host) -> None:
    asked = {**APPROVAL, "timeout_seconds": 6}
    request_id = await left_behind(host, "auto", asked)
    assert host.person.look(request_id, wait=20)["status"] == "expired"
    async with host.connected() as client:
        outcome = told(await client.call_tool("request_approval", {**asked, "wait_seconds": 0}))
    assert (outcome["status"], outcome["request_id"] != request_id) == ("pending", True)
