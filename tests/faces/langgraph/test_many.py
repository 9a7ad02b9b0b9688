"""Calls for many at once and for whole threads, and the streams that tell more, by LangGraph's own Python client."""

import uuid
from collections.abc import Generator, Iterator
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import Frame, parse
from tests.support.waiting import wait_for
from tests.support.witness import Witness

GIVEN = {"q": "x"}


@pytest.fixture
def sdk(graphs: ServerProcess) -> Generator[Any]:
    """Untyped: what it gives is JSON."""
    with get_sync_client(url=graphs.url) as client:
        yield client


def ended(sdk: Any, run: dict[str, Any]) -> str:
    return wait_for(
        lambda: sdk.runs.get(run["thread_id"], run["run_id"])["status"],
        lambda status: status not in ("pending", "running"),
    )


def test_a_batch_of_runs_without_a_thread(sdk: Any) -> None:
    payloads = [{"assistant_id": name, "input": GIVEN, "on_completion": "keep"} for name in ("plain", "two_nodes")]
    made = sdk.runs.create_batch(payloads)
    assert [ended(sdk, one) for one in made] == ["success", "success"]
    assert sdk.threads.get(made[0]["thread_id"])["values"]["out"] == ["first", "second"]
    assert sdk.threads.get(made[1]["thread_id"])["status"] == "interrupted"
    assert len({one["thread_id"] for one in made}) == 2


def test_a_batch_with_a_wrong_run_begins_none(sdk: Any) -> None:
    marker = uuid.uuid4().hex
    right = {"assistant_id": "plain", "input": GIVEN, "metadata": {"batch": marker}, "on_completion": "keep"}
    for wrong in ({"assistant_id": "nobody"}, {**right, "after_seconds": 1}, {"assistant_id": "plain"}):
        with pytest.raises((UnprocessableEntityError, httpx.HTTPStatusError)):
            sdk.runs.create_batch([right, wrong])
    assert sdk.threads.search(metadata={"batch": marker}) == []


def test_runs_are_cancelled_together(sdk: Any, witness: Witness) -> None:
    name = uuid.uuid4().hex
    thread_id = sdk.threads.create()["thread_id"]
    first = sdk.runs.create(thread_id, "slow", input={"q": name})
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    second = sdk.runs.create(thread_id, "slow", input=GIVEN, multitask_strategy="enqueue")
    with pytest.raises(NotFoundError):
        sdk.runs.cancel_many(thread_id=thread_id, run_ids=[str(uuid.uuid4())])
    with pytest.raises(UnprocessableEntityError):
        sdk.runs.cancel_many(status="all")
    sdk.runs.cancel_many(thread_id=thread_id, run_ids=[first["run_id"], second["run_id"]])
    witness.release(name)
    assert ended(sdk, first) == "interrupted"
    with pytest.raises(NotFoundError):
        sdk.runs.get(thread_id, second["run_id"])
    assert sdk.threads.get_state(thread_id)["values"].get("out") in (None, [], ["went on"])


def test_a_copy_has_the_state_and_goes_its_own_way(sdk: Any) -> None:
    thread_id = sdk.threads.create(metadata={"team": "a"})["thread_id"]
    sdk.runs.wait(thread_id, "plain", input=GIVEN)
    copy = sdk.threads.copy(thread_id)
    assert copy["thread_id"] != thread_id
    assert copy["metadata"].items() >= {"team": "a", "graph_id": "plain"}.items()
    assert copy["values"]["out"] == ["first", "second"]
    assert len(sdk.threads.get_history(copy["thread_id"])) == len(sdk.threads.get_history(thread_id))
    sdk.runs.wait(copy["thread_id"], "plain", input={"q": "y"})
    assert sdk.threads.get(copy["thread_id"])["values"]["out"] == ["first", "second"] * 2
    assert sdk.threads.get(thread_id)["values"]["out"] == ["first", "second"]


