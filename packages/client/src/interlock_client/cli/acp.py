"""`interlock acp`: what an agent asks its editor is asked in the inbox too."""

from typing import Annotated

import typer

from interlock_client.cli._server import refusals


def acp(
    command: Annotated[list[str], typer.Argument(help="How to start the agent, after `--`.", metavar="-- COMMAND...")],
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that a person has to answer.")] = 43_200,
) -> None:
    """Start an agent for an editor (Agent Client Protocol), and ask in the inbox too what it asks there.

    The first answer wins. The server and the key are INTERLOCK_URL and INTERLOCK_KEY, or those of
    `interlock hook install`.
    """
    import asyncio

    from interlock_client.bridge.dialogs import inbox_of
    from interlock_client.bridge.proxy import serve

    async def work() -> int:
        return await serve(command, inbox_of(timeout))

    with refusals():
        raise typer.Exit(asyncio.run(work()))
