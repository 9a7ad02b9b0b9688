"""An MCP server on standard input for `interlock mcp-gateway`, which lists its tools as it was told.

It counts each list under the name that is its first argument. The second is JSON: what it says to one list of its tools
after another, the last to all others. Names with their descriptions, and under `lasting` the milliseconds for which
they are said to hold; `silent`, and it says nothing; `gone`, and it ends; `endless`, and there is always another page;
a list, and that is what it lists.
"""

import json
import sys
from itertools import chain, repeat
from typing import Any

from tests.support.witness import say

ODD_RESULTS: dict[str, Any] = {
    "read_nan": float("nan"),
    "read_half": "\ud800",
    "read_deep": json.loads("[" * 80 + "]" * 80),
    "read_large": "x" * 1_200_000,
}
"""By the tools that give them: no number, half a character, and more levels and bytes than the server takes."""
LASTING = "lasting"


def _page(said: Any) -> dict[str, Any]:
    if said == "endless":
        return {"tools": [], "nextCursor": "more"}
    if isinstance(said, list):
        return {"tools": said}
    schema, named = {"type": "object"}, {name: about for name, about in said.items() if name != LASTING}
    tools = [{"name": name, "description": about, "inputSchema": schema} for name, about in named.items()]
    return {"tools": tools, **({"ttlMs": said[LASTING]} if LASTING in said else {})}


def main() -> None:
    *first, last = json.loads(sys.argv[2])
    lists = chain(first, repeat(last))
    begun: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    }
    result: dict[str, Any] | None
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "tools/list":
            say(f"did {sys.argv[1]}")
            if (said := next(lists)) == "gone":
                return
            result = None if said == "silent" else _page(said)
        elif method == "tools/call":
            say(f"did {message['params']['name']} {message['params']['arguments']['text']}")
            given = ODD_RESULTS.get(message["params"]["name"], "done")
            result = {"content": [{"type": "text", "text": "done"}], "structuredContent": {"given": given}}
        else:
            result = begun if method == "initialize" else None
        if result is not None and "id" in message:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
