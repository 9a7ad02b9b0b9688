"""`interlock chat`: talk to an agent, and answer what it asks in the same place."""

from typing import Annotated

import typer

from interlock_client.cli._server import PATIENCE, Key, Url, User, arguments, load_config, refusals, system_language


def chat(
    agent: Annotated[str | None, typer.Option(help="The agent. [default: the server's default agent]")] = None,
    thread: Annotated[str | None, typer.Option(help="Continue this thread. [default: a new one]")] = None,
    url: Url = None,
    key: Key = None,
    user: User = None,
) -> None:
    """Talk to an agent and answer its requests. An empty line never approves."""
    from interlock_client.cli.terminal.conversation import Conversation
    from interlock_client.sync import SyncInterlock

    config = load_config(url, key, user)
    with refusals(), SyncInterlock(**arguments(config), patience=PATIENCE) as client:
        Conversation(client, agent, thread, editor=config.editor, locale=system_language()).run()
