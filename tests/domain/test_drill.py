"""Drills: how often they come, what they look like, and what they keep of what they were modelled on."""

import random
from collections import Counter
from typing import Any

import pytest

from interlock.domain.drill import BURST, GAP, Harm, burst, is_drawn, request_of, thread_of
from interlock.domain.kinds import ApprovalBody
from interlock.domain.principal import OF_OWNER, Principal, Role
from interlock.domain.request import RequestStatus
from tests.conformance.examples import AT, a_request

ANN = Principal("u-ann", "ann", Role.REVIEWER, (f"u-bob{OF_OWNER}coder",))


def planted(args: dict[str, Any], **more: Any) -> Any:
    model = a_request(
        "perm_1", "pause-1", body=ApprovalBody.ask("Bash", args, risk_level="high"), agent="coder", **more
    )
    return burst(ANN, model, True, AT, [0.0, 0.5, 0.99])


def test_there_is_about_one_drill_for_so_many_answers() -> None:
    drawn = random.Random(1)
    answers = 200_000
    drills = BURST * sum(is_drawn(drawn.random(), 50) for _ in range(answers))
    assert answers / drills == pytest.approx(50, rel=0.1)
    assert not is_drawn(1 / BURST, 1)
    assert is_drawn(0.0, 1_000_000)


@pytest.mark.parametrize(
    ("name", "harms"),
    [
        ("command", {Harm.DELETE, Harm.PUSH, Harm.RUN}),
        ("file_path", {Harm.KEYS}),
        ("url", {Harm.SEND}),
    ],
)
def test_a_burst_looks_like_its_model_and_keeps_nothing_of_what_it_was_called_with(name: str, harms: set[Harm]) -> None:
    drills = planted({name: "of the conversation", "content": "private"})
    assert len(drills) == BURST
    assert {drill.harm for drill in drills} == harms
    assert [drill.created_at for drill in drills] == [AT, AT + 0.75 * GAP, AT + 1.745 * GAP]
    for drill in drills:
        assert list(drill.args) == [name]
        assert "of the conversation" not in str(drill)
        request = request_of(drill, ANN)
        assert (request.tool, request.risk, request.agent) == ("Bash", "high", "coder")
        assert request.id.startswith("perm_")
        assert (request.status, request.owner_id) == (RequestStatus.PENDING, ANN.id)
        assert thread_of(drill, ANN).is_outside
    counts = Counter(field for drill in drills for field in (drill.id, drill.conversation_id))
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("args", [{}, {"name": "x"}, {"command": ["ls"]}])
def test_where_no_harm_is_known_that_a_tool_could_do_there_is_no_drill(args: dict[str, Any]) -> None:
    assert planted(args) == []
