"""Which process each of Ray's workers is, and when it is gone: known by a call that lasts for as long as it lives."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

AGAIN_SECONDS = 0.2


@dataclass(slots=True)
class _WatchedActor:
    actor: Any
    worker: str | None = None
    """The process that it was last seen to be."""
    node: str = ""
    pid: int = 0
    call: Any = None
    """What it was asked last: which process it is, or to stay."""
    is_known: bool = False
    """Whether it was asked to stay, because it is known which process it is."""
    ask_at: float = 0.0


class Watch:
    """A call that fails proves nothing: the network may have failed, and the worker go on. So it is asked again which
    process it is. It is gone when another one answers, and when Ray says that its node is dead or that it ended.

    Where this process belongs to the cluster (it does not with an address `ray://`), Ray's table of actors is looked at
    too: it tells of a process that ended a second or two before the call fails and its successor has started.

    A worker that is only slow, or stands still, breaks no call off.
    """

    def __init__(self, ray: Any, see: Callable[[str, str | None], None], *, reads_table: bool = True) -> None:
        self._ray = ray
        self._reads_table = reads_table
        self._see = see
        self._followed: dict[str, _WatchedActor] = {}

    def follow(self, actors: Mapping[str, Any]) -> None:
        """These, by their names, and no others."""
        for name in self._followed.keys() - actors.keys():
            del self._followed[name]
        for name, actor in actors.items():
            self._followed.setdefault(name, _WatchedActor(actor))

    def look(self, seconds: float) -> None:
        """For so long, or until something is heard."""
        now = time.monotonic()
        for one in self._followed.values():
            if one.call is None and one.ask_at <= now:
                one.call = one.actor.identify.remote()
        calls = {one.call: name for name, one in self._followed.items() if one.call is not None}
        if not calls:
            time.sleep(seconds)
            return
        is_in_doubt = any(one.worker and not one.is_known for one in self._followed.values())
        ready, _ = self._ray.wait(list(calls), timeout=min(seconds, AGAIN_SECONDS) if is_in_doubt else seconds)
        for call in ready:
            self._hear(calls[call])
        if any(one.worker and not one.is_known for one in self._followed.values()):
            self._look_at_nodes()
        if self._reads_table:
            self._look_at_table()

    def _hear(self, name: str) -> None:
        one = self._followed[name]
        call, one.call = one.call, None
        try:
            reply: tuple[str, str, int] | None = self._ray.get(call)
        except self._ray.exceptions.ActorDiedError:
            # For good: whoever makes it anew follows that.
            del self._followed[name]
            self._see(name, None)
        except self._ray.exceptions.RayError:
            # Asked at once after it was there, and then from time to time.
            one.ask_at = time.monotonic() + (0.0 if one.is_known else AGAIN_SECONDS)
            one.is_known = False
        else:
            if reply is not None:
                one.worker, one.node, one.pid = reply
                one.is_known = True
                self._see(name, one.worker)
            one.call = one.actor.stay.remote()

    def _look_at_nodes(self) -> None:
        alive = {node["NodeID"] for node in self._ray.nodes() if node["Alive"]}
        for name, one in self._followed.items():
            if one.worker and not one.is_known and one.node not in alive:
                one.worker = None
                self._see(name, None)

    def _look_at_table(self) -> None:
        actors = import_module("ray._private.state").actors
        for name, one in self._followed.items():
            if one.worker and is_over(actors(one.actor._actor_id.hex()), one.node, one.pid):
                one.worker = None
                self._see(name, None)


def is_over(entry: Mapping[str, Any], node: str, pid: int) -> bool:
    """Whether Ray's table has something else under this actor than that process on that node."""
    if entry.get("State") == "ALIVE":
        return (entry["Address"]["NodeID"], entry["Pid"]) != (node, pid)
    return entry.get("State") in ("RESTARTING", "DEAD")
