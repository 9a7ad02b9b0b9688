"""The OpenAI Agents SDK: tools with `needs_approval`, decided by a person.

result = await run_with_approvals(agent, "Tidy up", client, risk={"delete_file": "high"})
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, Unpack, cast

from pydantic import BaseModel

from interlock_client.adapters._gate import ALLOWED, TIMEOUT, Gate, gather_asks, missing_package, refusal
from interlock_client.answers import Approval
from interlock_client.client import Interlock
from interlock_client.hitl import Risk

try:
    from agents import Agent, Runner, RunResult, RunState, ToolApprovalItem
    from agents.items import TResponseInputItem
    from agents.result import RunResultStreaming
    from agents.run_config import RunOptions
except ImportError as error:
    raise missing_package("openai-agents", "openai-agents") from error

ContextT = TypeVar("ContextT")

_IN_THE_STATE = ("context", "max_turns", "previous_response_id", "auto_previous_response_id", "conversation_id")
_ABOUT_THE_CALL = {"id", "call_id", "type", "name", "status", "namespace"}


async def run_with_approvals(
    agent: Agent[ContextT],
    input: str | list[TResponseInputItem] | RunState[ContextT],
    client: Interlock,
    *,
    risk: Mapping[str, Risk] | None = None,
    timeout: float | None = TIMEOUT,
    allow_remember: bool = True,
    **options: Unpack[RunOptions[ContextT]],
) -> RunResult:
    """`Runner.run`, which asks about every interruption and goes on, until there is none.

    `timeout` is how long each call may wait for a person, in seconds; a call that nobody decides is refused. Options
    are those of `Runner.run`.
    """
    approvals = Approvals(client, risk=risk, timeout=timeout, allow_remember=allow_remember)
    result = await Runner.run(agent, input, **options)
    again = cast("RunOptions[ContextT]", {name: value for name, value in options.items() if name not in _IN_THE_STATE})
    while result.interruptions:
        result = await Runner.run(agent, await approvals.answer(result), **again)
    return result


class Approvals:
    """For programs that call the runner themselves, as those that stream do. One for each conversation."""

    def __init__(
        self,
        client: Interlock,
        *,
        risk: Mapping[str, Risk] | None = None,
        timeout: float | None = TIMEOUT,
        allow_remember: bool = True,
    ) -> None:
        self._gate = Gate(client, risk, timeout, allow_remember)
        self._edits: list[tuple[str, str, str]] = []

    async def answer(self, result: RunResult | RunResultStreaming) -> RunState[Any]:
        """The state to resume the run from: all its interruptions were asked at once, and each has its answer."""
        state = result.to_state()
        items = state.get_interruptions()
        answers = await gather_asks(self._ask(item) for item in items)
        for item, approval in zip(items, answers, strict=True):
            if approval.decision == "accept":
                state.approve(item)
            else:
                state.reject(item, rejection_message=self._rejection_message(item, approval))
        return state

    async def _ask(self, item: ToolApprovalItem) -> Approval:
        args, is_editable = _display_args(item)
        if is_editable and (edit := _identity(item, args)) in self._edits:
            self._edits.remove(edit)
            return Approval("accept", args)
        tool: Any = next((tool for tool in item.agent.tools if tool.name == item.name), None)
        return await self._gate.ask(
            _name(item),
            args,
            description=getattr(tool, "description", None) or "",
            schema=getattr(tool, "params_json_schema", None),
            allowed=[decision for decision in ALLOWED if decision != "edit" or is_editable],
        )

    def _rejection_message(self, item: ToolApprovalItem, approval: Approval) -> str:
        if approval.decision != "edit":
            return refusal(approval)
        # The SDK binds an approval to the arguments of the call. So the model makes the call that the person wants,
        # and guardrails, hooks and traces see what really runs; it is not asked about again.
        self._edits.append(_identity(item, approval.args))
        return (
            f"This call did not run: a person changed its arguments, and allowed it with them. Call {_name(item)} "
            f"now with exactly these arguments: {json.dumps(dict(approval.args), ensure_ascii=False)}"
        )


def _name(item: ToolApprovalItem) -> str:
    return item.name or str(_raw(item).get("type") or "tool")


def _identity(item: ToolApprovalItem, args: Mapping[str, Any]) -> tuple[str, str, str]:
    # As text, because Python takes 1, 1.0 and True for the same.
    return item.agent.name, _name(item), json.dumps(dict(args), sort_keys=True)


def _display_args(item: ToolApprovalItem) -> tuple[dict[str, Any], bool]:
    """The arguments of a function call, which can be edited; of any other call all that it says."""
    raw = _raw(item)
    try:
        args: Any = json.loads(raw.get("arguments") or "{}", parse_constant=_not_json)
    except (TypeError, ValueError):
        args = None
    if isinstance(args, dict) and "arguments" in raw:
        return cast("dict[str, Any]", args), raw.get("type") == "function_call"
    return {name: value for name, value in raw.items() if name not in _ABOUT_THE_CALL and value is not None}, False


def _raw(item: ToolApprovalItem) -> dict[str, Any]:
    raw: Any = item.raw_item
    return raw.model_dump(mode="json") if isinstance(raw, BaseModel) else dict(raw)


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
