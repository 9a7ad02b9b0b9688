"""Approvals and effect records for agents made with LangChain's `create_agent`."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, NotRequired, TypedDict, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from interlock.agents import asking
from interlock.agents.asking import Approval, NotAnswered
from interlock.agents.context import declared_idempotent
from interlock.agents.tool_definition import definition_of
from interlock.domain.kinds.approval import APPROVAL_DECISIONS
from interlock.domain.kinds.kind import Texts
from interlock.domain.risk import RISK_LEVELS

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
    display_name: NotRequired[Texts]
    """What people see the tool called: a text, or one for each language, such as `{"en": ..., "zh": ...}`."""
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
        if isinstance(idempotent, str) or not all(isinstance(name, str) for name in cast("Any", idempotent)):
            raise ValueError(f"idempotent takes a collection of tool names, not {idempotent!r}")
        if not isinstance(cast("Any", interrupt_on), Mapping | None):
            raise ValueError(f"interrupt_on maps names of tools to True, False or a gate; it is {interrupt_on!r}")
        self.idempotent = frozenset(idempotent)
        self.ungated = frozenset(tool for tool, gate in (interrupt_on or {}).items() if gate is False)
        self.gates = {tool: _check_gate(tool, gate) for tool, gate in (interrupt_on or {}).items() if gate is not False}
        self.unmatched: frozenset[str] = frozenset()
        """Gated names that no tool had when the agent was loaded, in a graph that may get tools while it runs."""

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        call = self._ask(request)
        if isinstance(call, ToolMessage):
            return call
        token = declared_idempotent.set(call.tool_call["name"] in self.idempotent)
        try:
            return _annotate(request, call, handler(call))
        finally:
            declared_idempotent.reset(token)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        call = self._ask(request)
        if isinstance(call, ToolMessage):
            return call
        token = declared_idempotent.set(call.tool_call["name"] in self.idempotent)
        try:
            return _annotate(request, call, await handler(call))
        finally:
            declared_idempotent.reset(token)

    def _ask(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        """The request to run, as it is or as the person changed it, or the message that stands in for its result."""
        call = request.tool_call
        gate = self.gates.get(call["name"])
        if gate is None and request.tool is None and call["name"] not in self.ungated:
            self._refuse_a_misspelled_gate(call["name"])
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
                allowed=_decisions_of(gate),
                call_id=call["id"],
                definition=definition_of(request.tool) if request.tool else None,
            )
        except NotAnswered as error:
            return _instead(request, f"Not answered: {error.reason}. {call['name']} was not run.")
        return _apply_decision(request, approval)

    def _refuse_a_misspelled_gate(self, tool: str) -> None:
        """The tool came while the agent ran, so that no gate could be held against its name before."""
        for gated in get_close_matches(tool, self.unmatched, n=1):
            raise ValueError(
                f"interrupt_on names {gated!r}, which no tool is called, and {tool!r} is about to run unasked: "
                f"correct the name, or say {tool!r}: False"
            )


def _apply_decision(request: ToolCallRequest, approval: Approval) -> ToolCallRequest | ToolMessage:
    call = request.tool_call
    match approval.decision:
        case "accept":
            return request
        case "edit":
            return request.override(tool_call={**call, "args": dict(approval.args)})
        case "response":
            return _instead(request, approval.message, status="success")
        case "reject":
            return _instead(request, asking.refusal_text(call["name"], approval.message))


def _annotate(request: ToolCallRequest, call: ToolCallRequest, result: Result) -> Result:
    """Tell the model what really ran: its own message still holds the arguments that it chose."""
    if call is request or not isinstance(result, ToolMessage):
        return result
    args = json.dumps(call.tool_call["args"], ensure_ascii=False, default=str)
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


def _decisions_of(gate: Gate) -> list[str]:
    return [_DECISIONS[name] for name in gate.get("allowed_decisions", tuple(_DECISIONS))]


def _check_gate(tool: str, gate: Any) -> Gate:
    """The gate; what is wrong with it raises, since a gate that is not understood is one that does not close."""
    if gate is True:
        return Gate()
    if not isinstance(gate, Mapping):
        raise ValueError(f"interrupt_on[{tool!r}] is {gate!r}: it must be True, False or a gate, which is a dict")
    given = cast("Mapping[str, Any]", gate)
    for name, value in given.items():
        if name not in _OPTIONS:
            raise ValueError(f"interrupt_on[{tool!r}]: there is no option {name!r}{nearest(name, _OPTIONS)}")
        requirement, is_right = _OPTIONS[name]
        if not is_right(value):
            raise ValueError(f"interrupt_on[{tool!r}]: {name} is {value!r}; it must be {requirement}")
    return cast("Gate", dict(given))


def nearest(name: str, known: Collection[str]) -> str:
    """The end of a sentence that says that a name is not known."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(sorted(known))}" if known else ""


def _is_some_decisions(value: Any) -> bool:
    given = {str(name) for name in cast("Any", value)} if isinstance(value, Collection) else set[str]()
    return bool(given) and given <= _DECISIONS.keys()


def _is_seconds(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**9)


def _is_texts(value: Any) -> bool:
    texts = list(cast("Mapping[Any, Any]", value).values()) if isinstance(value, Mapping) else [value]
    return bool(texts) and all(isinstance(text, str) and text for text in texts)


_OPTIONS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "allowed_decisions": ("some of approve, edit, reject, respond", _is_some_decisions),
    "description": ("a text, or a function of the call", lambda value: isinstance(value, str) or callable(value)),
    "display_name": ("a text, or texts by language", _is_texts),
    "risk_level": (f"one of {', '.join(RISK_LEVELS)}", lambda value: value in RISK_LEVELS),
    "allow_remember": ("True or False", lambda value: isinstance(value, bool)),
    "when": ("a function of the call", callable),
    "timeout": ("a number of seconds above 0, or None", _is_seconds),
}
