"""State machines as tables: a change that is not in its table raises at the edge, before anything is written."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from interlock.domain.errors import IllegalTransition

State = TypeVar("State", bound=StrEnum)


class Transitions(Generic[State]):
    def __init__(self, name: str, table: Mapping[State, frozenset[State]]) -> None:
        self.name = name
        self.table = table

    def check(self, before: State, after: State) -> None:
        """Raise `IllegalTransition` unless the table allows going from one state to the other."""
        if after not in self.table[before]:
            raise IllegalTransition(f"{self.name}: {before} cannot become {after}")

    def sources(self, after: State) -> tuple[State, ...]:
        """The states from which `after` may be reached: the condition of a conditional update."""
        return tuple(state for state, targets in self.table.items() if after in targets)

    def is_final(self, state: State) -> bool:
        return not self.table[state]
