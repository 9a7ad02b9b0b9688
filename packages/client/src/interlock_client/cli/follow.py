"""`interlock follow`: what happens on a conversation, as it happens."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlock_client.cli._server import Key, Url, User, load_config, run

if TYPE_CHECKING:
    from interlock_client.client import Interlock
    from interlock_client.events import ChatEvent, InboxEvent, RequestEvent


def follow(
    thread: Annotated[
        str | None, typer.Argument(help="Thread (conversation) id. [default: requests of all threads]")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Print pending requests, then new events, until interrupted. Reconnects automatically.

    Without THREAD: requests of all conversations that you can see, and how they are settled.
    """

    async def work(client: "Interlock") -> None:
        from interlock_client.cli.terminal.event_printer import EventPrinter

        teller = EventPrinter(as_json=json)
        both = (client.follow_thread(thread), client.follow(thread)) if thread else (client.follow_inbox(),)
        async for event in _merge(*both):
            teller.print_event(event)
        teller.finish()

    run(load_config(url, key, user), work)


async def _merge(*streams: "AsyncGenerator[Any]") -> "AsyncGenerator[ChatEvent | RequestEvent | InboxEvent]":
    """What any of them tells, until all have ended; the first that fails ends it."""
    import asyncio

    queue: asyncio.Queue[Any] = asyncio.Queue()
    done = object()

    async def drain(stream: "AsyncGenerator[Any]") -> None:
        try:
            async for event in stream:
                await queue.put(event)
        finally:
            await stream.aclose()
            await queue.put(done)

    tasks = [asyncio.create_task(drain(stream)) for stream in streams]
    try:
        open_streams = len(tasks)
        while open_streams:
            event = await queue.get()
            if event is not done:
                yield event
                continue
            open_streams -= 1
            for task in tasks:
                if task.done():
                    task.result()
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
