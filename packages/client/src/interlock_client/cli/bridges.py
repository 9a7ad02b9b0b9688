"""Commands that agents, editors and MCP hosts start, so that a person is asked: hook, mcp, acp and mcp-gateway.

Each imports what it runs when it is called: no other command waits for that.
"""

from pathlib import PurePath
from typing import Annotated

import typer

from interlock_client.cli._server import Key, Url, load_config, refusals


def hook(context: typer.Context) -> None:
    """Install, uninstall or check the hook with which a coding agent asks a person. Add the name of the agent."""
    from interlock_client.hook.entry import main

    raise typer.Exit(main(context.args))


def mcp(context: typer.Context) -> None:
    """Let an MCP host ask a person: the server's /mcp over standard input and output."""
    from interlock_client.mcp_bridge import main

    raise typer.Exit(main(context.args))


def acp(
    command: Annotated[list[str], typer.Argument(help="How to start the agent, after `--`.", metavar="-- COMMAND...")],
    timeout: Annotated[int, typer.Option(min=1, help="Seconds that a person has to answer.")] = 43_200,
) -> None:
    """Start an agent for an editor (Agent Client Protocol), and show its permission requests in the inbox too.

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


_LAUNCHERS = frozenset({"npx", "uvx", "uv", "run", "node", "python", "python3", "docker", "bunx"})
_Patterns = list[str] | None


def mcp_gateway(
    command: Annotated[list[str], typer.Argument(help="The server to start, after --: -- npx some-server")],
    name: Annotated[
        str | None, typer.Option(help="The server's name that people see. [default: from the command]")
    ] = None,
    passed: Annotated[
        _Patterns, typer.Option("--pass", help="Tools to call without asking: read_*; repeatable.")
    ] = None,
    ask: Annotated[
        _Patterns, typer.Option(help="Tools that need approval, even if --pass matches; repeatable.")
    ] = None,
    deny: Annotated[_Patterns, typer.Option(help="Tools never to call; repeatable.")] = None,
    trust: Annotated[
        bool,
        typer.Option(help="Trust the server's hints: call read-only tools without asking, repeat idempotent ones."),
    ] = False,
    idempotent: Annotated[_Patterns, typer.Option(help="Tools to call again if a result was lost; repeatable.")] = None,
    conversation: Annotated[
        str | None, typer.Option(help="Name of the conversation in which its requests are shown.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that the server may send nothing for a call.")] = 60,
    url: Url = None,
    key: Key = None,
) -> None:
    """Start an MCP server for a host, and ask a person before its tools are called. Put it before the command."""
    import asyncio

    from interlock_client.gateway.process import run
    from interlock_client.gateway.relay import Settings

    config = load_config(url, key, None)
    patterns = (("deny", deny), ("ask", ask), ("pass", passed))
    tools = {pattern: rule for rule, listed in patterns for pattern in listed or ()}
    tools |= {} if "*" in tools else {"*": "by_hint" if trust else "ask"}
    rules = {"tools": tools, "trust": trust, "idempotent": idempotent or []}
    settings = Settings(name or _name_of(command), command, rules, conversation, timeout)
    raise typer.Exit(asyncio.run(run(settings, config.url, config.key)))


def _name_of(command: list[str]) -> str:
    words = [PurePath(word).name for word in command if not word.startswith("-")]
    return next((word for word in words if word not in _LAUNCHERS), command[0])[:100]
