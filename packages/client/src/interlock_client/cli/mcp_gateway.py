"""`interlock mcp-gateway`: a person is asked before the tools of an MCP server are called."""

from pathlib import PurePath
from typing import Annotated

import typer

from interlock_client.cli._server import Key, Url, load_config

_LAUNCHERS = frozenset({"npx", "uvx", "uv", "run", "node", "python", "python3", "docker", "bunx"})
_Patterns = list[str] | None


def mcp_gateway(
    command: Annotated[list[str], typer.Argument(help="The server to start, after --: -- npx some-server")],
    name: Annotated[str | None, typer.Option(help="How people know the server. [default: from the command]")] = None,
    passed: Annotated[
        _Patterns, typer.Option("--pass", help="Tools to call without asking: read_*; repeatable.")
    ] = None,
    ask: Annotated[_Patterns, typer.Option(help="Tools to ask about, before --pass counts; repeatable.")] = None,
    deny: Annotated[_Patterns, typer.Option(help="Tools never to call; repeatable.")] = None,
    trust: Annotated[
        bool, typer.Option(help="Believe the server's hints: what it calls read-only passes, idempotent is repeated.")
    ] = False,
    idempotent: Annotated[
        _Patterns, typer.Option(help="Tools to call again when an answer was lost; repeatable.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="A name under which its asks are shown together.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that the server may be silent about a call.")] = 60,
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
