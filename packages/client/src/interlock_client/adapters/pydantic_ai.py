"""Pydantic AI: tools with `requires_approval`, and those that raise `ApprovalRequired`, decided by a person.

agent = Agent("openai:gpt-5", capabilities=[ask_a_person(client, risk={"delete_file": "high"})])
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic_core import to_jsonable_python

from interlock_client.adapters._gate import TIMEOUT, Gate, gather_asks, missing_package, refusal
from interlock_client.answers import Approval
from interlock_client.client import Interlock
from interlock_client.hitl import Risk

try:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
    from pydantic_ai.capabilities import (
        CapabilityOrdering,
        HandleDeferredToolCalls,
        RawToolArgs,
        ValidatedToolArgs,
        WrapToolValidateHandler,
    )
    from pydantic_ai.exceptions import SkipToolExecution
    from pydantic_ai.messages import ToolCallPart, UserContent
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import ToolDefinition
except ImportError as error:
    raise missing_package("pydantic-ai-slim", "pydantic-ai") from error

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")

CHANGED = "This call did not run: what a person allowed is not what the tool was about to run with."


def ask_a_person(
    client: Interlock,
    *,
    risk: Mapping[str, Risk] | None = None,
    timeout: float | None = TIMEOUT,
    allow_remember: bool = True,
) -> HandleDeferredToolCalls[Any]:
    """A capability, of an agent or of one run, that decides calls while the run goes on.

    `timeout` is how long each call may wait for a person, in seconds; a call that nobody decides is denied. Calls that
    are deferred because something else executes them are left alone.
    """
    return _ApprovalCapability(Gate(client, risk, timeout, allow_remember))


async def run_with_approvals(
    agent: Agent[DepsT, OutputT],
    prompt: str | Sequence[UserContent] | None,
    client: Interlock,
    *,
    risk: Mapping[str, Risk] | None = None,
    timeout: float | None = TIMEOUT,
    allow_remember: bool = True,
    **options: Any,
) -> AgentRunResult[OutputT]:
    """`agent.run`, which asks about every call that needs approval. Options are those of `agent.run`."""
    asking = ask_a_person(client, risk=risk, timeout=timeout, allow_remember=allow_remember)
    options["capabilities"] = [*(options.get("capabilities") or ()), asking]
    return await agent.run(prompt, **options)


class _ApprovalCapability(HandleDeferredToolCalls[Any]):
    """Asks, and sees to it that what was allowed is what runs.

    Other capabilities may change the arguments of a call, each time it is looked at: what they make of them is shown.
    As the innermost one it comes last before a call is validated and before it runs, and first after it was validated.
    """

    def __init__(self, gate: Gate) -> None:
        super().__init__(handler=self._answer)
        self._gate = gate
        self._given_args: dict[str, RawToolArgs] = {}
        """By call, the arguments before they were validated."""
        self._tool_args: dict[str, ValidatedToolArgs] = {}
        """What the tool makes of them."""
        self._changed_args: dict[str, ValidatedToolArgs] = {}
        """What other capabilities made of that."""
        self._allowed_args: dict[str, Mapping[str, Any]] = {}

    async def for_run(self, ctx: RunContext[Any]) -> "_ApprovalCapability":
        return _ApprovalCapability(self._gate)

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: RawToolArgs
    ) -> RawToolArgs:
        self._given_args[call.tool_call_id] = args
        if not ctx.tool_call_approved:
            # Models number their calls: what was allowed before was another one.
            self._allowed_args.pop(call.tool_call_id, None)
        return args

    async def after_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: ValidatedToolArgs
    ) -> ValidatedToolArgs:
        self._tool_args[call.tool_call_id] = dict(args)
        return args

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: RawToolArgs,
        handler: WrapToolValidateHandler,
    ) -> ValidatedToolArgs:
        changed = await handler(args)
        self._changed_args[call.tool_call_id] = changed
        return changed

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: ValidatedToolArgs
    ) -> ValidatedToolArgs:
        self._changed_args[call.tool_call_id] = args
        allowed = self._allowed_args.pop(call.tool_call_id, None)
        if allowed is not None and not (
            self._was_given(call, allowed) and args == self._tool_args.get(call.tool_call_id)
        ):
            raise SkipToolExecution(CHANGED)
        return args

    async def _answer(self, context: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults | None:
        calls = requests.approvals
        answers = await gather_asks(self._ask(context, call) for call in calls)
        results = {call.tool_call_id: _result(answer) for call, answer in zip(calls, answers, strict=True)}
        for call, answer in zip(calls, answers, strict=True):
            if answer.granted:
                self._allowed_args[call.tool_call_id] = answer.args
        return requests.build_results(approvals=results) if results else None

    async def _ask(self, context: RunContext[Any], call: ToolCallPart) -> Approval:
        tool = context.tools.get(call.tool_name)
        return await self._gate.ask(
            call.tool_name,
            self._display_args(call, tool),
            description=(tool and tool.description) or "",
            schema=tool and tool.parameters_json_schema,
        )

    def _display_args(self, call: ToolCallPart, tool: ToolDefinition | None) -> dict[str, Any]:
        """What the call would run with: as the model wrote it, and where something else changes that, as changed."""
        written = call.args_as_dict(raise_if_invalid=True)
        changed = self._changed_args.get(call.tool_call_id)
        if changed is None or (self._was_given(call, written) and changed == self._tool_args.get(call.tool_call_id)):
            return written
        shown: dict[str, Any] = to_jsonable_python(changed)
        names: Mapping[str, Any] = (tool.parameters_json_schema if tool else {}).get("properties", shown)
        # A tool that takes one model is called with the fields of it.
        return shown if shown.keys() <= names.keys() or len(shown) != 1 else cast("dict[str, Any]", *shown.values())

    def _was_given(self, call: ToolCallPart, args: Mapping[str, Any]) -> bool:
        """Whether it was validated with just these."""
        given = self._given_args.get(call.tool_call_id)
        read = ToolCallPart(call.tool_name, given).args_as_dict() if isinstance(given, str) else given
        return read is None or read == dict(args)


def _result(approval: Approval) -> ToolApproved | ToolDenied:
    # The arguments of an accepted call are given too: they are the copy that was shown.
    return ToolApproved(override_args=dict(approval.args)) if approval.granted else ToolDenied(refusal(approval))
