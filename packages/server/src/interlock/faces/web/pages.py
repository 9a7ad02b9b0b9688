"""The web app's files, as they were built: read once, and served from memory.

The policy on them lets a page run this server's own scripts and styles, talk to this server, and nothing else.
"""

import gzip
import hashlib
import mimetypes
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from interlock.faces.http.guard import INTERFACE

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
    "/figures",
    "/settings",
    "/settings/{section}",
    "/login",
    "/login/return",
    "/answer",
)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        # The one that names the service worker of notifications, and nothing else.
        "trusted-types interlock-worker",
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
    def gzip_content(self) -> bytes:
        """Not before somebody wants it: most starts of a server are for nobody's browser."""
        return gzip.compress(self.content, mtime=0)

    def response(self, request: Request, status: int = 200) -> Response:
        headers = HEADERS | {"cache-control": self.caching, "etag": self.tag, "vary": "accept-encoding"}
        if status == 200 and self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(self.gzip_content, status, media_type=self.media_type, headers=headers)
        return Response(self.content, status, media_type=self.media_type, headers=headers)


class Pages(APIRouter):
    """Routes for every file of a build, and its one page at each address that the page knows."""

    def __init__(self, folder: Path = BUILT) -> None:
        super().__init__(include_in_schema=False)
        paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        files = {name: _File(path, name) for name, path in paths.items()}
        self._index = files.get(INDEX)
        if self._index is None:
            self.add_api_route("/", _not_built, methods=["GET", "HEAD"])
            return
        self.add_api_route("/give/{request_id}", _give, methods=["GET", "HEAD"])
        for name, file in files.items():
            self._serve(ADDRESSES if name == INDEX else (f"/{name}",), file)

    def not_found_page(self, request: Request) -> Response | None:
        """For a person who came to an address that there is not: the page itself, which says so. None for programs."""
        is_visit = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
        if self._index is None or not is_visit or request.url.path.startswith(INTERFACE):
            return None
        return self._index.response(request, 404)

    def _serve(self, addresses: tuple[str, ...], file: _File) -> None:
        async def serve(request: Request) -> Response:
            return file.response(request)

        for address in addresses:
            self.add_api_route(address, serve, methods=["GET", "HEAD"])


async def _give(request_id: str) -> Response:
    """Where agents send a person who is to give a secret: the page of the request, for who is signed in and may."""
    return RedirectResponse(f"/requests/{quote(request_id, safe='')}", 303, HEADERS | {"cache-control": EACH_TIME})


async def _not_built() -> PlainTextResponse:
    return PlainTextResponse(NOT_BUILT)
