"""Pauses, requests and answers, held against `ports.store`."""

import asyncio

import pytest
from sqlalchemy import text

from interlock.domain.ask_binding import AskBinding
from interlock.domain.canonical import action_digest
from interlock.domain.form import Form, HumanInterrupt
from interlock.domain.kinds import ApprovalAnswer, RequestKind
from interlock.domain.preview import FilePreview, FileSnapshot
from interlock.domain.request import PAUSE, AnswerOrigin, PauseOrigin, PauseStatus, RequestStatus
from interlock.domain.run import RunCause, RunStatus
from interlock.ports.store import Store
from interlock.runners.replies import approved_digest
from interlock.storage.database import Database
from tests.conformance.examples import (
    AT,
    a_body,
    a_pause,
    a_pending_request,
    a_request,
    a_run,
    after,
    an_answer,
    begin,
)
from tests.support.bodies import shown

FILE = FilePreview("/tmp/日本", True, "a", "00", None, None, on_disk=False)
FORM = Form(HumanInterrupt(["accept"], "send", True, 1), AskBinding("", "d", "node"), FileSnapshot(FILE, "host"))


async def test_a_pause_is_read_back_with_its_requests_as_they_were_added(store: Store) -> None:
    pause = a_pause(origin=PauseOrigin.EFFECT, node="tools 日本")
    requests = [
        a_request("perm_1", position=0, interrupt_id="ab" * 16, digest="d", deadline=after(1), timeout_seconds=0.5),
        a_request("clar_1", position=1, body=a_body(RequestKind.CLARIFICATION), form=FORM, checked_by_agent=True),
        a_request("ques_1", position=2, body=a_body(RequestKind.QUESTIONS), message_id="m", settled_at=AT),
    ]
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(pause, requests)
    async with store.snapshot() as tx:
        assert await tx.pauses.get(pause.id) == pause
        assert await tx.requests.of_pauses([pause.id]) == requests
        assert await tx.requests.get("clar_1") == requests[1]
        assert await tx.pauses.get("pause-2") is None
        assert await tx.requests.get("perm_2") is None


async def test_a_pause_may_have_no_request(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(origin=PauseOrigin.BREAKPOINT), [])
        assert await tx.requests.of_pauses(["pause-1"]) == []
        assert await tx.requests.of_pauses([]) == []


async def test_the_pauses_of_a_thread_are_in_the_order_in_which_they_were_added(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        # Names and times run the other way, as after a clock that stepped back.
        for number in range(4):
            await tx.pauses.add(a_pause(f"pause-{9 - number}", created_at=after(-number)), [])
        await tx.pauses.add(a_pause("other", "ann-2"), [])
        await tx.pauses.change("pause-8", PauseStatus.VOID, AT)
        listed = await tx.pauses.of_thread("ann-1", PauseStatus.OPEN)
        assert [pause.id for pause in listed] == ["pause-9", "pause-7", "pause-6"]
        assert [pause.id for pause in await tx.pauses.of_thread("ann-1", PauseStatus.VOID)] == ["pause-8"]
        each = await tx.pauses.open_of_each(["ann-1", "ann-2", "nobody-1"])
        assert {name: pause.id for name, pause in each.items()} == {"ann-1": "pause-9", "ann-2": "other"}
        await tx.pauses.change("pause-6", PauseStatus.VOID, AT)
        newest = await tx.pauses.newest("ann-1", 3)
        assert [pause.id for pause in newest] == ["pause-6", "pause-7", "pause-8"]
        assert newest[0].status is PauseStatus.VOID
        assert await tx.pauses.newest("nobody-1", 1) == []


async def test_requests_come_in_the_order_of_their_pauses_and_positions(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause("pause-2"), [a_request("d", "pause-2", position=1), a_request("c", "pause-2")])
        await tx.pauses.add(a_pause("pause-1"), [a_request("b", "pause-1", position=1), a_request("a", "pause-1")])
        listed = await tx.requests.of_pauses(["pause-1", "pause-2"])
        assert [request.id for request in listed] == ["c", "d", "a", "b"]


async def test_the_calls_that_people_judged_since_the_last_message(store: Store) -> None:
    answered = RequestStatus.ANSWERED
    call = {"call_id": "c1", "digest": "d", "status": answered, "settled_at": AT}
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run("run-1", started_seq=3, status=RunStatus.DONE))
        await tx.runs.add(a_run("run-2", cause=RunCause.ANSWER, started_seq=9))
        turns = {"earlier": 2, "first": 4, "second": 12, "unknown": None}
        for name, seq in turns.items():
            judged = a_request(f"perm_{name}", f"pause-{name}", position=1, **call)
            others = [
                a_request(f"perm_{name}_open", f"pause-{name}", **call | {"status": RequestStatus.PENDING}),
                a_request(f"perm_{name}_no_call", f"pause-{name}", position=2, **call | {"call_id": None}),
                a_request(f"perm_{name}_no_digest", f"pause-{name}", position=3, **call | {"digest": None}),
            ]
            await tx.pauses.add(a_pause(f"pause-{name}", opened_seq=seq), [judged, *others])
    async with store.snapshot() as tx:
        found = await tx.requests.calls_since_message("ann-1")
        assert [request.id for request in found] == ["perm_first", "perm_second", "perm_unknown"]
        assert found[0].call_id == "c1"
        assert await tx.requests.calls_since_message("ann-2") == []


@pytest.mark.parametrize("before", list(PauseStatus))
async def test_a_pause_changes_only_as_its_table_allows(store: Store, before: PauseStatus) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        for status in PauseStatus:
            pause_id = f"pause-{status}"
            await tx.pauses.add(a_pause(pause_id, status=before), [])
            changed = await tx.pauses.change(pause_id, status, AT)
            pause = await tx.pauses.get(pause_id)
            assert pause is not None
            assert changed is (status in PAUSE.table[before])
            assert pause.status is (status if changed else before)
        assert not await tx.pauses.change("pause-9", PauseStatus.VOID, AT)


