"""`interlock serve`."""

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import uvicorn

from interlock.bootstrap import TOOL_THREADS, Application, application
from interlock.cli.connection import ConnectionLimits, connections
from interlock.cli.logs import set_up_logs
from interlock.config import Config, enter_project, load
from interlock.domain.errors import StorageUnavailable
from interlock.faces.http.sockets import MAX_MESSAGE
from interlock.faces.http.tokens import LIFETIME
from interlock.services.access import accounts

GRACE_SECONDS = 60
"""How long a shutdown waits for tools that are under way."""


class _Server(uvicorn.Server):
    """Tells the application at the first signal, while connections are open, so that streams end by themselves."""

    def __init__(
        self, config: uvicorn.Config, application: Application, announce: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(config)
        self._application = application
        self._announce = announce
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._application.state.closing.set)
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Not before: whoever reads it connects at once.
        if self.started:
            await self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.state.closing.set()
        # One turn of the loop, in which the faces close their sockets themselves, and say why.
        await asyncio.sleep(0)
        await super().shutdown(sockets)


def serve_until_stopped(given: Mapping[str, Any]) -> None:
    config = load(given)
    enter_project(config)
    set_up_logs(config.log_level, config.log_format)
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    listening = listen(config)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(TOOL_THREADS, "interlock-tools"))
    async with application(config) as built:
        server = _Server(
            uvicorn.Config(
                built.app,
                log_config=None,
                access_log=False,
                http=connections(_bounds(config)),
                ws_max_size=MAX_MESSAGE,
                ws_ping_interval=None,
                proxy_headers=bool(config.trusted_proxies),
                forwarded_allow_ips=list(config.trusted_proxies),
                timeout_graceful_shutdown=GRACE_SECONDS,
                server_header=False,
            ),
            built,
            lambda: _announce(config, built, listening),
        )
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # Once it has shut down, uvicorn raises the signal again: what is still open here is to be closed first.
        for heeded in (signal.SIGTERM, signal.SIGINT):
            signal.signal(heeded, _request_stop)
        await server.serve(sockets=[listening])


def _bounds(config: Config) -> ConnectionLimits:
    return ConnectionLimits(
        config.slow_seconds, config.request_seconds, config.connections_per_address, config.trusted_proxies
    )


def _request_stop(_signal: int, _frame: FrameType | None) -> None: ...


def listen(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # Named as TCP, which is how asyncio knows that it may send each frame at once: without it a frame waits for the
    # acknowledgement of the one before, 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
    except OSError as error:
        listening.close()
        raise StorageUnavailable(f"cannot listen on {config.host}:{config.port}: {error.strerror}") from error
    return listening


async def _announce(config: Config, built: Application, listening: socket.socket) -> None:
    """Where the server is, and how to sign in."""
    host = f"[{config.host}]" if ":" in config.host else config.host
    address = f"http://{host}:{listening.getsockname()[1]}"
    lines = [f"Interlock is ready at {address} - {await _how_to_sign_in(config, built)}"]
    if config.auth == "accounts":
        is_for_first = await accounts.first_admin(built.state.core) is None
        if is_for_first or sys.stdout.isatty():
            lines.append(await _link(built, address, is_for_first=is_for_first))
    # At once: whoever waits for the first has the other too.
    print("\n".join(lines), flush=True)


async def _link(built: Application, address: str, *, is_for_first: bool) -> str:
    """For whoever sits at the terminal. In a log it is found later, so with an admin there is none."""
    now = built.state.core.clock.now()
    token = built.state.link.make(now, is_for_first=is_for_first)
    await accounts.record_link(built.state.core, now + LIFETIME)
    # After the #, so that it reaches no log on its way.
    act = "Create the admin's account" if is_for_first else "Sign in once, as the admin"
    return f"{act}, within 15 minutes: {address}/login#once={token}"


async def _how_to_sign_in(config: Config, built: Application) -> str:
    if config.auth == "none":
        return "no sign-in needed: everybody on this machine is trusted"
    async with built.state.core.store.snapshot() as tx:
        count = await tx.users.count()
    if count:
        return "sign in there with your account"
    return "no account yet: open the link below, or run `interlock users create NAME`; whoever is first is the admin"
