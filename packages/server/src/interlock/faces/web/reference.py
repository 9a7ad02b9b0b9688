"""`/docs`: the interface, as /openapi.json describes it, on one page without scripts and without other hosts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from starlette.routing import Route

from interlock.faces.web.pages import HEADERS

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary code { font-weight: 600; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
details { margin: .25rem 0; }
details details { margin-left: 1.25rem; }
"""

Part = Mapping[str, Any]


def add_reference(app: FastAPI, beside: Mapping[str, Sequence[Route]]) -> None:
    """`beside` are the routes, by what they speak, that /openapi.json cannot describe."""

    async def page() -> Response:
        return HTMLResponse(_page(app.openapi(), beside), headers=HEADERS)

    async def style() -> Response:
        return Response(_STYLE, media_type="text/css", headers=HEADERS)

    app.add_api_route("/docs", page, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/docs/style.css", style, methods=["GET", "HEAD"], include_in_schema=False)


def _page(described: Part, beside: Mapping[str, Sequence[Route]]) -> str:
    title = escape(f"{described['info']['title']} {described['info']['version']}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs/style.css">'
        f"<h1>{title}</h1><p>The whole of it for programs: "
        '<a href="/openapi.json">/openapi.json</a>. WebSockets: <code>/ws</code>, <code>/api/v1/agent/ws</code>.</p>'
        f"{''.join(_operations(described['paths']))}{''.join(_list_others(beside))}<h2>Types</h2>"
        f"{''.join(_types(described.get('components', {}).get('schemas', {})))}</html>"
    )


def _operations(paths: Mapping[str, Part]) -> Iterator[str]:
    tagged: dict[str, list[str]] = {}
    for path, methods in paths.items():
        for method, operation in methods.items():
            tagged.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(path, method, operation))
    for tag, operations in tagged.items():
        yield f"<h2>{escape(tag)}</h2>{''.join(operations)}"


def _list_others(beside: Mapping[str, Sequence[Route]]) -> Iterator[str]:
    for spoken, routes in beside.items():
        lines = [f"{method} {route.path}" for route in routes for method in sorted((route.methods or set()) - {"HEAD"})]
        yield f"<h2>{escape(spoken)}</h2><ul>{''.join(f'<li><code>{escape(line)}</code></li>' for line in lines)}</ul>"


def _operation(path: str, method: str, operation: Part) -> str:
    about = escape(operation.get("description", ""))
    parts = {"Parameters": operation.get("parameters"), "Body": operation.get("requestBody")}
    inside = "".join(_to_details(escape(name), part) for name, part in parts.items() if part)
    replies = "".join(
        _to_details(f"{escape(code)} {escape(reply.get('description', ''))}", reply.get("content"))
        for code, reply in operation.get("responses", {}).items()
    )
    summary = f"<code>{method.upper()} {escape(path)}</code> {escape(operation.get('summary', ''))}"
    return f"<details><summary>{summary}</summary><p>{about}</p>{inside}{replies}</details>"


def _types(schemas: Mapping[str, Part]) -> Iterator[str]:
    for name, schema in sorted(schemas.items()):
        yield _to_details(f"<code>{escape(name)}</code>", schema)


def _to_details(summary: str, content: Any) -> str:
    """`summary` is HTML."""
    text = escape(json.dumps(content, ensure_ascii=False, indent=2)) if content else "nothing"
    return f"<details><summary>{summary}</summary><pre>{text}</pre></details>"
