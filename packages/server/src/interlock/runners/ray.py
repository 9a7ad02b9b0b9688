"""Workers that Ray places on its nodes, supervises and restarts.

Ray carries no run and no answer: a worker finds its work in the store, holds it by a lease and is fenced by its epoch,
as every worker is. So a Ray that fails delays runs, and loses none.
"""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

import ray

NAMESPACE = "interlock"
ENTRY = "interlock.bootstrap:work_until_stopped"
CHECK_SECONDS = 5.0
RESTART_SECONDS = 1.0
CLOSE_SECONDS = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RaySettings:
    address: str | None
    """Of a cluster; None: one of the server's own, on this machine, that ends with it."""
    workers: int
    memory: int | None
    """Bytes that Ray keeps free for each worker, and beyond which it may end it."""
    runtime_env: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How Ray ships what the agents need."""


class _Worker:
    """One process on some node: works from its start to its end. Ray starts it again when it dies."""

    def __init__(self, given: dict[str, Any]) -> None:
        threading.Thread(target=_work, args=(given,), name="interlock-worker", daemon=True).start()

    def ping(self) -> int:
        return os.getpid()


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


class RayWorkers:
    """Keeps the wanted number of workers alive, from a thread of its own: no request ever waits for Ray."""

    def __init__(self, settings: RaySettings, given: Mapping[str, Any]) -> None:
        self._settings = settings
        self._given = dict(given)
        self._actors: list[Any] = []
        self._closing = threading.Event()
        self._idle = threading.Event()
        self._idle.set()

    async def keep(self) -> None:
        # A thread that nobody waits for: Ray may take minutes to find out that a cluster is not there.
        threading.Thread(target=self._keep, name="interlock-ray", daemon=True).start()
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Workers of a cluster stay, for other servers and for the next start of this one."""
        self._closing.set()
        await asyncio.to_thread(self._idle.wait, CLOSE_SECONDS)
        if self._idle.is_set():
            await asyncio.to_thread(self._close)

    def _keep(self) -> None:
        while not self._closing.is_set():
            self._idle.clear()
            try:
                self._ensure()
            except Exception as error:
                logger.warning("Ray cannot be used; trying again: %s", error)
            self._idle.set()
            self._closing.wait(CHECK_SECONDS)

    def _ensure(self) -> None:
        settings = self._settings
        api = cast("Any", ray)
        if not api.is_initialized():
            # Without an address of a cluster in the environment: `local` is never somebody else's.
            api.init(
                address=settings.address or "local",
                namespace=NAMESPACE,
                runtime_env=dict(settings.runtime_env) or None,
                log_to_driver=False,
                configure_logging=False,
                include_dashboard=False if settings.address is None else None,
            )
        kind = api.remote(_Worker)
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

    def _close(self) -> None:
        api = cast("Any", ray)
        if not api.is_initialized():
            return
        if self._settings.address is None:
            for actor in self._actors:
                api.kill(actor)
        api.shutdown()
