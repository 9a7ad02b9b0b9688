"""Replies that are packed on their way: what people and programs read in bulk.

Only replies to a GET. How long a packed reply is tells an onlooker whether two parts of it are alike: next to a text
that somebody else chose, a secret could be guessed piece by piece. Tokens, keys, tickets and the values that people
gave in confidence are replies to a POST, and go out as they are. So do streams.
"""

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from interlock.faces.http.guard import INTERFACE

SMALLEST = 1024
LEVEL = 6


class Compression:
    def __init__(self, app: ASGIApp) -> None:
        self._plain = app
        self._packed = GZipMiddleware(app, minimum_size=SMALLEST, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._packed if _may_be_packed(scope) else self._plain)(scope, receive, send)


def _may_be_packed(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(INTERFACE)
