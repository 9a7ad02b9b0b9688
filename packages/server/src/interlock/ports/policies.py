"""Repositories of policies, and the engine that evaluates conditions of their rules."""

from typing import Protocol

from interlock.domain.policy import Activation, Facts, PolicyVersion


class Policies(Protocol):
    async def activation(self) -> Activation | None:
        """The last one; None: there was none."""
        ...

    async def activate(self, activation: Activation) -> bool:
        """False where its step was taken by another one."""
        ...

    async def get(self, number: int) -> PolicyVersion | None: ...

    async def versions(self, limit: int, before: int | None = None) -> list[PolicyVersion]:
        """The newest first; with `before`, those older than that number."""
        ...

    async def last_number(self) -> int:
        """Of the newest version; 0 where there is none."""
        ...

    async def add(self, version: PolicyVersion) -> bool:
        """False where its number was taken by another one."""
        ...


class FactsReader(Protocol):
    """Facts as an engine reads them: made once for all rules that look at them."""

    def holds(self, condition: str) -> bool:
        """Whether it does; `ConditionError` where that cannot be said."""
        ...


class ConditionEngine(Protocol):
    """A language with types, without effects, whose evaluation always ends."""

    @property
    def name(self) -> str:
        """Under another engine a stored condition may mean something else."""
        ...

    @property
    def version(self) -> str: ...

    def check(self, condition: str) -> None:
        """`ConditionError` for what is no condition over the facts."""
        ...

    def read(self, facts: Facts) -> FactsReader: ...
