"""Traces, as a collector receives them: from the ask to the effect, over a restart in between."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support import puppet
from tests.support.people import FIRST, People
from tests.support.puppet import calls, says, script
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess
from tests.support.witness import Witness


@pytest.fixture
def collector() -> Generator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def spans(collector: Receiver) -> list[Any]:
    found: list[Any] = []
    for received in collector.received:
        sent = ExportTraceServiceRequest()
        sent.ParseFromString(received.body)
        for resource in sent.resource_spans:
            for scope in resource.scope_spans:
                found += scope.spans
    return found


def test_a_trace_leads_from_the_ask_to_the_effect_over_a_restart(
    tmp_path: Path, witness: Witness, collector: Receiver
) -> None:
    settings = {**witness.environment, "INTERLOCK_OTLP_ENDPOINT": f"{collector.url}/v1/traces"}
    server = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=settings)
    try:
        with People(server.start().url) as people:
            root = people.named(FIRST)
            thread = root.new_thread()
            root.chat(thread, script(calls(("guarded", {"name": "planted-argument"})), says("planted-text")))
            server.stop()
            again = root.at(server.start().url)
            with again.http:
                assert again.status(thread)["has_pending_tasks"]
                assert again.resume(thread, "continue").text == "planted-text"
        server.stop()
    finally:
        server.close()
    told = spans(collector)
    (ask,) = [span for span in told if span.name == "ask"]
    assert ask.parent_span_id == b""
    trace = {span.name: span for span in told if span.trace_id == ask.trace_id}
    assert set(trace) == {"ask", "wait for approval", "run", "tool guarded"}
    assert trace["wait for approval"].parent_span_id == trace["run"].parent_span_id == ask.span_id
    assert trace["tool guarded"].parent_span_id == trace["run"].span_id
    assert trace["wait for approval"].end_time_unix_nano <= trace["tool guarded"].start_time_unix_nano
    # The run that asked has a trace of its own.
    assert [span.name for span in told if span.trace_id != ask.trace_id] == ["run"]
    for received in collector.received:
        assert b"planted" not in received.body


def test_a_collector_that_is_not_there_keeps_nobody_waiting(tmp_path: Path, witness: Witness) -> None:
    settings = {**witness.environment, "INTERLOCK_OTLP_ENDPOINT": "http://127.0.0.1:1/v1/traces"}
    server = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=settings)
    try:
        with People(server.start().url) as people:
            root = people.named(FIRST)
            thread = root.new_thread()
            root.chat(thread, script(calls(("guarded", {"name": "no-collector"})), says("the end")))
            assert root.resume(thread, "continue").text == "the end"
        server.stop()
        assert server.running.returncode == 0
    finally:
        server.close()
