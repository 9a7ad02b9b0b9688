"""The command `interlock-hook`: the hook that an agent starts, and what puts it into the agent's settings."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock_client.hook.call import AGENTS

if TYPE_CHECKING:
    from interlock_client.hook.call import Host

MANAGING = ("install", "uninstall", "status")
USAGE = f"""usage: interlock-hook AGENT [--timeout SECONDS] [--on-timeout deny|terminal] [--defer] [--settled]
       interlock-hook install|uninstall|status AGENT [--help]

Started by a coding agent, it asks a person about the call on standard input, and waits for the answer.
AGENT is one of {", ".join(AGENTS)}."""


def run() -> None:
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """The exit code: never 1, with which agents go ahead."""
    try:
        return _main(list(arguments))
    except SystemExit as end:
        # Of the parser: it has said what is wrong, or has given help.
        return 0 if end.code in (0, None) else 2
    except BaseException as error:
        from interlock_client.visible import one_line

        print(f"Not run: the hook failed ({type(error).__name__}: {one_line(str(error))}).", file=sys.stderr)
        return 2


def _main(arguments: list[str]) -> int:
    if arguments and arguments[0] in MANAGING:
        from interlock_client.hook.installing import manage

        return manage(arguments)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments else 2
    from interlock_client.hook import gate

    options = gate.options_of(arguments)
    host = _host(options.agent)
    if not options.settled:
        return gate.gate(host, options)
    if options.agent != "claude-code":
        raise ValueError(f"--settled is not for {options.agent}, whose terminal asks nobody beside the hook")
    from interlock_client.hook import claude_code

    return gate.settle(claude_code)


def _host(agent: str) -> "Host":
    match agent:
        case "codex":
            from interlock_client.hook import codex as host
        case "gemini":
            from interlock_client.hook import gemini as host
        case "cursor":
            from interlock_client.hook import cursor as host
        case _:
            from interlock_client.hook import claude_code as host
    return host
