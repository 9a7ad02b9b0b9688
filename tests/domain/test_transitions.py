"""The state machines: what may follow what, and that no other change passes."""

from enum import StrEnum
from typing import Any

import pytest

from interlock.domain.channel import NOTICE, NoticeStatus
from interlock.domain.effect import EFFECT, EffectState
from interlock.domain.errors import IllegalTransition
from interlock.domain.request import PAUSE, REQUEST, PauseStatus, RequestStatus
from interlock.domain.run import ACTIVE, RUN, RunStatus
from interlock.domain.thread import THREAD, ThreadStatus
from interlock.domain.transitions import Transitions
from interlock.domain.webhook import DELIVERY, DeliveryStatus

MACHINES: list[tuple[Transitions[Any], type[StrEnum]]] = [
    (REQUEST, RequestStatus),
    (PAUSE, PauseStatus),
    (RUN, RunStatus),
    (THREAD, ThreadStatus),
    (EFFECT, EffectState),
    (DELIVERY, DeliveryStatus),
    (NOTICE, NoticeStatus),
]
CHANGES = [(machine, before, after) for machine, states in MACHINES for before in states for after in states]


@pytest.mark.parametrize(("machine", "states"), MACHINES, ids=[machine.name for machine, _ in MACHINES])
def test_every_state_has_its_row(machine: Transitions[Any], states: type[StrEnum]) -> None:
    assert set(machine.table) == set(states)
    assert set().union(*machine.table.values()) <= set(states)


@pytest.mark.parametrize(("machine", "before", "after"), CHANGES)
def test_the_check_and_the_condition_of_an_update_agree(
    machine: Transitions[Any], before: StrEnum, after: StrEnum
) -> None:
    if before in machine.sources(after):
        machine.check(before, after)
    else:
        with pytest.raises(IllegalTransition, match=f"{machine.name}: {before} cannot become {after}"):
            machine.check(before, after)


@pytest.mark.parametrize("after", RequestStatus)
def test_a_request_is_settled_once(after: RequestStatus) -> None:
    assert REQUEST.sources(after) == (() if after is RequestStatus.PENDING else (RequestStatus.PENDING,))
    assert REQUEST.is_final(after) == (after is not RequestStatus.PENDING)


def test_a_pause_is_consumed_only_when_all_of_it_is_settled() -> None:
    assert PAUSE.sources(PauseStatus.CONSUMED) == (PauseStatus.SETTLED,)
    assert PAUSE.is_final(PauseStatus.CONSUMED)
    assert PAUSE.is_final(PauseStatus.VOID)


@pytest.mark.parametrize("status", RunStatus)
def test_a_run_that_has_ended_stays_ended(status: RunStatus) -> None:
    assert RUN.is_final(status) == (status not in ACTIVE)


def test_a_deleted_thread_does_not_come_back() -> None:
    assert THREAD.is_final(ThreadStatus.DELETED)
    others = set(ThreadStatus) - {ThreadStatus.DELETED}
    assert set(THREAD.sources(ThreadStatus.DELETED)) == others


def test_an_effect_in_doubt_runs_again_only_after_a_person_said_so() -> None:
    assert EFFECT.sources(EffectState.RETRY) == (EffectState.IN_DOUBT,)
    assert EffectState.INTENDED not in EFFECT.table[EffectState.IN_DOUBT]
    assert EFFECT.is_final(EffectState.DONE)
