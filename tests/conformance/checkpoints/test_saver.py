"""LangGraph's own conformance suite, every capability, on every database."""

from collections.abc import AsyncGenerator
from datetime import date
from typing import Any, cast

from langgraph.checkpoint.base import CheckpointMetadata
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.checkpoint.serde.types import RESUME

from interlock.storage._checkpoint_rows import BATCH
from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.database import Database
from tests.conformance.checkpoints.drafts import LONG, METADATA, at, draft


async def test_the_saver_passes_every_capability_of_langgraphs_conformance_suite(database: Database) -> None:
    @checkpointer_test(name="interlock")
    async def savers() -> AsyncGenerator[CheckpointSaver]:
        yield CheckpointSaver(database)

    report = await validate(savers)

    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert failures == {}
    assert {name for name, result in report.results.items() if result.passed} == {c.value for c in ALL_CAPABILITIES}


async def test_metadata_that_json_cannot_carry_is_told_by_its_text(saver: CheckpointSaver) -> None:
    odd: dict[str, Any] = {
        "when": date(2026, 11, 15),
        "kinds": {"a"},
        "nested": {("x", 1): [b"\x00"]},
        "nul": "a\x00b",
        "deep": ["\x00"],
    }
    metadata = cast(CheckpointMetadata, {**METADATA, **odd})

    await saver.aput(at("t"), draft("c1"), metadata, {})

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.metadata == {
        **METADATA,
        "when": "2026-11-15",
        "kinds": ["a"],
        "nested": {"('x', 1)": ["b'\\x00'"]},
        "nul": "ab",
        "deep": ["\x00"],
    }
    assert [each async for each in saver.alist(at("t"), filter={"kinds": {"a"}, "when": date(2026, 11, 15)})]


async def test_values_of_every_kind_come_back_as_they_were(saver: CheckpointSaver) -> None:
    values: dict[str, Any] = {
        "none": None,
        "yes": True,
        "number": 3,
        "short": "a\x00b",
        "long": LONG + "\x00",
        "empty": [],
        "bytes": b"\x00\xff",
        "array": bytearray(b"\x00"),
        "mapping": {"a": {"b": (1, 2)}},
    }

    await saver.aput(at("t"), draft("c1", values), METADATA, dict.fromkeys(values, "1"))
    await saver.aput_writes(at("t", "c1"), list(values.items()), "task")

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    expected = {**values, "mapping": {"a": {"b": [1, 2]}}}
    assert found.checkpoint["channel_values"] == expected
    assert found.pending_writes == [("task", channel, value) for channel, value in expected.items()]


async def test_a_value_without_a_version_is_not_lost(saver: CheckpointSaver) -> None:
    checkpoint = draft("c1")
    checkpoint["channel_values"] = {"loose": [LONG]}

    await saver.aput(at("t"), checkpoint, METADATA, {})

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"loose": [LONG]}


async def test_an_ordinary_write_stays_as_first_stored_and_a_special_one_is_replaced(saver: CheckpointSaver) -> None:
    await saver.aput(at("t"), draft("c1"), METADATA, {})
    await saver.aput_writes(at("t", "c1"), [("lines", "first"), (RESUME, "first")], "task", "path")

    await saver.aput_writes(at("t", "c1"), [("lines", "second"), (RESUME, "second")], "task", "path")

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.pending_writes == [("task", RESUME, "second"), ("task", "lines", "first")]


async def test_pending_writes_come_in_the_order_of_their_tasks_paths(saver: CheckpointSaver) -> None:
    await saver.aput(at("t"), draft("c1"), METADATA, {})
    await saver.aput_writes(at("t", "c1"), [("a", 1), ("b", 2)], "task-1", "path-2")
    await saver.aput_writes(at("t", "c1"), [("a", 3)], "task-2", "path-1")
    await saver.aput_writes(at("t", "c1"), [("a", 4)], "task-3")

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.pending_writes == [("task-3", "a", 4), ("task-2", "a", 3), ("task-1", "a", 1), ("task-1", "b", 2)]


async def test_more_channels_than_one_statement_takes_are_all_read(saver: CheckpointSaver) -> None:
    values = {f"channel-{n}": [n] for n in range(BATCH * 2 + 1)}

    await saver.aput(at("t"), draft("c1", values), METADATA, dict.fromkeys(values, "1"))

    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.checkpoint["channel_values"] == values


async def test_deleting_a_run_leaves_the_blobs_that_other_runs_hold(saver: CheckpointSaver) -> None:
    shared = draft("c1", {"lines": [LONG], "mine": [LONG]})
    await saver.aput(at("t"), shared, {**METADATA, "run_id": "one"}, {"lines": "1", "mine": "1"})
    later = draft("c2", {"lines": [LONG]})
    await saver.aput(at("t", "c1"), later, {**METADATA, "run_id": "two"}, {})

    await saver.adelete_for_runs(["one"])

    assert await saver.aget_tuple(at("t", "c1")) is None
    found = await saver.aget_tuple(at("t"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"lines": [LONG]}


async def test_a_copy_goes_on_after_what_the_target_has(saver: CheckpointSaver) -> None:
    await saver.aput(at("target"), draft("old"), METADATA, {})
    await saver.aput(at("t"), draft("c1", {"lines": [LONG]}), METADATA, {"lines": "1"})
    await saver.aput(at("t", "c1"), draft("c2"), METADATA, {})

    await saver.acopy_thread("t", "target")
    await saver.acopy_thread("t", "t")

    assert [each.checkpoint["id"] async for each in saver.alist(at("target"))] == ["c2", "c1", "old"]
    copied = await saver.aget_tuple(at("target", "c1"))
    assert copied is not None
    assert copied.checkpoint["channel_values"] == {"lines": [LONG]}


async def test_versions_rise_as_text_and_never_repeat(saver: CheckpointSaver) -> None:
    versions = [saver.get_next_version(None, None)]
    for _ in range(100):
        versions.append(saver.get_next_version(versions[-1], None))

    assert versions == sorted(set(versions))
    assert saver.get_next_version(versions[0], None) != versions[1]
