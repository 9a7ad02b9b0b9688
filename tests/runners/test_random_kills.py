"""Random graphs of calls that ask and act, killed anywhere, and people who say anything of what was cut short.

Whatever happens, every ask hears the answer that was given to its own words, nothing happens more often than a person
let it happen, and the conversation comes to its end.
"""

import asyncio
import random
from collections import Counter
from itertools import count
from typing import Any

import pytest
from langchain_core.tools import tool
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.request import Request
from interlock.domain.run import RunStatus
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent, by_hand, line
from tests.runners.stage import SECONDS, THREAD, Stage

TURNS = 120
STEPS = ("ask", "effect")


class World:
    """What calls did and heard, and where the worker dies next."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.acts: Counter[str] = Counter()
        self.misheard: list[tuple[str, str]] = []
        self.retries = 0
        self.reached, self.dead = asyncio.Event(), asyncio.Event()
        self._steps_left = 0
        self._names = count()

        @tool
        async def work(name: str, steps: list[str]) -> str:
            """Take the steps."""
            await self.take(name, steps)
            return name

        self.tool = work

    def arm(self) -> None:
        self.reached, self.dead = asyncio.Event(), asyncio.Event()
        self._steps_left = self.random.choice([0, 0, *range(1, 8)])

    async def take(self, name: str, steps: list[str]) -> None:
        for number, step in enumerate(steps):
            await self._one(f"{name}.{number}", step)

    async def _one(self, name: str, step: str) -> None:
        await self._step()
        if step == "ask":
            self._ask(name)
        else:
            await self._effect(name)
        await self._step()

    async def _effect(self, name: str) -> None:
        async def act() -> None:
            self._ask(name)
            self.acts[name] += 1
            await self._step()

        await interlock.effect(name, act)

    def _ask(self, name: str) -> None:
        heard = ask.clarification(f"{name}?", timeout=None)
        if heard != answer_to(f"{name}?"):
            self.misheard.append((name, heard))

    async def _step(self) -> None:
        await asyncio.sleep(0)
        if self._steps_left:
            self._steps_left -= 1
            if not self._steps_left:
                self.reached.set()
                await self.dead.wait()
        if self.dead.is_set():
            raise asyncio.CancelledError

    def calls(self) -> list[Any]:
        names = [f"n{next(self._names)}" for _ in range(self.random.randint(1, 3))]
        return [
            (f"c-{name}", "work", {"name": name, "steps": self.random.choices(STEPS, k=self.random.randint(1, 3))})
            for name in names
        ]


def answer_to(question: str) -> str:
    return f"the answer to {question}"


class State(TypedDict, total=False):
    topic: str


def tool_node(world: World) -> Any:
    return by_hand([world.tool], world.calls(), world.calls())


def langchain_agent(world: World) -> Any:
    return agent([world.tool], world.calls(), world.calls())


def plain_node(world: World) -> Any:
    plans = [call[2] for call in world.calls()]

    async def node(state: State) -> State:
        for plan in plans:
            await world.take(**plan)
        return {}

    return line(State, node)


def effects_side_by_side(world: World) -> Any:
    plans = [call[2] for call in world.calls()]

    async def node(state: State) -> State:
        async def effect(plan: Any) -> None:
            async def work() -> None:
                await world.take(**plan)

            await interlock.effect(plan["name"], work)

        await asyncio.gather(*[effect(plan) for plan in plans])
        return {}

    return line(State, node)


def graph_in_a_tool(world: World) -> Any:
    inner = by_hand([world.tool], world.calls()).compile()

    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it."""
        return (await inner.ainvoke({"messages": [("user", path)]}))["messages"][-1].text

    return by_hand([delegate], [("d1", "delegate", {"path": "x"})])


async def live(stage: Stage, world: World) -> RunStatus:
    """One worker after the other takes the run as far as it is let; people answer in between."""
    await stage.send()
    for _ in range(TURNS):
        world.arm()
        mortal = await stage.mortal()
        killed = asyncio.create_task(world.reached.wait())
        async with asyncio.timeout(SECONDS):
            await asyncio.wait({mortal.task, killed}, return_when=asyncio.FIRST_COMPLETED)
        killed.cancel()
        if not mortal.task.done():
            await stage.take_over()
            world.dead.set()
            await mortal.kill()
            continue
        await mortal.task
        requests = await stage.open_requests()
        if not requests:
            break
        world.random.shuffle(requests)
        for request in requests:
            await stage.answer(request, reply(world, request))
    async with stage.core.store.snapshot() as tx:
        run = await tx.runs.last_of(THREAD)
    assert run is not None
    assert run.error is None
    return run.status


def reply(world: World, request: Request) -> dict[str, Any]:
    if request.body.get("decision_type") != "effect_in_doubt":
        return {"answer": answer_to(request.body["question"])}
    word = world.random.choice(["retry", "skip", "done"])
    world.retries += word == "retry"
    return {"decision": word}


@on_sqlite
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "make",
    [tool_node, langchain_agent, plain_node, effects_side_by_side, graph_in_a_tool],
    ids=lambda make: make.__name__,
)
async def test_every_ask_hears_its_own_answer(host: Host, make: Any, seed: int) -> None:
    world = World(seed)
    stage = await host(make(world), started=False)

    status = await live(stage, world)

    assert world.misheard == []
    assert all(count <= 1 + world.retries for count in world.acts.values()), (world.acts, world.retries)
    assert status is RunStatus.DONE
