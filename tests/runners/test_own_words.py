"""An answer is for the words that it was given to: whatever else is asked in their place is put to a person."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.types import RetryPolicy, interrupt
from sqlalchemy import select, update
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.canonical import digest
from interlock.domain.kinds import ClarificationBody
from interlock.domain.request import PauseStatus
from interlock.langchain import InterlockMiddleware
from interlock.storage.schema import requests
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, by_hand, line
from tests.runners.stage import answer_with_itself, words_of
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P4", "P7", "P8")


class State(TypedDict, total=False):
    topic: str
    heard: Any


def confirmed(words: str) -> bool:
    """Asks in a line of its own, whoever calls it."""
    return ask.decision(words, ["yes", "no"], timeout=None).decision == "yes"


class Environments:
    """Two that may be deleted; the worker dies after the first was, and then there is only one."""

    def __init__(self) -> None:
        self.deeds, self.gate = Deeds(), Gate()

    @property
    def left(self) -> list[str]:
        return [one for one in ("staging", "PRODUCTION") if one not in self.deeds.done]

    async def delete(self, what: str) -> None:
        self.deeds.note(what)
        await self.gate.stop()

    async def in_a_loop(self, state: State) -> State:
        for one in self.left:
            if interrupt({"question": f"Delete {one}?"}) is True:
                await self.delete(one)
        return {}

    async def by_a_helper(self, state: State) -> State:
        if "staging" in self.left and confirmed("Delete staging?"):
            await self.delete("staging")
        if "PRODUCTION" in self.left and confirmed("Delete PRODUCTION?"):
            await self.delete("PRODUCTION")
        return {}

    async def by_approvals(self, state: State) -> State:
        for one in self.left:
            if ask.approval("delete", {"what": one}, f"Delete {one}?").decision == "accept":
                await self.delete(one)
        return {}


YES = {"in_a_loop": {"answer": True}, "by_a_helper": {"decision": "yes"}, "by_approvals": {"decision": "accept"}}
NO = {"in_a_loop": {"answer": False}, "by_a_helper": {"decision": "no"}, "by_approvals": {"decision": "reject"}}


@pytest.mark.parametrize("kind", list(YES))
async def test_a_list_that_became_shorter_leaves_no_yes_to_what_is_left_of_it(host: Host, kind: str) -> None:
    environments = Environments()
    stage = await host(line(State, getattr(environments, kind)), started=False)
    await stage.send()
    await (await stage.mortal()).task
    (request,) = await stage.open_requests()
    settled = await stage.answer(request, YES[kind])
    assert settled.run is not None
    mortal = await stage.mortal()
    await environments.gate.until_reached()
    await mortal.kill()
    await stage.start()

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused", turn.error
    assert "PRODUCTION" in str(turn.request.body)
    assert environments.deeds.done == ["staging"]
    turn = await stage.reply(turn.request, NO[kind])
    assert turn.status == "done", turn.error
    assert environments.deeds.done == ["staging"]


def free(price: int) -> bool:
    return interrupt({"question": "Pay?", "to": "bob", "amount": price}) is True


def by_decision(price: int) -> bool:
    return confirmed(f"Pay {price} to bob?")


def by_approval(price: int) -> bool:
    return ask.approval("pay", {"amount": price}, timeout=None).decision == "accept"


PAYING: list[tuple[Callable[[int], bool], dict[str, Any]]] = [
    (free, {"answer": True}),
    (by_decision, {"decision": "yes"}),
    (by_approval, {"decision": "accept"}),
]


class Shop:
    def __init__(self, is_agreed: Callable[[int], bool]) -> None:
        self.price, self.paid, self.is_agreed = 10, list[int](), is_agreed

    def node(self, state: State) -> State:
        price = self.price
        if self.is_agreed(price):
            interlock.effect("pay", lambda: self.paid.append(price))
        return {}


@on_sqlite
@pytest.mark.parametrize(("is_agreed", "yes"), PAYING, ids=lambda one: getattr(one, "__name__", ""))
async def test_a_yes_to_one_price_pays_no_other(host: Host, is_agreed: Callable[[int], bool], yes: Any) -> None:
    shop = Shop(is_agreed)
    stage = await host(line(State, shop.node))
    turn = await stage.say()
    shop.price = 99_999

    turn = await stage.reply(turn.request, yes)

    assert turn.status == "paused", turn.error
    assert "99999" in str(turn.request.body)
    assert shop.paid == []
    turn = await stage.reply(turn.request, yes)
    assert turn.status == "done", turn.error
    assert shop.paid == [99_999]


@on_sqlite
async def test_an_answer_whose_words_were_replaced_is_not_taken_when_they_come_back(host: Host) -> None:
    shop = Shop(by_decision)
    stage = await host(line(State, shop.node))
    turn = await stage.say()
    shop.price = 99_999
    turn = await stage.reply(turn.request, {"decision": "yes"})
    shop.price = 10

    turn = await stage.reply(turn.request, {"decision": "no"})

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["title"] == "Pay 10 to bob?"
    turn = await stage.reply(turn.request, {"decision": "no"})
    assert turn.status == "done", turn.error
    assert shop.paid == []


class Drafting:
    """Words its question anew each time."""

    def __init__(self) -> None:
        self.drafts: list[str] = []

        @tool
        async def send(what: str) -> str:
            """Send."""
            return str(self.ask())

        @tool
        def send_in_a_thread(what: str) -> str:
            """Send."""
            return str(self.ask())

        self.tools = [send, send_in_a_thread]

    def ask(self) -> Any:
        self.drafts.append(f"draft {len(self.drafts)}: send it?")
        return interrupt(self.drafts[-1])

    def sync_node(self, state: State) -> State:
        return {"heard": self.ask()}

    async def node(self, state: State) -> State:
        return {"heard": self.ask()}

    async def in_an_effect(self, state: State) -> State:
        async def work() -> Any:
            return self.ask()

        return {"heard": await interlock.effect("work", work)}

    async def with_kept_words(self, state: State) -> State:
        async def words() -> str:
            self.drafts.append(f"draft {len(self.drafts)}")
            return self.drafts[-1]

        return {"heard": interrupt(await interlock.effect("words", words))}


def drafting_graph(kind: str, drafting: Drafting) -> Any:
    if kind.startswith("send"):
        return by_hand(drafting.tools, [("c1", kind, {"what": "x"})])
    return line(State, getattr(drafting, kind))


@on_sqlite
@pytest.mark.parametrize("kind", ["sync_node", "node", "in_an_effect", "send", "send_in_a_thread"])
async def test_a_place_that_never_asks_in_the_same_words_twice_fails_the_run_and_is_named(
    host: Host, kind: str
) -> None:
    drafting = Drafting()
    stage = await host(drafting_graph(kind, drafting))
    turn = await stage.say()
    answered = 0
    while turn.status == "paused" and answered < 10:
        assert words_of(turn.request) == drafting.drafts[-1]
        turn = await stage.tell(turn.request, "as you like")
        answered += 1

    assert turn.status == "failed"
    assert answered == 3
    assert turn.error is not None
    assert "Drafting.ask" in turn.error
    assert "interlock.effect" in turn.error
    assert not await stage.pauses(PauseStatus.OPEN)


@on_sqlite
async def test_words_that_an_effect_made_are_the_same_each_time(host: Host) -> None:
    drafting = Drafting()
    stage = await host(line(State, drafting.with_kept_words))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "as you like")

    assert turn.status == "done", turn.error
    assert drafting.drafts == ["draft 0"]


@on_sqlite
async def test_a_queue_that_is_worked_off_item_by_item_is_asked_about_to_its_end(host: Host) -> None:
    queue, done = [f"item {number}" for number in range(8)], list[str]()

    async def node(state: State) -> State:
        while queue:
            assert interrupt(f"{queue[0]}?") == f"yes, {queue[0]}?"
            done.append(queue.pop(0))
        return {}

    stage = await host(line(State, node))
    asked = await answer_with_itself(stage, await stage.say())

    assert asked == [f"item {number}?" for number in range(8)]
    assert done == [f"item {number}" for number in range(8)]


@on_sqlite
async def test_the_same_words_asked_several_times_are_answered_in_order(host: Host) -> None:
    async def node(state: State) -> State:
        return {"heard": [interrupt("again?") for _ in range(4)]}

    stage = await host(line(State, node))
    turn = await stage.say()
    for number in range(4):
        turn = await stage.tell(turn.request, str(number))

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["0", "1", "2", "3"]


@on_sqlite
async def test_a_node_that_is_tried_again_hears_the_same_answers(host: Host) -> None:
    tries: list[Any] = []

    async def node(state: State) -> State:
        tries.append([interrupt("one?"), interrupt("two?")])
        if len(tries) == 1:
            raise ConnectionError("it broke")
        return {"heard": tries[-1]}

    graph = line(State)
    graph.add_node("node", node, retry_policy=RetryPolicy(initial_interval=0, jitter=False))
    graph.add_edge("__start__", "node")
    stage = await host(graph)

    asked = await answer_with_itself(stage, await stage.say(), 5)

    assert asked == ["one?", "two?"]
    assert tries == [["yes, one?", "yes, two?"]] * 2


@on_sqlite
async def test_an_ask_that_waits_for_what_time_is_left_keeps_its_answer(host: Host) -> None:
    entries: list[int] = []

    async def node(state: State) -> State:
        entries.append(1)
        return {"heard": ask.clarification("Where?", timeout=1_000 - len(entries))}

    stage = await host(line(State, node))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "there")

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == "there"


@pytest.mark.parametrize("words", ["the same", "others"])
async def test_an_answer_of_the_version_before_is_matched_by_its_words(host: Host, words: str) -> None:
    """There the digest was of the timeout too, and the line that asked counted more than the words."""
    asked = ["Where?"]

    async def node(state: State) -> State:
        return {"heard": ask.clarification(asked[-1], timeout=None)}

    stage = await host(line(State, node))
    turn = await stage.say()
    body = ClarificationBody.ask("Where?").to_json()
    value = {"interlock": {"kind": "clarification", "body": body, "timeout": None}}
    async with stage.database.write() as connection:
        form = (await connection.execute(select(requests.c.form))).scalar_one()
        former = {key: one for key, one in form.items() if key != "changes"} | {"asked": digest(value), "alone": True}
        await connection.execute(update(requests).values(form=former))
    if words == "others":
        asked.append("Where to?")

    turn = await stage.tell(turn.request, "there")

    assert turn.status == ("done" if words == "the same" else "paused"), turn.error


@on_sqlite
@pytest.mark.parametrize("build", [agent, by_hand])
async def test_half_a_surrogate_pair_in_the_arguments_is_asked_about_once(host: Host, build: Any) -> None:
    """It is in the model's message, and a question mark in the saved state: the words were taken for others."""
    deeds = Deeds()

    @tool
    def send(path: str) -> str:
        """Send, if a person agrees."""
        if confirmed(f"Send {path}?"):
            deeds.note("sent")
        return "ok"

    gate = {"middleware": [InterlockMiddleware({"send": True})]} if build is agent else {}
    stage = await host(build([send], [("c1", "send", {"path": "a\udc80b"})], **gate))
    turn = await stage.say()
    asked = 0
    while turn.status == "paused" and asked < 5:
        asked += 1
        turn = await stage.reply(turn.request, {"decision": "accept" if "args" in shown(turn.request) else "yes"})

    assert turn.status == "done", turn.error
    assert (deeds.done, asked) == (["sent"], 1 + len(gate))
