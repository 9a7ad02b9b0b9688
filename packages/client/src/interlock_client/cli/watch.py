"""`interlock watch`: what a coding agent asks in a terminal of its own is asked in the inbox too."""

from enum import StrEnum
from typing import Annotated

import typer

from interlock_client.cli._server import refusals


class WatchedAgent(StrEnum):
    OPENCODE = "opencode"


def watch(
    agent: Annotated[WatchedAgent, typer.Argument(help="The coding agent.")],
    url: Annotated[
        str, typer.Option(help="Address of `opencode serve`; OPENCODE_SERVER_PASSWORD is its password.")
    ] = "http://127.0.0.1:4096",
    directory: Annotated[
        list[str] | None,
        typer.Option(help="A folder that may have open dialogs. [default: where OpenCode was started]"),
    ] = None,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that a person has to answer.")] = 43_200,
) -> None:
    """Show OpenCode's permission requests and questions in the inbox too, until interrupted. The first answer wins.

    The server and the key are INTERLOCK_URL and INTERLOCK_KEY, or those of `interlock hook install`.
    """
    import asyncio

    from interlock_client.bridge.dialogs import inbox_of
    from interlock_client.bridge.opencode import USERNAME, OpenCode
    from interlock_client.bridge.opencode import watch as follow
    from interlock_client.cli.config import opencode_login

    async def work() -> None:
        password, username = opencode_login()
        opencode = OpenCode(url, password, username or USERNAME)
        await follow(opencode, inbox_of(timeout), directory or ())

    with refusals():
        asyncio.run(work())
