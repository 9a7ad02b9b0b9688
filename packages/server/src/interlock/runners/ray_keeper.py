"""The process that speaks to Ray for a server: it makes the workers, and looks whether they are there.

`python -m interlock.runners.ray_keeper` is told what to keep on its first line, ends when there is nothing more to
read, and says on standard output what its server should know.
"""

import asyncio
import base64
import json
import logging
import os
import pickle
import re
import sys
import threading
import time
from importlib import import_module
from typing import Any

from interlock.domain.worker import new_worker_id
from interlock.runners.ray import SIGHTING, RaySettings
from interlock.runners.ray_watch import Watch

NAMESPACE = "interlock"
ENTRY = "interlock.bootstrap:work_until_stopped"
CHECK_SECONDS = 5.0
LOOK_SECONDS = 0.25
STAY_SECONDS = 600.0
"""So long does a call last by which a worker is watched: those of keepers that are gone do not pile up."""
RESTART_SECONDS = 1.0
OF_ITS_OWN = {
    # As they are, Ray takes a node for dead after half a minute.
    "health_check_initial_delay_ms": 1_000,
    "health_check_period_ms": 1_000,
    "health_check_timeout_ms": 2_000,
    "health_check_failure_threshold": 3,
}
"""How a Ray of the server's own looks after its node. A process of it that ended is noticed without that: there is no
need to take a busy machine for a dead one."""
OWN_PROCESSES = {"gcs_server", "raylet"}
PATIENCE = 3
"""How often in a row Ray may fail before all that is known of it is dropped."""


class Worker:
    """One process on some node: works from its start to its end. Ray starts it again when it dies."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._is_retired = False
        self._name = new_worker_id()
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(_entry(given, self._name))
        self._thread = threading.Thread(target=self._work, name="interlock-worker", daemon=True)
        self._thread.start()

    # Asynchronous, so that Ray lets any number of them wait side by side.

    async def identify(self) -> tuple[str, str, int]:
        """What this process is called in the store, Ray's name for its node, and its number there."""
        return self._name, import_module("ray").get_runtime_context().get_node_id(), os.getpid()

    async def stay(self) -> None:
        """Fails when this process ends."""
        await asyncio.sleep(STAY_SECONDS)

    async def retire(self) -> None:
        """Take nothing more, and come back when what is under way has ended; whoever asked for it ends the actor."""
        self._is_retired = True
        self._loop.call_soon_threadsafe(self._task.cancel)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._task)
        except BaseException:
            if self._is_retired:
                # Ray would start it again if it ended by itself.
                return
            logging.getLogger(__name__).exception("a worker failed; Ray starts it again")
            # Ray does so at once, and what failed may take a moment to be there again.
            time.sleep(RESTART_SECONDS)
        # The actor would go on without working.
        os._exit(1)


async def _entry(given: dict[str, Any], worker: str) -> None:
    module, _, name = ENTRY.partition(":")
    await getattr(import_module(module), name)(given, worker)


