"""A real MCP server of somebody else, for what stands before it: `python -m tests.support.upstream stdio|http`.

What its tools do is counted by the witness. Over HTTP it prints its port. `UPSTREAM_DEFINITION` names a file whose text
is the description of `write_note`, so that a test can change it. `UPSTREAM_ERA=old` makes it one of the older era. A
process that is started says so under the name `UPSTREAM_STARTED`.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import uvicorn
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.support.witness import say

Context = ServerRequestContext[Any, Any]
NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1}},
    "required": ["text"],
}
FILED = {
    "type": "object",
    "properties": {**NOTE["properties"], "folder": {"type": "string", "x-mcp-header": "Folder"}},
    "required": ["text"],
}
ANSWER: Any = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def _tool(name: str, description: str, hints: Mapping[str, bool] | None = None) -> Tool:
    annotations = ToolAnnotations.model_validate(hints) if hints else None
    return Tool(name=name, description=description, input_schema=NOTE, annotations=annotations)


def _tools() -> list[Tool]:
    changing = os.environ.get("UPSTREAM_DEFINITION")
    described = Path(changing).read_text() if changing else "Writes a note."
    return [
        _tool("read_note", "Reads a note.", {"readOnlyHint": True}),
        _tool("write_note", described),
        _tool("set_note", "Sets a note.", {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False}),
        Tool(name="file_note", description="Files a note, in the folder that a header names.", input_schema=FILED),
        _tool("hang", "Does it, and does not answer before it is released."),
        _tool("die", "Does it, and dies."),
        _tool("die_once", "Does it, and dies the first time.", {"idempotentHint": True}),
        _tool("greet", "Asks the host for a name.", {"readOnlyHint": True}),
        _tool("broken", "Reports that it failed."),
        _tool("read_much", "Reads very much.", {"readOnlyHint": True}),
        _tool("read_changes", "Tells that its tools have changed."),
    ]


def _text(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


async def _list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=_tools())


async def _call(context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    text = str((params.arguments or {}).get("text"))
    if params.name == "greet":
        return await _greet(context, params)
    await asyncio.to_thread(say, f"did {params.name} {text}")
    match params.name:
        case "read_note":
            await context.session.report_progress(1, total=2, message="half read")
        case "read_changes":
            await context.session.send_tool_list_changed()
        case "file_note":
            assert context.request is not None
            folder = context.request.headers.get("mcp-param-folder")
            await asyncio.to_thread(say, f"did file_note {text} in {folder}")
        case "hang":
            await asyncio.to_thread(say, f"block {text}")
        case "broken":
            return _text("it failed", is_error=True)
        case "die":
            os._exit(3)
        case "die_once":
            if await asyncio.to_thread(say, f"count {params.name} {text}") == "1":
                os._exit(3)
        case _:
            pass
    return _text("x" * 3_000_000 if params.name == "read_much" else f"{params.name}: {text}")


async def _greet(context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    """By what each era has for it."""
    asked = ElicitRequestFormParams(message="Who are you?", requested_schema=ANSWER)
    if context.protocol_version < "2026":
        answer = await context.session.elicit_form(asked.message, ANSWER, context.request_id)
    elif params.request_state != "greeting":
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=asked)}, request_state="greeting")
    else:
        given = (params.input_responses or {})["who"]
        assert isinstance(given, ElicitResult)
        answer = given
    await asyncio.to_thread(say, f"did greet {(params.arguments or {}).get('text')}")
    return _text(f"hello {(answer.content or {}).get('name')}")


async def _resources(_context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[Resource(uri="note://one", name="one")])


async def _read(_context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text="the first note")])


async def _prompts(_context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=[Prompt(name="summary")])


async def _prompt(_context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    message = PromptMessage(role="user", content=TextContent(text=f"Write a {params.name}."))
    return GetPromptResult(messages=[message])


async def _complete(_context: Context, params: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=[f"{params.argument.value}-completed"]))


async def _with_unknown_members(ctx: Context, call_next: CallNext) -> HandlerResult:
    """As a later version of the protocol might have them, which no model knows."""
    if ctx.method == "server/discover" and os.environ.get("UPSTREAM_ERA") == "old":
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    result = await call_next(ctx)
    if ctx.method == "tools/list" and isinstance(result, dict):
        for tool in result["tools"]:
            tool["laterMember"] = {"kept": True}
    return result


def server() -> Server[Any]:
    built: Server[Any] = Server(
        "notes",
        version="1.0",
        instructions="Keep notes.",
        on_list_tools=_list_tools,
        on_call_tool=_call,
        on_list_resources=_resources,
        on_read_resource=_read,
        on_list_prompts=_prompts,
        on_get_prompt=_prompt,
        on_completion=_complete,
    )
    built.middleware.append(_with_unknown_members)
    return built


async def _stdio() -> None:
    if name := os.environ.get("UPSTREAM_STARTED"):
        say(f"did {name}")
    built = server()
    options = built.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        await built.run(read, write, options)


async def _refuse(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _http() -> None:
    manager = StreamableHTTPSessionManager(server())

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        wanted = os.environ.get("UPSTREAM_TOKEN")
        given = dict(scope["headers"]).get(b"authorization", b"").decode()
        if wanted and given != wanted:
            await _refuse(send, 401)
            return
        if scope["method"] == "POST" and dict(scope["headers"]).get(b"content-type") != b"application/json":
            # Many servers decode a body by the character set that stands there.
            await _refuse(send, 415)
            return
        await manager.handle_request(scope, receive, send)

    app = Starlette(routes=[Mount("/", handle)], lifespan=lambda _app: manager.run())
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])


class HttpUpstreamProcess:
    """It listens on a port of its own until it is closed or killed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.upstream", "http"],
            stdout=subprocess.PIPE, text=True, env={**os.environ, **environment},
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/mcp"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()


if __name__ == "__main__":
    asyncio.run(_stdio() if sys.argv[1:] == ["stdio"] else _http())
