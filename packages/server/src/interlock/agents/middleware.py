"""Approvals and effect records for agents made with LangChain's `create_agent`."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NotRequired, TypedDict, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from interlock.agents import asking
from interlock.agents.asking import Approval, NotAnswered
from interlock.agents.context import declared_idempotent
from interlock.agents.tool_definition import definition_of
from interlock.domain.asks import APPROVAL_DECISIONS

_DECISIONS = {
    **{"approve": "accept", "edit": "edit", "reject": "reject", "respond": "response"},
    **{name: name for name in APPROVAL_DECISIONS},
}

Result = ToolMessage | Command[Any]


class Gate(TypedDict):
    """How calls of one tool are put to a person."""

    allowed_decisions: NotRequired[Collection[str]]
    """Some of approve, edit, reject, respond; all of them when left out."""
    description: NotRequired[str | Callable[[ToolCallRequest], str]]
    display_name: NotRequired[str]
    risk_level: NotRequired[str]
    allow_remember: NotRequired[bool]
    """Whether an answer may stand for later calls too; yes when left out."""
    when: NotRequired[Callable[[ToolCallRequest], bool]]
    """Only calls for which it is true are asked about. It must say the same of the same call each time."""
    timeout: NotRequired[float | None]


class InterlockMiddleware(AgentMiddleware[Any, Any, Any]):
    """Put the calls of the tools named in `interrupt_on` to a person, one by one, before they run.

    Every gated call is a request of its own: refusing one says nothing about its siblings. Tools named in `idempotent`
    may be tried again after a crash; any other tool that was cut short is put to a person instead.
    """

    def __init__(self, interrupt_on: Mapping[str, bool | Gate] | None = None, idempotent: Collection[str] = ()) -> None:
        super().__init__()
        if isinstance(idempotent, str):
            raise ValueError(f"idempotent takes a collection of tool names, not {idempotent!r}")
        self.idempotent = frozenset(idempotent)
        self.gates: dict[str, Gate] = {}
        for tool, gate in (interrupt_on or {}).items():
            if gate is not False:
                self.gates[tool] = _checked(tool, Gate() if gate is True else gate)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        asked = self._ask(request)
        if isinstance(asked, ToolMessage):
            return asked
        token = declared_idempotent.set(asked.tool_call["name"] in self.idempotent)
        try:
            return _annotated(request, asked, handler(asked))
        finally:
            declared_idempotent.reset(token)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        asked = self._ask(request)
        if isinstance(asked, ToolMessage):
            return asked
        token = declared_idempotent.set(asked.tool_call["name"] in self.idempotent)
        try:
            return _annotated(request, asked, await handler(asked))
        finally:
            declared_idempotent.reset(token)

    def _ask(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        """The request to run, as it is or as the person changed it, or the message that stands in for its result."""
        call = request.tool_call
        gate = self.gates.get(call["name"])
        if gate is None or not gate.get("when", _always)(request):
            return request
        try:
            approval = asking.approval(
                call["name"],
                call["args"],
                _description(gate, request),
                gate.get("risk_level"),
                gate.get("allow_remember", True),
                timeout=gate.get("timeout"),
                display_name=gate.get("display_name"),
                allowed=_allowed(gate),
                call_id=call["id"],
                definition=definition_of([request.tool]) if request.tool else None,
            )
        except NotAnswered as error:
            return _instead(request, f"Not answered: {error.reason}. {call['name']} was not run.")
        return _decided(request, approval)


def _decided(request: ToolCallRequest, approval: Approval) -> ToolCallRequest | ToolMessage:
    call = request.tool_call
    match approval.decision:
        case "accept":
            return request
        case "edit":
            return request.override(tool_call={**call, "args": dict(approval.args)})
        case "response":
            return _instead(request, approval.message, status="success")
        case "reject":
            reason = f" Reason: {approval.message}" if approval.message else ""
            return _instead(request, f"A person refused this call of {call['name']}; it was not run.{reason}")


def _annotated(request: ToolCallRequest, asked: ToolCallRequest, result: Result) -> Result:
    """Tell the model what really ran: its own message still holds the arguments that it chose."""
    if asked is request or not isinstance(result, ToolMessage):
        return result
    args = json.dumps(asked.tool_call["args"], ensure_ascii=False, default=str)
    notice = f"A person changed the arguments; it ran with {args}."
    return result.model_copy(update={"content": f"{notice}\n{result.text}"})


def _instead(request: ToolCallRequest, content: str, status: Any = "error") -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content, name=call["name"], tool_call_id=cast("str", call["id"]), status=status)


def _always(_request: ToolCallRequest) -> bool:
    return True


def _description(gate: Gate, request: ToolCallRequest) -> str:
    given = gate.get("description")
    if callable(given):
        return given(request)
    if given is not None:
        return given
    return (request.tool.description if request.tool else "") or ""


def _allowed(gate: Gate) -> list[str]:
    return [_DECISIONS[name] for name in gate.get("allowed_decisions", tuple(_DECISIONS))]


def _checked(tool: str, gate: Gate) -> Gate:
    unknown = [name for name in gate.get("allowed_decisions", ()) if name not in _DECISIONS]
    if unknown or ("allowed_decisions" in gate and not gate["allowed_decisions"]):
        raise ValueError(f"interrupt_on[{tool!r}]: allowed_decisions takes some of approve, edit, reject, respond")
    return gate
