"""Repositories of policies, and the engine that evaluates conditions of their rules."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.policy import Activation, Facts, PolicyVersion, ShadowCell, ShadowSample, ShadowWord


class Policies(Protocol):
    async def activation(self) -> Activation | None:
        """The last one; None: there was none."""
        ...

    async def activate(self, activation: Activation) -> bool:
        """False where its step was taken by another one."""
        ...

    async def activation_at(self, moment: datetime) -> Activation | None:
        """The one that counted then."""
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

    async def shadow(self) -> Activation | None:
        """The last change of which version is in shadow; None: there was none."""
        ...

    async def change_shadow(self, change: Activation) -> bool:
        """False where its step was taken by another one."""
        ...

    async def add_word(self, word: ShadowWord) -> None:
        """What was recorded of this version and request before stays."""
        ...

    async def shadow_cells(self, version: int) -> Sequence[ShadowCell]:
        """What was recorded of a version in shadow: how often it said what, where what counted said what."""
        ...

    async def shadow_samples(self, version: int, cell: ShadowCell, limit: int) -> Sequence[ShadowSample]:
        """Requests of one cell, the newest first, but those of which nothing is left."""
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

    def reads(self, condition: str) -> Sequence[str]:
        """The facts that a condition names, an argument as `args.NAME`; for people, and not the engine's own word."""
        ...

    def check(self, condition: str) -> None:
        """`ConditionError` for what is no condition over the facts."""
        ...

    def read(self, facts: Facts) -> FactsReader: ...
