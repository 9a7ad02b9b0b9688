"""Random graphs of calls that ask and act, killed anywhere, and people who say anything of what was cut short.

Whatever happens, every ask hears the answer that was given to its own words, nothing happens more often than a person
let it happen, nothing is left out unless a person said so, and the conversation comes to its end.
"""

import asyncio
import random
from collections import Counter
from contextlib import suppress
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
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P4", "P8")

TURNS = 400
STEPS = ("ask", "effect")


class World:
    """What calls did and heard, and where the worker dies next."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = ["retry", "skip", "done"] if seed % 2 else ["retry"]
        self.acts: Counter[str] = Counter()
        self.misheard: list[tuple[str, str]] = []
        self.planned: set[str] = set()
        self.retries = self.left_out = self.price = 0
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

        with suppress(interlock.EffectSkipped):
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

    def names(self, most: int = 3) -> list[str]:
        return [f"n{next(self._names)}" for _ in range(self.random.randint(1, most))]

    async def ask_after_a_while(self, name: str) -> None:
        for _ in range(self.random.randint(0, 9)):
            await asyncio.sleep(0)
        self._ask(name)
        await self._step()

    async def ask_for_the_price(self, name: str) -> None:
        """Which changes now and then, and more seldom than a run lets it."""
        if self.price < 2:
            self.price += self.random.randint(0, 1)
        await self._step()
        self._ask(f"{name} for {self.price}")
        await self._step()

    def calls(self, most: int = 3) -> list[Any]:
        plans = {name: self.random.choices(STEPS, k=self.random.randint(1, 3)) for name in self.names(most)}
        for name, steps in plans.items():
            self.planned |= {f"{name}.{number}" for number, step in enumerate(steps) if step == "effect"}
        return [(f"c-{name}", "work", {"name": name, "steps": steps}) for name, steps in plans.items()]


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

            with suppress(interlock.EffectSkipped):
                await interlock.effect(plan["name"], work)

        await asyncio.gather(*[effect(plan) for plan in plans])
        return {}

    return line(State, node)


def asks_side_by_side(world: World) -> Any:
    names = world.names(6)

    async def node(state: State) -> State:
        await asyncio.gather(*[world.ask_after_a_while(name) for name in names])
        return {}

    return line(State, node)


def shrinking_list(world: World) -> Any:
    left = world.names(6)

    async def node(state: State) -> State:
        for name in list(left):
            await world.take(name, ["ask"])
            left.remove(name)
        return {}

    return line(State, node)


def words_that_change(world: World) -> Any:
    names = world.names()

    async def node(state: State) -> State:
        for name in names:
            await world.ask_for_the_price(name)
        return {}

    return line(State, node)


def graph_in_a_tool(world: World) -> Any:
    inner = by_hand([world.tool], world.calls()).compile()

    @tool
    async def delegate(path: str) -> str:
        """Let another agent do it."""
        return (await inner.ainvoke({"messages": [("user", path)]}))["messages"][-1].text

    return by_hand([delegate], [("d1", "delegate", {"path": "x"})])


def inner_agents(world: World) -> dict[str, Any]:
    """By name; the calls of each have the ids that those of the others have."""
    made = {name: [("c1", *call[1:]) for call in world.calls(1)] for name in world.names()}
    return {name: by_hand([world.tool], calls, world.calls()).compile() for name, calls in made.items()}


def graphs_in_tools(world: World) -> Any:
    agents = inner_agents(world)

    @tool
    async def delegate(name: str) -> str:
        """Let another agent do it."""
        return (await agents[name].ainvoke({"messages": [("user", name)]}))["messages"][-1].text

    return by_hand([delegate], [("d1", "delegate", {"name": name}) for name in agents])


def graphs_in_effects(world: World) -> Any:
    agents = inner_agents(world)

    async def node(state: State) -> State:
        async def effect(name: str) -> None:
            async def work() -> None:
                await agents[name].ainvoke({"messages": [("user", name)]})

            with suppress(interlock.EffectSkipped):
                await interlock.effect(name, work)

        names = list(agents)
        world.random.shuffle(names)
        await asyncio.gather(*map(effect, names))
        return {}

    return line(State, node)


def graphs_side_by_side(world: World) -> Any:
    """In a plain node, without effects around them, and in another order each time."""
    agents = inner_agents(world)

    async def work(name: str) -> None:
        for _ in range(world.random.randint(0, 5)):
            await asyncio.sleep(0)
        await agents[name].ainvoke({"messages": [("user", name)]})

    async def node(state: State) -> State:
        names = list(agents)
        world.random.shuffle(names)
        await asyncio.gather(*map(work, names))
        return {}

    return line(State, node)


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
    if shown(request).get("decision_type") != "effect_in_doubt":
        return {"answer": answer_to(shown(request)["question"])}
    word = world.random.choice(world.words)
    world.retries += word == "retry"
    world.left_out += word != "retry"
    return {"decision": word}


@on_sqlite
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "make",
    [
        tool_node,
        langchain_agent,
        plain_node,
        effects_side_by_side,
        graph_in_a_tool,
        graphs_in_tools,
        graphs_in_effects,
        graphs_side_by_side,
        asks_side_by_side,
        shrinking_list,
        words_that_change,
    ],
    ids=lambda make: make.__name__,
)
async def test_every_ask_hears_its_own_answer(host: Host, make: Any, seed: int) -> None:
    world = World(seed)
    stage = await host(make(world), started=False)

    status = await live(stage, world)

    assert world.misheard == []
    assert all(count <= 1 + world.retries for count in world.acts.values()), (world.acts, world.retries)
    assert world.left_out or world.acts.keys() == world.planned
    assert status is RunStatus.DONE
