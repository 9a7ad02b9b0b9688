"""Rows for the tests: whole ones, of which a test names only what it is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.domain.effect import Effect, EffectKey, EffectState
from interlock.domain.kinds import (
    ApprovalAnswer,
    ApprovalBody,
    Body,
    ClarificationBody,
    DecisionBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.domain.principal import Principal, Role, User
from interlock.domain.request import Answer, AnswerOrigin, Pause, PauseOrigin, PauseStatus, Request, RequestStatus
from interlock.domain.run import Run, RunCause, RunStatus
from interlock.domain.run_input import MessageInput
from interlock.domain.thread import Thread, ThreadStatus
from interlock.ports.store import Store, Transaction

AT = datetime(2026, 11, 15, 12, 0, 0, 123456, tzinfo=UTC)
ANN = Principal("u-ann", "ann", Role.OWNER)


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


def a_user(user_id: str = "u-ann", username: str = "ann", **changes: Any) -> User:
    return replace(User(user_id, username, "hash", Role.OWNER, AT, AT), **changes)


def a_thread(thread_id: str = "ann-1", **changes: Any) -> Thread:
    return replace(Thread(thread_id, "u-ann", "demo", "Hello", ThreadStatus.IDLE, 0, 0, 0, AT, AT), **changes)


def a_run(run_id: str = "run-1", thread_id: str = "ann-1", **changes: Any) -> Run:
    return replace(Run(run_id, thread_id, RunCause.MESSAGE, RunStatus.QUEUED, AT, MessageInput("hi")), **changes)


def a_pause(pause_id: str = "pause-1", thread_id: str = "ann-1", **changes: Any) -> Pause:
    return replace(Pause(pause_id, thread_id, "run-1", PauseStatus.OPEN, PauseOrigin.INTERRUPT, "tools", AT), **changes)


def a_body(kind: RequestKind, risk: str | None = None) -> Body:
    match kind:
        case RequestKind.APPROVAL:
            return ApprovalBody.ask("delete_file", {"path": "a\0b \ud800 日本 😀"}, risk_level=risk)
        case RequestKind.CLARIFICATION:
            return ClarificationBody.ask("Which?", ["a", "b"])
        case RequestKind.DECISION:
            return DecisionBody.ask("Deploy?", ["yes", {"key": "no", "label": "No", "style": "danger"}], default="no")
        case RequestKind.ENV_VAR:
            return EnvVarBody.ask(["KEY", {"name": "REGION", "sensitive": False, "required": False}])
        case RequestKind.QUESTIONS:
            return QuestionsBody.ask(["Which?", {"question": "How?", "options": ["a", {"label": "b", "value": "B"}]}])


def a_request(request_id: str = "perm_1", pause_id: str = "pause-1", **changes: Any) -> Request:
    body = a_body(RequestKind.APPROVAL)
    return replace(Request(request_id, pause_id, "ann-1", RequestStatus.PENDING, 0, body, AT), **changes)


def an_answer(request_id: str = "perm_1", **changes: Any) -> Answer:
    return replace(
        Answer(request_id, ApprovalAnswer("accept"), "u-ann", "ann", "threads", AnswerOrigin.PERSON, AT), **changes
    )


def a_key(task_id: str = "task-1", call_id: str = "call-1", thread_id: str = "ann-1") -> EffectKey:
    return EffectKey(thread_id, task_id, call_id)


def an_effect(key: EffectKey | None = None, **changes: Any) -> Effect:
    return replace(
        Effect(
            key=key or a_key(),
            run_id="run-1",
            epoch=1,
            tool="delete_file",
            args={"path": "x"},
            digest="d",
            state=EffectState.INTENDED,
            idempotent=False,
            asks=0,
            created_at=AT,
            updated_at=AT,
        ),
        **changes,
    )


async def begin(tx: Transaction, *thread_ids: str) -> None:
    for thread_id in thread_ids or ("ann-1",):
        await tx.threads.add(a_thread(thread_id))


async def a_pending_request(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.pauses.add(a_pause(), [a_request()])
