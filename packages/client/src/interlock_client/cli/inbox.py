"""`interlock inbox`: everything that waits, live, and answered with keys."""

import typer

from interlock_client.cli._server import PATIENCE, Key, Url, User, arguments, load_config, refusals, system_language


def inbox(url: Url = None, key: Key = None, user: User = None) -> None:
    """Show pending requests live, and answer them."""
    import asyncio
    import sys

    from interlock_client.errors import InvalidInput

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput(
            "the inbox needs a terminal; `interlock pending` lists what waits, and `interlock answer` answers it"
        )

    from interlock_client.cli.terminal.app import InboxApp
    from interlock_client.client import Interlock

    config = load_config(url, key, user)

    async def run() -> int:
        async with (
            Interlock(**arguments(config), patience=0.0) as reader,
            Interlock(**arguments(config), patience=PATIENCE) as sender,
        ):
            app = InboxApp(reader, sender, editor=config.editor, locale=system_language())
            await app.run_async()
        return app.return_code or 0

    with refusals():
        code = asyncio.run(run())
    raise typer.Exit(code)
