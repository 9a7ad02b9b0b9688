"""`interlock mcp`: the bridge for hosts that start a program."""

import typer


def mcp(context: typer.Context) -> None:
    """Let an MCP host ask a person: the server's /mcp over standard input and output."""
    from interlock_client.mcp_bridge import main

    raise typer.Exit(main(context.args))
