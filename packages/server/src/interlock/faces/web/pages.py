"""The web app's files, as they were built: read once, and served from memory.

The policy on them lets a page run this server's own scripts and styles, talk to this server, and nothing else.
"""

import gzip
import hashlib
import mimetypes
from functools import cached_property
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

BUILT = Path(__file__).parent / "static"
INDEX = "index.html"
ASSETS = "assets/"
ADDRESSES = (
    "/",
    "/inbox",
    "/requests/{request_id}",
    "/chat",
    "/chat/{thread_id}",
    "/history",
    "/settings",
    "/settings/{section}",
    "/login",
)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
# What is named by its content never changes; the page that names it is asked for each time.
FOREVER, EACH_TIME = "public, max-age=31536000, immutable", "no-cache"

NOT_BUILT = """Interlock: the human-in-the-loop server for AI agents.

The web pages are not built here; `make serve` builds them. The interface is there all the same:
POST /api/auth/register and /api/auth/login with {"username", "password"} give you an account and a token;
POST /api/chat with {"message"} and "Authorization: Bearer TOKEN" talks to the agent.
The whole interface is described at /openapi.json.
"""


class _File:
    def __init__(self, path: Path, name: str) -> None:
        self.content = path.read_bytes()
        self.media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'
        self.caching = FOREVER if name.startswith(ASSETS) else EACH_TIME

    @cached_property
    def packed(self) -> bytes:
        """Not before somebody wants it: most starts of a server are for nobody's browser."""
        return gzip.compress(self.content, mtime=0)

    def response(self, request: Request) -> Response:
        headers = HEADERS | {"cache-control": self.caching, "etag": self.tag, "vary": "accept-encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, media_type=self.media_type, headers=headers | {"content-encoding": "gzip"})
        return Response(self.content, media_type=self.media_type, headers=headers)


def pages(folder: Path = BUILT) -> APIRouter:
    """Routes for every file of the build, and its one page at each address that the page knows."""
    router = APIRouter(include_in_schema=False)
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    if INDEX not in files:
        router.add_api_route("/", _not_built, methods=["GET", "HEAD"])
        return router
    for name, path in files.items():
        addresses = ADDRESSES if name == INDEX else (f"/{name}",)
        _serve(router, addresses, _File(path, name))
    return router


def _serve(router: APIRouter, addresses: tuple[str, ...], file: _File) -> None:
    async def serve(request: Request) -> Response:
        return file.response(request)

    for address in addresses:
        router.add_api_route(address, serve, methods=["GET", "HEAD"])


async def _not_built() -> PlainTextResponse:
    return PlainTextResponse(NOT_BUILT)
