"""LangGraph's own Python client, and RemoteGraph, unchanged."""

import asyncio
from collections.abc import Generator
from typing import Any, cast

import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import ConflictError, UnprocessableEntityError

from tests.support.langgraph import NAMES
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

GIVEN = {"q": "x"}


@pytest.fixture
def sdk(graphs: ServerProcess) -> Generator[Any]:
    """Untyped: what it gives is JSON."""
    with get_sync_client(url=graphs.url) as client:
        yield client


def test_a_thread_from_its_making_to_its_end(sdk: Any) -> None:
    thread = sdk.threads.create(metadata={"team": "a"})
    thread_id = thread["thread_id"]
    parts = list(sdk.runs.stream(thread_id, "one_node", input=GIVEN, stream_mode=["values", "updates"]))
    assert parts[0].event == "metadata"
    [interrupt] = parts[-2].data["__interrupt__"]
    [found] = sdk.threads.search(ids=[thread_id], status="interrupted")
    [[listed]] = found["interrupts"].values()
    assert listed["id"] == interrupt["id"]
    [asked] = sdk.threads.get_state(thread_id)["tasks"][0]["interrupts"]
    assert asked["id"] == interrupt["id"]
    run = sdk.runs.create(thread_id, "one_node", command={"resume": {interrupt["id"]: "yes"}})
    joined = sdk.runs.join(thread_id, run["run_id"])
    [then] = joined["__interrupt__"]
    done = sdk.runs.wait(thread_id, "one_node", command={"resume": {then["id"]: "no"}})
    assert done["out"] == ["yes", "no"]
    assert len(sdk.runs.list(thread_id)) == 3
    assert sdk.runs.get(thread_id, run["run_id"])["status"] == "success"
    assert len(sdk.threads.get_history(thread_id, limit=20)) >= 3
    sdk.threads.update(thread_id, metadata={"more": 1})
    assert sdk.threads.get(thread_id)["metadata"] is not None
    sdk.threads.delete(thread_id)


def test_refusals_have_a_text_and_a_code(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    with pytest.raises(ConflictError) as nothing:
        sdk.runs.create(thread_id, "one_node", command={"resume": "yes"})
    assert cast("Any", nothing.value).code == "nothing_pending"
    sdk.runs.wait(thread_id, "pair", input=GIVEN)
    with pytest.raises(UnprocessableEntityError) as several:
        sdk.runs.create(thread_id, "pair", command={"resume": "yes"})
    assert cast("Any", several.value).code == "ambiguous"


def test_assistants(sdk: Any) -> None:
    [found] = sdk.assistants.search(graph_id="plain")
    assert sdk.assistants.get(found["assistant_id"])["graph_id"] == "plain"
    assert sdk.assistants.count() == len(NAMES)
    assert sdk.assistants.get_schemas(found["assistant_id"])["graph_id"] == "plain"
    assert sdk.assistants.get_graph(found["assistant_id"])["nodes"]
    assert sdk.assistants.get_subgraphs(found["assistant_id"]) == {}


def test_a_stream_is_joined_again(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    run = sdk.runs.create(thread_id, "plain", input=GIVEN)
    parts = list(sdk.runs.join_stream(thread_id, run["run_id"], stream_mode="values"))
    assert parts[-1].event == "end"
    assert parts[-2].data["out"] == ["first", "second"]


def test_a_run_without_a_thread(sdk: Any) -> None:
    assert sdk.runs.wait(None, "plain", input=GIVEN)["out"] == ["first", "second"]
    assert [part.event for part in sdk.runs.stream(None, "plain", input=GIVEN)][-1] == "end"


def test_a_remote_graph(sdk: Any) -> None:
    # With an address it makes clients of its own, and closes none.
    remote = RemoteGraph("two_nodes", sync_client=sdk)
    config: Any = {"configurable": {"thread_id": sdk.threads.create()["thread_id"]}}
    asked = remote.invoke(GIVEN, config)
    assert asked["__interrupt__"]
    state = remote.get_state(config)
    assert state.next == ("staging",)
    assert state.tasks[0].interrupts[0].value == {"question": "delete x/staging?"}
    remote.invoke(Command(resume="yes"), config)
    assert remote.invoke(Command(resume="no"), config)["out"] == ["yes", "no"]
    assert len(list(remote.get_state_history(config))) >= 3
    written: Any = remote.update_state(config, {"out": ["by hand"]})
    assert written["configurable"]["checkpoint_id"]
    assert remote.get_graph().nodes


async def test_the_second_protocol(graphs: ServerProcess) -> None:
    client = get_client(url=graphs.url)
    async with client.threads.stream(assistant_id="one_node") as thread:
        await thread.run.start(input=GIVEN)
        [asked] = await asyncio.to_thread(wait_for, lambda: list(thread.interrupts), bool)
        assert asked["value"] == {"question": "delete x/staging?"}
        await thread.run.respond("yes", interrupt_id=asked["interrupt_id"])
        with pytest.raises(RuntimeError, match="no_such_interrupt"):
            await thread.run.respond("another", interrupt_id=asked["interrupt_id"])
    await client.aclose()
