"""Workers that Ray places on its nodes, supervises and starts again.

Ray carries no run and no answer: a worker finds its work in the store, holds it by a lease and is fenced by its epoch,
as every worker is. So a Ray that fails delays runs, and loses none. Ray may end the process that speaks to it, and
remembers a cluster that is gone: so a process of its own does that (`ray_keeper`), and is started again when it ends.
"""

import asyncio
import base64
import json
import logging
import pickle
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

AGAIN_SECONDS = 5.0
AT_ONCE_SECONDS = 30.0
"""After it lived for so long, a process that ended is started again at once: whatever ended it is no standing fault."""
CLOSE_SECONDS = 10.0
SIGHTING = "sighting "
"""How a line begins that says which process a worker is; all others are for the log."""
OF_ITS_OWN = {
    # On loopback, as Ray does by itself on macOS.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Workers serve people who wait: they are no background work.
    "RAY_worker_niceness": "0",
}
"""What a Ray that is the server's own finds in its environment, unless the operator has set it."""

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
    deployment: str = ""
    """Whose workers they are: several deployments may share a cluster."""
    generation: int = 0
    """Which settings of that deployment: workers of earlier ones are retired."""
    fingerprint: str = ""

    def name_of(self, number: int) -> str:
        return f"worker-{self.deployment}-{self.generation}-{self.fingerprint}-{number}"

    def generation_of(self, name: str) -> int | None:
        """Of a worker of this deployment; None for others."""
        kind, _, rest = name.partition(f"-{self.deployment}-")
        generation = rest.partition("-")[0]
        return int(generation) if kind == "worker" and generation.isdecimal() else None


class RayWorkers:
    """Keeps the wanted number of workers alive, by a process of its own: no request ever waits for Ray."""

    def __init__(self, settings: RaySettings, given: Mapping[str, Any]) -> None:
        self._settings_line = base64.b64encode(pickle.dumps((settings, dict(given)))) + b"\n"
        self._is_own = settings.address is None
        self._keeper: asyncio.subprocess.Process | None = None
        self._seen: dict[str, str] = {}
        """By its name at Ray, which process each worker was when it was last seen."""
        self._dismissals: set[asyncio.Task[None]] = set()

    async def keep(self, dismiss: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        """Until cancelled. `dismiss` ends the leases of a process that is gone."""
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            self._keeper = keeper = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "interlock.runners.ray_keeper"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # an interrupt typed in the terminal is for the server, which ends it in order
            )
            await self._listen(keeper, dismiss)
            if self._is_own:
                # Its Ray ends with it, and all workers do.
                for name in list(self._seen):
                    self._see(name, None, dismiss)
            logger.warning("the process that keeps Ray's workers ended with %s; starting it again", keeper.returncode)
            if clock() - began < AT_ONCE_SECONDS:
                await asyncio.sleep(AGAIN_SECONDS)

    async def close(self, dismiss: Callable[[str], Awaitable[bool]]) -> None:
        """Workers of a cluster stay, for other servers and for the next start of this one."""
        keeper = self._keeper
        if keeper is None:
            return
        if keeper.returncode is None:
            assert keeper.stdin is not None
            # It ends when nobody can tell it anything any more: also when this process is killed.
            keeper.stdin.close()
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await keeper.wait()
            except TimeoutError:
                keeper.kill()
                await keeper.wait()
        if self._is_own:
            # What they ran goes on at the next start, without a wait for their leases.
            await asyncio.gather(*map(dismiss, self._seen.values()), return_exceptions=True)

    async def _listen(
        self, keeper: asyncio.subprocess.Process, dismiss: Callable[[str], Coroutine[Any, Any, None]]
    ) -> None:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        with suppress(ConnectionError):
            keeper.stdin.write(self._settings_line)
            await keeper.stdin.drain()
        async for line in keeper.stdout:
            text = line.decode(errors="replace").strip()
            if text.startswith(SIGHTING):
                name, worker = json.loads(text.removeprefix(SIGHTING))
                self._see(name, worker, dismiss)
            else:
                logger.warning("%s", text)
        await keeper.wait()

    def _see(self, name: str, worker: str | None, dismiss: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        """Who was seen under a name before is gone when there is nobody now, or another one."""
        before = self._seen.pop(name, None)
        if worker is not None:
            self._seen[name] = worker
        if before is not None and before != worker:
            task = asyncio.create_task(dismiss(before))
            self._dismissals.add(task)
            task.add_done_callback(self._dismissals.discard)