async def test_of_a_thousand_who_settle_a_request_at_once_exactly_one_wins(store: Store) -> None:
    await a_pending_request(store)
    ways = (RequestStatus.ANSWERED, RequestStatus.CANCELLED, RequestStatus.EXPIRED)

    async def settle(number: int) -> bool:
        async with store.transaction() as tx:
            return await tx.requests.settle("perm_1", ways[number % 3], after(number))

    won = await asyncio.gather(*(settle(number) for number in range(1000)))
    assert won.count(True) == 1
    async with store.snapshot() as tx:
        request = await tx.requests.get("perm_1")
    assert request is not None
    assert request.status is ways[won.index(True) % 3]
    assert request.settled_at == after(won.index(True))


async def test_settling_touches_no_other_request(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request("perm_1"), a_request("perm_2", position=1)])
        assert await tx.requests.settle("perm_1", RequestStatus.ANSWERED, AT)
        assert not await tx.requests.settle("perm_9", RequestStatus.ANSWERED, AT)
        assert await tx.requests.get("perm_2") == a_request("perm_2", position=1)


async def test_a_settled_request_never_becomes_pending_again(store: Store) -> None:
    await a_pending_request(store)
    async with store.transaction() as tx:
        assert not await tx.requests.settle("perm_1", RequestStatus.PENDING, AT)
        assert await tx.requests.settle("perm_1", RequestStatus.ANSWERED, AT)
        assert not await tx.requests.settle("perm_1", RequestStatus.PENDING, AT)


async def test_a_transaction_that_settled_and_then_failed_leaves_the_request_pending(store: Store) -> None:
    await a_pending_request(store)

    async def answer_and_fail() -> None:
        async with store.transaction() as tx:
            assert await tx.requests.settle("perm_1", RequestStatus.ANSWERED, AT)
            await tx.answers.add(an_answer())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await answer_and_fail()
    async with store.transaction() as tx:
        assert await tx.answers.of_requests(["perm_1"]) == {}
        assert await tx.requests.settle("perm_1", RequestStatus.CANCELLED, AT)


async def test_pending_requests_are_overdue_from_their_deadline_on_oldest_first(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        deadlines = {"a": 3, "b": 1, "c": 2, "d": 9, "e": 0}
        requests = [a_request(name, deadline=after(seconds)) for name, seconds in deadlines.items()]
        await tx.pauses.add(a_pause(), [*requests, a_request("f")])
        await tx.requests.settle("e", RequestStatus.ANSWERED, AT)
    async with store.snapshot() as tx:
        assert [request.id for request in await tx.requests.overdue(after(3), 10)] == ["b", "c", "a"]
        assert [request.id for request in await tx.requests.overdue(after(3), 2)] == ["b", "c"]
        assert await tx.requests.overdue(after(0.999), 10) == []


async def test_the_next_deadline_is_the_earliest_of_the_pending_requests(store: Store) -> None:
    async with store.transaction() as tx:
        assert await tx.requests.next_deadline() is None
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request("a", deadline=after(5)), a_request("b", deadline=after(7))])
        assert await tx.requests.next_deadline() == after(5)
        await tx.requests.settle("a", RequestStatus.ANSWERED, AT)
        assert await tx.requests.next_deadline() == after(7)
        await tx.requests.settle("b", RequestStatus.EXPIRED, AT)
        assert await tx.requests.next_deadline() is None


async def test_answers_are_read_back_by_request_as_they_were_given(store: Store) -> None:
    first = an_answer("perm_1", value=ApprovalAnswer("edit", {"a": "\0\ud800", "b": [1.5, None, True]}))
    second = an_answer("perm_2", origin=AnswerOrigin.GRANT, metadata={"grant": "g"}, by_name="日本")
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request("perm_1"), a_request("perm_2", position=1)])
        await tx.answers.add(first)
        await tx.answers.add(second)
    async with store.snapshot() as tx:
        found = await tx.answers.of_requests(["perm_1", "perm_2", "perm_3"])
        assert found == {"perm_1": first, "perm_2": second}
        assert await tx.answers.of_requests([]) == {}


async def test_a_pause_is_found_by_the_event_that_told_of_it_whatever_became_of_it(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        for number, status in enumerate(PauseStatus, start=5):
            await tx.pauses.add(a_pause(f"pause-{number}", status=status, opened_seq=number), [])
        await tx.pauses.add(a_pause("older"), [])
        await tx.pauses.add(a_pause("other", "ann-2", opened_seq=99), [])
    async with store.snapshot() as tx:
        for number in range(5, 5 + len(PauseStatus)):
            pause = await tx.pauses.opened_by("ann-1", number)
            assert pause is not None
            assert pause.id == f"pause-{number}"
        assert await tx.pauses.opened_by("ann-1", 99) is None


async def test_numbers_that_json_does_not_have_in_rows_of_older_versions_are_read_as_words(
    store: Store, database: Database
) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request()])
    body = '{"tool_name":"pay","args":{"amount":NaN,"most":[Infinity,-Infinity,1e3]}}'
    async with database.write() as connection:
        await connection.execute(text("UPDATE requests SET body = :body"), {"body": body})
    async with store.snapshot() as tx:
        request = await tx.requests.get("perm_1")
    assert request is not None
    assert shown(request)["args"] == {"amount": "NaN", "most": ["Infinity", "-Infinity", 1000.0]}
    assert approved_digest(request, ApprovalAnswer("accept")) == action_digest(
        "pay", {"amount": float("nan"), "most": [float("inf"), float("-inf"), 1e3]}
    )
