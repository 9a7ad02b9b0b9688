"""The runner of a server whose agents run in other processes: it tells them, and they also look for themselves."""

from interlock.domain.event import Call
from interlock.domain.run import Claim
from interlock.ports.bus import Bus


class RemoteRunner:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def reserve(self) -> str | None:
        return None

    def give_back(self) -> None: ...

    def take(self, claim: Claim) -> None:
        raise AssertionError("nothing is claimed where nothing is run")

    def wake(self, run_id: str) -> None:
        self._bus.call([Call(run_id)])

    def stop(self, run_id: str) -> None:
        self._bus.call([Call(run_id, is_stop=True)])
