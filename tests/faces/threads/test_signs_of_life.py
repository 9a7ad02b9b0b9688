"""A silent stream says that it lives."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from interlock.bootstrap import Application, application
from interlock.config import Config
from interlock.faces.http import watching
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.sse import KEEP_ALIVE
from interlock.faces.threads.frames import Frames
from interlock.faces.threads.streaming import Stream
from interlock.services.access import accounts
from interlock.services.operations import pulse
from interlock.services.threads import following, messages, threads
from tests.support.asgi import request_to


@pytest.fixture
async def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Application]:
    """The application without a port, whose followers look up often."""
    for module in (following, watching):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.02)
    async with application(Config(data=tmp_path, auth="none")) as running:
        yield running


async def followed(built: Application) -> AsyncGenerator[bytes]:
    request = request_to(built.app)
    principal = await authenticate(request)
    thread = await threads.create_thread(built.state.core, principal)
    stream = Stream(request, principal, thread.id, Frames(thread.id, "zh", joined_late=True))
    return stream.thread(thread.seq)


async def test_a_comment_is_sent_before_the_silence_gets_too_long(
    built: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "KEEP_ALIVE_SECONDS", 0.1)
    stream = await followed(built)
    begun = asyncio.get_running_loop().time()
    async with asyncio.timeout(60):
        assert await anext(stream) == KEEP_ALIVE
        assert await anext(stream) == KEEP_ALIVE
    assert asyncio.get_running_loop().time() - begun >= 0.1
    await stream.aclose()


async def test_a_stream_that_is_not_silent_needs_no_comment(built: Application) -> None:
    stream = await followed(built)
    core = built.state.core
    principal = await accounts.local_principal(core, "local")
    thread_id = (await threads.list_threads(core, principal, 0, 1))[0][0].id
    reading = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await messages.send_message(core, principal, thread_id, "hello")
    await threads.delete_thread(core, principal, thread_id)
    async with asyncio.timeout(60):
        assert b"event: error" in await reading
        assert b"event: end" in await anext(stream)
    await stream.aclose()


def test_the_silence_is_never_longer_than_promised() -> None:
    assert watching.KEEP_ALIVE_SECONDS == 15
    assert following.IDLE_SECONDS * 2 <= watching.KEEP_ALIVE_SECONDS
    # An idle stream is woken by the pulse that sees the change, a busy one looks by itself.
    assert pulse.BEAT_SECONDS + watching.RECHECK_SECONDS < 5
