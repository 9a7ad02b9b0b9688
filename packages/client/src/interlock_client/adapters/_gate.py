"""What the adapters share: tool calls put to people, and what a model is told where the answer was not a yes."""

import asyncio
import copy
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from interlock_client.answers import Approval, ApprovalDecision
from interlock_client.errors import InvalidInput, NotAnswered
from interlock_client.hitl import Risk

if TYPE_CHECKING:
    from interlock_client.client import Interlock

T = TypeVar("T")

TIMEOUT = 300.0
ALLOWED: Sequence[ApprovalDecision] = ("accept", "edit", "reject", "response")


class Gate:
    """One client, and how it asks. `risk` is by the name of the tool; the server finds that of others."""

    def __init__(
        self, client: "Interlock", risk: Mapping[str, Risk] | None, timeout: float | None, allow_remember: bool
    ) -> None:
        self.client = client
        self.timeout = timeout
        self._risk: dict[str, Risk] = dict(risk or {})
        self._allow_remember = allow_remember
        for name, level in self._risk.items():
            if level not in get_args(Risk):
                raise InvalidInput(f"the risk of {name} is {level!r}; it can be {', '.join(get_args(Risk))}")

    async def ask(
        self,
        name: str,
        args: Mapping[str, Any],
        *,
        description: str = "",
        display_name: str | None = None,
        schema: Mapping[str, Any] | None = None,
        allowed: Sequence[ApprovalDecision] = ALLOWED,
    ) -> Approval:
        """The arguments are copied first: those of the approval are those that were shown, whatever happens meanwhile.

        That nobody decided is a refusal that says so. What keeps the call from being asked at all is raised.
        """
        asked_args = copy.deepcopy(dict(args))
        try:
            return await self.client.ask_approval(
                name,
                asked_args,
                description,
                self._risk.get(name),
                self._allow_remember,
                self.timeout,
                display_name=display_name,
                allowed=allowed,
                tool_schema=schema,
            )
        except NotAnswered as error:
            return Approval("reject", asked_args, f"no person decided ({error.reason})")


def refusal(approval: Approval) -> str:
    """What the model is told of a call that does not run."""
    if approval.decision == "response":
        return approval.message
    return f"This call was not allowed, and did not run{f': {approval.message}' if approval.message else '.'}"


async def gather_asks(asks: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once. Where one cannot be asked, the others are withdrawn before that is raised."""
    tasks = [asyncio.ensure_future(ask) for ask in asks]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def missing_package(package: str, extra: str) -> ImportError:
    return ImportError(f"this adapter needs the package {package}: pip install 'interlock-client[{extra}]'")
