"""Faults of other frameworks that their adapters here must not let through: what a person is shown is what runs."""

from typing import Any, cast

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition

from interlock_client.adapters.pydantic_ai import run_with_approvals
from tests.client.adapters.desk import YES, Desk

pytestmark = pytest.mark.promise("P7")

RAN = "transferred 50.0"
DENIED = "is not what the tool was about to run with"


class Rewrites(AbstractCapability[Any]):
    """Changes an amount, at one of the places where a capability may."""

    def __init__(self, where: str, times: float) -> None:
        self.where, self.times = where, times

    def _rewritten(self, where: str, args: Any) -> Any:
        if where != self.where or not isinstance(args, dict):
            return args
        given = cast("dict[str, Any]", args)
        # A limit says the same of what it has said before; a factor does not.
        return {**given, "amount": min(given["amount"], 50) if self.times == 1 else given["amount"] * self.times}

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
    ) -> Any:
        return self._rewritten("raw", args)

    async def after_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
    ) -> Any:
        return self._rewritten("validated", args)

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
    ) -> Any:
        return self._rewritten("executed", args)


class Bank:
    def __init__(self, where: str, times: float) -> None:
        self.executed: list[float] = []
        self.told = ""
        self.agent: Agent[None, str] = Agent(FunctionModel(self.reply), capabilities=[Rewrites(where, times)])
        self.agent.tool_plain(requires_approval=True)(self.transfer)

    def reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        read = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not read:
            return ModelResponse(parts=[ToolCallPart("transfer", {"amount": 100}, "c1")])
        return ModelResponse(parts=[TextPart(str(read[0].content))])

    def transfer(self, amount: float, note: str = "") -> str:
        """Move money."""
        self.executed.append(amount)
        return f"transferred {amount}"


@pytest.mark.parametrize(
    ("where", "times", "shown", "executed", "told"),
    [
        # It is shown as it will run.
        ("validated", 1, 50, [50], RAN),
        ("raw", 1, 50, [50], RAN),
        # What says otherwise each time, or only when it runs, is not what was allowed.
        ("validated", 2, 200, [], DENIED),
        ("raw", 2, 200, [], DENIED),
        ("executed", 1, 100, [], DENIED),
    ],
)
async def test_an_approver_is_shown_the_arguments_that_run_and_not_those_of_the_model(
    desk: Desk, where: str, times: float, shown: float, executed: list[float], told: str
) -> None:
    """pydantic-ai 6968: a capability clamps `amount` to 50 after the person has approved 100. Of its kind are
    openai-agents 5066 and haystack 12060, where it is the tool itself that fills arguments in."""
    bank = Bank(where, times)
    result, [asked] = await desk.meanwhile(run_with_approvals(bank.agent, "pay", desk.client), {"transfer": YES})
    assert asked["transfer"]["args"]["amount"] == shown
    assert bank.executed == executed
    assert told in result.output


async def test_an_edit_that_is_changed_again_does_not_run(desk: Desk) -> None:
    bank = Bank("validated", 1)
    edit = {"granted": True, "args": {"amount": 70}}
    result, _ = await desk.meanwhile(run_with_approvals(bank.agent, "pay", desk.client), {"transfer": edit})
    assert bank.executed == []
    assert DENIED in result.output


class Order(BaseModel):
    amount: float
    note: str = ""


async def test_a_tool_that_takes_a_model_is_shown_and_called_with_its_fields(desk: Desk) -> None:
    bank = Bank("nowhere", 1)

    class Doubles(AbstractCapability[Any]):
        async def after_tool_validate(
            self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
        ) -> Any:
            return {"order": args["order"].model_copy(update={"note": "checked"})}

    agent: Agent[None, str] = Agent(FunctionModel(bank.reply), capabilities=[Doubles()])

    @agent.tool_plain(requires_approval=True)
    def transfer(order: Order) -> str:  # pyright: ignore[reportUnusedFunction]
        bank.executed.append(order.amount)
        return f"transferred {order.amount}: {order.note}"

    result, [asked] = await desk.meanwhile(run_with_approvals(agent, "pay", desk.client), {"transfer": YES})
    assert asked["transfer"]["args"] == {"amount": 100.0, "note": "checked"}
    assert result.output == "transferred 100.0: checked"
