"""Asking a person from any program, and waiting for the answer."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from interlock_client._patience import Patience, logger
from interlock_client._transport import HITL, Call, Part, segment
from interlock_client.answers import Approval, Decision, approval_of
from interlock_client.errors import Forbidden, InterlockError, NotAnswered, NotFound
from interlock_client.hitl import Cancelled, CollectedValues, RequestObject, RequestType, Risk

DEFAULT_TIMEOUT = 300.0
LONG_POLL = 30.0
"""Seconds for which the server holds each look at a request that is pending."""
WITHDRAWING = 3.0

Fields = Sequence[str | Mapping[str, Any]]
"""Names or texts, or the objects that the hitl face describes."""


class Asking(Part):
    async def ask(
        self,
        type: RequestType,
        request_data: Mapping[str, Any],
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        conversation_id: str | None = None,
    ) -> RequestObject:
        """Ask, and wait until it is answered: the request, whose `response` is the answer.

        `NotAnswered` when it expired without a default, or was cancelled. It is asked once, whatever happens to the
        connection or the server in between. Cancelling this call withdraws the request.
        """
        began = time.monotonic()
        placement = asyncio.create_task(self._place(type, dict(request_data), timeout, conversation_id))
        try:
            request = await asyncio.shield(placement)
            left = None if timeout is None else timeout + self._transport.patience - (time.monotonic() - began)
            return await self._wait_until_settled(request, left)
        except asyncio.CancelledError:
            await self._withdraw(placement)
            raise

    async def ask_clarification(
        self,
        question: str,
        options: Sequence[str] = (),
        allow_custom: bool = True,
        default: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        *,
        conversation_id: str | None = None,
    ) -> str:
        """One question. With `allow_custom=False` only one of the options is taken."""
        data = {
            "question": question,
            "options": list(options),
            "allow_custom": allow_custom,
            "default_answer": default,
        }
        given = await self._answer("clarification", data, timeout, conversation_id)
        return str(given["answer"])

    async def ask_decision(
        self,
        title: str,
        options: Fields,
        description: str = "",
        risks: Sequence[str] = (),
        decision_type: str = "custom",
        default: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        *,
        conversation_id: str | None = None,
    ) -> Decision:
        """One of several options: texts, or `{"key", "label", "style"}`; `default` is a key."""
        data = {
            "title": title,
            "options": _plain(options),
            "description": description,
            "risks": list(risks),
            "decision_type": decision_type,
            "default": default,
        }
        given = await self._answer("decision", data, timeout, conversation_id)
        return Decision(str(given["decision"]), str(given.get("reason") or ""))

    async def ask_env_vars(
        self,
        fields: Fields,
        allow_save: bool = True,
        timeout: float | None = DEFAULT_TIMEOUT,
        *,
        conversation_id: str | None = None,
    ) -> dict[str, str]:
        """Values by name: fields are names, or `{"name", "label", "required", "sensitive", "description"}`.

        They are handed out once, and destroyed on the server with that.
        """
        data = {"fields": _plain(fields), "allow_save": allow_save}
        settled = await self.ask("env_var", data, timeout=timeout, conversation_id=conversation_id)
        # Sent twice, the second one finds nothing: it is never given to two.
        call = Call("POST", f"{HITL}/requests/{segment(settled.request_id)}/collect", repeatable=True)
        return (await self._fetch_data(CollectedValues, call)).values

    async def ask_questions(
        self, questions: Fields, timeout: float | None = DEFAULT_TIMEOUT, *, conversation_id: str | None = None
    ) -> list[str]:
        """Several questions at once: texts, or `{"question", "options"}`. One answer for each."""
        given = await self._answer("clarification", {"questions": _plain(questions)}, timeout, conversation_id)
        return [str(answer) for answer in given["answers"]]

    async def ask_approval(
        self,
        tool_name: str,
        args: Mapping[str, Any],
        description: str = "",
        risk_level: Risk | None = None,
        allow_remember: bool = True,
        timeout: float | None = DEFAULT_TIMEOUT,
        *,
        display_name: str | None = None,
        allowed: Sequence[str] = ("accept", "edit", "reject", "response"),
        tool_schema: Mapping[str, Any] | None = None,
        fixed: Sequence[str] = (),
        conversation_id: str | None = None,
    ) -> Approval:
        """Whether a tool may run with these arguments. Run it with `.args` of what comes back, if `.granted`.

        The server may put the risk higher than it is said to be here, and finds one where none is said.
        """
        data = {
            "tool_name": tool_name,
            "args": dict(args),
            "description": description,
            "risk_level": risk_level,
            "allow_remember": allow_remember,
            "allowed": list(allowed),
            "tool_display_name": display_name,
            "tool_schema": None if tool_schema is None else dict(tool_schema),
            "fixed": list(fixed) or None,
        }
        return approval_of(await self._answer("permission", data, timeout, conversation_id), args)

    async def _answer(
        self, type: RequestType, data: dict[str, Any], timeout: float | None, conversation_id: str | None
    ) -> dict[str, Any]:
        given = {name: value for name, value in data.items() if value is not None}
        settled = await self.ask(type, given, timeout=timeout, conversation_id=conversation_id)
        return settled.response or {}

    async def _place(
        self, type: RequestType, data: dict[str, Any], timeout: float | None, conversation_id: str | None
    ) -> RequestObject:
        if where := conversation_id or self.conversation_id:
            return await self._post(type, data, timeout, where)
        # The first ask begins the conversation; those beside it wait for that, and go on in the same one.
        async with self._begin_lock:
            if not self.conversation_id:
                request = await self._post(type, data, timeout, None)
                self.conversation_id = request.conversation_id
                return request
        return await self._post(type, data, timeout, self.conversation_id)

    async def _post(
        self, type: RequestType, data: dict[str, Any], timeout: float | None, conversation_id: str | None
    ) -> RequestObject:
        body = {"type": type, "request_data": data, "timeout_seconds": timeout}
        more = self._body(conversation_id=conversation_id, agent=self._agent)
        call = Call("POST", f"{HITL}/requests", {**body, **more}, headers=self._new_key(), repeatable=True)
        return await self._fetch_data(RequestObject, call)

    async def _wait_until_settled(self, request: RequestObject, seconds: float | None) -> RequestObject:
        path = f"{HITL}/requests/{segment(request.request_id)}"
        look = Call("GET", path, params={"wait": LONG_POLL}, repeatable=True, holds=LONG_POLL)
        until = None if seconds is None else time.monotonic() + seconds
        try:
            while request.status == "pending":
                left = None if until is None else max(until - time.monotonic(), self._transport.patience)
                request = await self._fetch_data(RequestObject, look, Patience(left))
        except (Forbidden, NotFound) as error:
            # Who asked may always look: there is nothing left to look at.
            raise NotAnswered("deleted", request_id=request.request_id) from error
        if request.response is None:
            raise NotAnswered(request.status, request_id=request.request_id)
        return request

    async def _withdraw(self, placing: "asyncio.Task[RequestObject]") -> None:
        """Best effort: whoever sees the request should not answer somebody who has gone."""
        try:
            async with asyncio.timeout(WITHDRAWING):
                request = await placing
                body = self._body(request_id=request.request_id, reason="withdrawn: the asker no longer waits")
                call = Call("POST", f"{HITL}/cancel", body, headers=self._new_key(), repeatable=True)
                await self._fetch_data(Cancelled, call)
        except (InterlockError, TimeoutError) as error:
            logger.debug("a request could not be withdrawn: %s", error)


def _plain(items: Fields) -> list[str | dict[str, Any]]:
    return [item if isinstance(item, str) else dict(item) for item in items]
