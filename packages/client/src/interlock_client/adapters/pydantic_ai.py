"""Pydantic AI: tools with `requires_approval`, and those that raise `ApprovalRequired`, decided by a person.

agent = Agent("openai:gpt-5", capabilities=[ask_a_person(client, risk={"delete_file": "high"})])
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from interlock_client.adapters._gate import TIMEOUT, Gate, gather_asks, missing, refusal
from interlock_client.answers import Approval
from interlock_client.client import Interlock
from interlock_client.hitl import Risk

try:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolApproved, ToolDenied
    from pydantic_ai.capabilities import HandleDeferredToolCalls
    from pydantic_ai.messages import ToolCallPart, UserContent
    from pydantic_ai.run import AgentRunResult
except ImportError as error:
    raise missing("pydantic-ai-slim", "pydantic-ai") from error

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")


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
    gate = Gate(client, risk, timeout, allow_remember)

    async def handle(context: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults | None:
        calls = requests.approvals
        answers = await gather_asks(_ask(gate, context, call) for call in calls)
        results = {call.tool_call_id: _result(answer) for call, answer in zip(calls, answers, strict=True)}
        return requests.build_results(approvals=results) if results else None

    return HandleDeferredToolCalls(handler=handle)


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


async def _ask(gate: Gate, context: RunContext[Any], call: ToolCallPart) -> Approval:
    tool = context.tools.get(call.tool_name)
    return await gate.ask(
        call.tool_name,
        call.args_as_dict(raise_if_invalid=True),
        description=(tool and tool.description) or "",
        schema=tool and tool.parameters_json_schema,
    )


def _result(approval: Approval) -> ToolApproved | ToolDenied:
    # The arguments of an accepted call are given too: they are the copy that was shown.
    return ToolApproved(override_args=dict(approval.args)) if approval.granted else ToolDenied(refusal(approval))
