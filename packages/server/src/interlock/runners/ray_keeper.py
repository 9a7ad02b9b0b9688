"""The process that speaks to Ray for a server: it makes the workers, and looks whether they are there.

`python -m interlock.runners.ray_keeper` is told what to keep on its first line, ends when there is nothing more to
read, and says on standard output what its server should know.
"""

import asyncio
import base64
import logging
import os
import pickle
import sys
import threading
import time
from importlib import import_module
from typing import Any

from interlock.runners.ray import RaySettings

NAMESPACE = "interlock"
ENTRY = "interlock.bootstrap:work_until_stopped"
CHECK_SECONDS = 5.0
RESTART_SECONDS = 1.0
PATIENCE = 3
"""How often in a row Ray may fail before all that is known of it is dropped."""


class Worker:
    """One process on some node: works from its start to its end. Ray starts it again when it dies."""

    def __init__(self, given: dict[str, Any]) -> None:
        threading.Thread(target=_work, args=(given,), name="interlock-worker", daemon=True).start()


def _work(given: dict[str, Any]) -> None:
    module, _, name = ENTRY.partition(":")
    try:
        asyncio.run(getattr(import_module(module), name)(given))
    except BaseException:
        logging.getLogger(__name__).exception("a worker failed; Ray starts it again")
        # Ray does so at once, and what failed may take a moment to be there again.
        time.sleep(RESTART_SECONDS)
    finally:
        # The actor would go on without working.
        os._exit(1)


class Keeper:
    def __init__(self, settings: RaySettings, given: dict[str, Any]) -> None:
        self._settings = settings
        self._given = given
        self._actors: list[Any] = []
        self._ray: Any = import_module("ray")

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
            time.sleep(CHECK_SECONDS)

    def close(self) -> None:
        if self._settings.address is None and self._ray.is_initialized():
            for actor in self._actors:
                self._ray.kill(actor)
            self._ray.shutdown()

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
                include_dashboard=False if settings.address is None else None,
            )
        if settings.address is None and not any(node["Alive"] for node in self._ray.nodes()):
            # Its head lives, and would wait for ever for a node to place workers on: nobody adds one. It ends with this
            # process, and the next one, which the server starts after a while, begins with a new Ray.
            _say("the node of this server's own Ray is gone; starting Ray again")
            os._exit(1)
        kind = self._ray.remote(Worker)
        self._actors = [self._actor(kind, number) for number in range(settings.workers)]

    def _actor(self, kind: Any, number: int) -> Any:
        settings = self._settings
        options = {
            "name": f"worker-{number}",
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