class Keeper:
    def __init__(self, settings: RaySettings, given: dict[str, Any]) -> None:
        self._settings = settings
        self._given = given
        self._actors: dict[str, Any] = {}
        self._retiring: dict[str, tuple[Any, Any]] = {}
        self._logged: set[str] = set()
        self._ray: Any = import_module("ray")
        is_client = (settings.address or "").startswith("ray://")
        self._watch = Watch(self._ray, _see, reads_table=not is_client)

    def keep(self) -> None:
        failures = 0
        while True:
            try:
                self._ensure()
                failures = 0
            except Exception as error:
                _say(f"Ray cannot be used; trying again: {' '.join(str(error).split())}")
                failures += 1
            if failures >= PATIENCE:
                # The cluster that it knew is gone; the next process finds the one that is there.
                os._exit(1)
            next_check = time.monotonic() + CHECK_SECONDS
            while (left := next_check - time.monotonic()) > 0:
                self._look(min(left, LOOK_SECONDS))

    def close(self) -> None:
        if self._settings.address is None and self._ray.is_initialized():
            for actor in self._actors.values():
                self._ray.kill(actor)
            self._ray.shutdown()

    def _look(self, seconds: float) -> None:
        try:
            self._watch.look(seconds)
        except Exception as error:
            # The next check finds out what it is.
            self._tell(f"Ray's workers cannot be watched; trying again: {' '.join(str(error).split())}")
            time.sleep(seconds)

    def _ensure(self) -> None:
        settings = self._settings
        if not self._ray.is_initialized():
            # Without an address of a cluster in the environment: `local` is never somebody else's.
            self._ray.init(
                address=settings.address or "local",
                namespace=NAMESPACE,
                runtime_env=dict(settings.runtime_env) or None,
                log_to_driver=False,
                configure_logging=False,
                **({"include_dashboard": False, "_system_config": OF_ITS_OWN} if settings.address is None else {}),
            )
            if settings.address is None:
                threading.Thread(target=self._watch_own_ray, name="interlock-own-ray", daemon=True).start()
        if settings.address is None and not any(node["Alive"] for node in self._ray.nodes()):
            # Its head lives, and would wait for ever for a node to place workers on: nobody adds one.
            self._start_again("its node is dead")
        names: list[str] = self._ray.util.list_named_actors()
        self._tell_of_unnamed(names)
        generations = {name: generation for name in names if (generation := settings.generation_of(name)) is not None}
        if max(generations.values(), default=0) > settings.generation:
            # A server of this database was started with other settings since: its workers run what this one queues.
            self._tell("a later start has other settings: its workers run the agents, and this server keeps none")
            return
        kind = self._ray.remote(Worker)
        self._actors = {settings.name_of(number): self._actor(kind, number) for number in range(settings.workers)}
        for name, generation in generations.items():
            if generation < settings.generation:
                self._retire(name)
        retiring = {name: actor for name, (actor, _) in self._retiring.items() if hasattr(actor, "identify")}
        self._watch.follow(self._actors | retiring)

    def _watch_own_ray(self) -> None:
        """Of its head, its node's keeper and what else it consists of: without any of them it is of no use.

        The keeper of the node ends when an agent of its own does.
        """
        while True:
            if ended := [kind for kind, _ in _own_node().dead_processes() if kind in OWN_PROCESSES]:
                self._start_again(f"{ended[0]} ended")
            time.sleep(LOOK_SECONDS)

    def _start_again(self, why: str) -> None:
        """It ends with this process, and the next one, which the server starts, begins with a new Ray."""
        _say(f"this server's own Ray is gone ({why}); starting Ray again")
        # A node that lost its head would wait for it for a minute.
        for _, process in _own_node().live_processes():
            process.kill()
        os._exit(1)

    def _retire(self, name: str) -> None:
        """Ask it once to end what is under way, and end it when it has."""
        if name not in self._retiring:
            actor = self._ray.get_actor(name)
            self._retiring[name] = actor, actor.retire.remote()
            return
        actor, retired = self._retiring[name]
        if self._ray.wait([retired], timeout=0)[0]:
            del self._retiring[name]
            # One that died meanwhile was started again, and is asked again.
            self._ray.get(retired)
            self._ray.kill(actor, no_restart=True)

    def _tell_of_unnamed(self, names: list[str]) -> None:
        """Earlier versions named workers by their numbers alone: whose they are nobody knows."""
        for name in names:
            if re.fullmatch(r"worker-\d+", name):
                self._tell(
                    f"{name} in Ray's namespace {NAMESPACE} was made by an earlier version, and is not used any more: "
                    "if it is this server's, end it as `Run agents on Ray` in the documentation says"
                )

    def _tell(self, line: str) -> None:
        if line not in self._logged:
            self._logged.add(line)
            _say(line)

    def _actor(self, kind: Any, number: int) -> Any:
        settings = self._settings
        options = {
            "name": settings.name_of(number),
            "namespace": NAMESPACE,
            "get_if_exists": True,
            "max_restarts": -1,
            "max_task_retries": 0,
            "num_cpus": 0.1,
            "scheduling_strategy": "SPREAD",
            # Else it would end with the handle of whoever made it first.
            "lifetime": "detached",
            **({"memory": settings.memory} if settings.memory else {}),
        }
        return kind.options(**options).remote(self._given)


def _own_node() -> Any:
    """What `ray start --block` asks, too; Ray has no other way to know its processes."""
    return import_module("ray._private.worker")._global_node


def _see(name: str, worker: str | None) -> None:
    _say(SIGHTING + json.dumps([name, worker]))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    settings, given = pickle.loads(base64.b64decode(sys.stdin.readline()))
    keeper = Keeper(settings, given)
    # Ray may take minutes to find out that a cluster is not there: nobody waits for that thread.
    threading.Thread(target=keeper.keep, name="interlock-ray", daemon=True).start()
    sys.stdin.read()
    keeper.close()
    os._exit(0)


if __name__ == "__main__":
    # By its name, so that Ray's nodes find the worker's class under it.
    import_module("interlock.runners.ray_keeper").main()
