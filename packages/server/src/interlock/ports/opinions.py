"""Who gives a second opinion of a call. There is none unless the operator names one."""

from typing import Protocol

from interlock.domain.opinion import OpinionCall


class Adviser(Protocol):
    @property
    def name(self) -> str:
        """What people are told that it is from."""
        ...

    async def opinion(self, call: OpinionCall) -> object:
        """A text for a person. Whatever it raises, and whatever else it gives, is no opinion and has no effect."""
        ...