def test_what_waits_for_a_person_is_not_copied(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    sdk.runs.wait(thread_id, "one_node", input=GIVEN)
    with pytest.raises(ConflictError):
        sdk.threads.copy(thread_id)
    with pytest.raises(NotFoundError):
        sdk.threads.copy(str(uuid.uuid4()))


def test_threads_are_pruned(sdk: Any) -> None:
    ids = [sdk.threads.create()["thread_id"] for _ in range(2)]
    assert sdk.threads.prune([*ids, str(uuid.uuid4())]) == {"pruned_count": 2}
    assert sdk.threads.search(ids=ids) == []
    with pytest.raises(UnprocessableEntityError):
        sdk.threads.prune(ids, strategy="keep_latest")


def test_tasks_and_checkpoints_are_told(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    parts = list(sdk.runs.stream(thread_id, "plain", input=GIVEN, stream_mode=["tasks", "checkpoints", "debug"]))
    tasks = [part.data for part in parts if part.event == "tasks"]
    assert [(one["name"], "result" in one) for one in tasks] == [
        ("first", False),
        ("first", True),
        ("second", False),
        ("second", True),
    ]
    assert [one["result"] for one in tasks if "result" in one] == [{"out": ["first"]}, {"out": ["second"]}]
    checkpoints = [part.data for part in parts if part.event == "checkpoints"]
    assert [one["next"] for one in checkpoints] == [["__start__"], ["first"], ["second"], []]
    newest = sdk.threads.get_state(thread_id)["checkpoint"]
    assert checkpoints[-1]["config"]["configurable"] == newest
    debug = [part.data for part in parts if part.event == "debug"]
    assert sorted(one["type"] for one in debug) == ["checkpoint"] * 4 + ["task"] * 2 + ["task_result"] * 2
    assert [part.event for part in parts][-1] == "end"


def test_a_task_that_asks_is_told_with_ids_that_can_be_answered(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    parts = list(sdk.runs.stream(thread_id, "two_nodes", input=GIVEN, stream_mode="tasks"))
    [asked] = [part.data["interrupts"][0] for part in parts if part.event == "tasks" and part.data.get("interrupts")]
    # Shown by this stream alone: a bare answer is taken.
    sdk.runs.wait(thread_id, "two_nodes", command={"resume": "yes"})
    [now] = sdk.threads.get_state(thread_id)["interrupts"]
    assert now["id"] != asked["id"]


def test_tasks_that_were_sent_to_are_told_with_what_they_were_given(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    parts = list(sdk.runs.stream(thread_id, "fan", input=GIVEN, stream_mode="tasks"))
    begun = [part.data for part in parts if part.event == "tasks" and "input" in part.data]
    assert [one["input"] for one in begun] == [{"q": f"x-{n}"} for n in range(3)]
    asked = [part.data["interrupts"][0] for part in parts if part.event == "tasks" and part.data.get("interrupts")]
    assert [one["value"]["question"] for one in asked] == [f"delete x-{n}/staging?" for n in range(3)]
    # In another order than they were asked, two and then the last one.
    left = sdk.runs.wait(thread_id, "fan", command={"resume": {one["id"]: one["id"] for one in asked[:0:-1]}})
    assert [one["id"] for one in left["__interrupt__"]] == [asked[0]["id"]]
    done = sdk.runs.wait(thread_id, "fan", command={"resume": {asked[0]["id"]: asked[0]["id"]}})
    assert done["out"] == [one["id"] for one in asked]


def test_messages_are_told_whole(people: People, server: ServerProcess) -> None:
    person = people.named("langgraph-reader")
    token = person.http.headers["authorization"]
    said = script(calls(("note", {"name": uuid.uuid4().hex}), say=["I ", "note."]), says("Do", "ne"))
    with get_sync_client(url=server.url, headers={"authorization": token}) as typed:
        sdk: Any = typed
        thread_id = sdk.threads.create()["thread_id"]
        given = {"messages": [{"type": "human", "content": said}]}
        parts = list(sdk.runs.stream(thread_id, "puppet", input=given, stream_mode="messages"))
    complete = [part.data[0] for part in parts if part.event == "messages/complete"]
    assert [(one["type"], bool(one["content"])) for one in complete] == [("ai", True), ("tool", True), ("ai", True)]
    assert (complete[0]["content"], complete[-1]["content"]) == ("I note.", "Done")
    known = {key: one for part in parts if part.event == "messages/metadata" for key, one in part.data.items()}
    assert {one["id"] for one in complete} == known.keys()
    assert all(one["metadata"]["langgraph_node"] for one in known.values())
    for part in parts:
        if part.event == "messages/partial":
            [whole] = [one["content"] for one in complete if one["id"] == part.data[0]["id"]]
            assert whole.startswith(part.data[0]["content"])


def test_a_thread_is_followed_over_its_runs(sdk: Any) -> None:
    thread_id = sdk.threads.create()["thread_id"]
    followed = sdk.threads.join_stream(thread_id)
    done: list[str] = []
    values: list[Any] = []
    # Its first event comes when a run has begun.
    runs = [sdk.runs.create(thread_id, "plain", input=GIVEN)["run_id"]]
    for part in followed:
        if part.event == "values":
            values.append(part.data["out"])
        if part.event == "metadata" and part.data.get("status") == "run_done":
            done.append(part.data["run_id"])
            if len(done) == 2:
                break
            runs.append(sdk.runs.create(thread_id, "plain", input=GIVEN)["run_id"])
    followed.close()
    assert done == runs
    assert values[-1] == ["first", "second"] * 2
    with pytest.raises(UnprocessableEntityError):
        next(sdk.threads.join_stream(thread_id, stream_mode="lifecycle"))


def test_a_thread_s_stream_goes_on_in_the_middle_of_a_run(client: LanggraphClient) -> None:
    thread_id = client.thread()
    runs = [client.post(thread_id, "", {"assistant_id": "plain", "input": GIVEN}).json()["run_id"] for _ in range(2)]
    for run_id in runs:
        client.http.get(f"/threads/{thread_id}/runs/{run_id}/join").raise_for_status()
    told = list(_told(client, thread_id, "1-0", runs[-1]))
    assert [one.data["run_id"] for one in told if one.data.get("status") == "run_done"] == runs
    for place, frame in enumerate(told[:-1]):
        rest = list(_told(client, thread_id, frame.id or "", runs[-1]))
        # What has the id of the frame before it comes once more, and nothing is left out.
        assert [one.data for one in rest[-len(told[place + 1 :]) :]] == [one.data for one in told[place + 1 :]]
        done = [one for one in told[: place + 1] if one.data.get("status") == "run_done"]
        assert len([one for one in rest if one.data.get("status") == "run_done"]) == len(runs) - len(done)


def _told(client: LanggraphClient, thread_id: str, after: str, last: str) -> Iterator[Frame]:
    """Until the end of the last run: the stream itself has none."""
    with client.http.stream("GET", f"/threads/{thread_id}/stream", headers={"last-event-id": after}) as reply:
        for frame in parse(reply.iter_lines()):
            yield frame
            if frame.data == {"status": "run_done", "run_id": last}:
                return
