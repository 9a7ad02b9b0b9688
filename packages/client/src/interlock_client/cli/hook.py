"""`interlock hook`: what `interlock-hook` does, by the name of the other commands."""

import typer


def hook(context: typer.Context) -> None:
    """Let coding agents ask a person: install, uninstall or status, and the name of an agent."""
    from interlock_client.hook.entry import main

    raise typer.Exit(main(context.args))
