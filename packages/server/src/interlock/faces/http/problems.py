"""Errors on the wire. Most routes say `{detail: text, ...}`; the routes under a prefix may have a dialect of their own.

Each dialect is one table from the core's codes to HTTP. Whatever refuses a request, the guard at the door included,
speaks the dialect of the path that was asked for.
"""

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from interlock.domain.errors import (
    AlreadySettled,
    Claimed,
    Conflict,
    Forbidden,
    InterlockError,
    InvalidInput,
    KeyReused,
    LeaseLost,
    NotAuthenticated,
    NotEligible,
    NotFound,
    NoWorker,
    RateLimited,
    SignOnFailed,
    StorageUnavailable,
)
from interlock.domain.moment import to_iso
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.limits import whole_seconds
from interlock.faces.http.locale import preferred_locale
from interlock.texts import Locale, limits_text

logger = logging.getLogger(__name__)

STATUS: Mapping[type[InterlockError], int] = {
    InvalidInput: 400,
    NotAuthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    KeyReused: 422,
    Conflict: 409,
    RateLimited: 429,
    LeaseLost: 500,
    StorageUnavailable: 503,
}


def status_of(error: InterlockError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def error_headers(error: InterlockError) -> dict[str, str]:
    if isinstance(error, NotAuthenticated):
        return {"www-authenticate": "Bearer"}
    if isinstance(error, StorageUnavailable):
        return {"retry-after": "1"}
    if isinstance(error, RateLimited):
        return {"retry-after": whole_seconds(error.retry_after)}
    return {}


class ErrorFormat(Protocol):
    """How errors are spoken of under one prefix."""

    def refuse(self, error: InterlockError, request: Request) -> Response:
        """What the core refused."""
        ...

    def refuse_malformed(self, error: RequestValidationError, request: Request) -> Response:
        """A body or a parameter that is not of the form; never with the input itself, which may hold a password."""
        ...

    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        """What no route was asked about: unknown paths and methods, bodies out of bounds, and failures."""
        ...


class DefaultErrorFormat:
    """`{detail: text, ...}`."""

    def refuse(self, error: InterlockError, request: Request) -> Response:
        if isinstance(error, NotAuthenticated):
            return problem(401, "Could not validate credentials", error_headers(error))
        more: dict[str, Any] = {} if _is_database(error) else {"code": error.code, **details_of(error)}
        return problem(status_of(error), public_message(error, said_in(request)), error_headers(error), **more)

    def refuse_malformed(self, error: RequestValidationError, request: Request) -> Response:
        return problem(422, [{"loc": one["loc"], "msg": one["msg"], "type": one["type"]} for one in error.errors()])

    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        return problem(status, detail, headers)


def _is_database(error: InterlockError) -> bool:
    return isinstance(error, StorageUnavailable) and not isinstance(error, NoWorker)


def said_in(connection: HTTPConnection) -> Locale:
    """Who asks for no language is a program, and its author reads English, whatever the operator set for people."""
    return preferred_locale(connection.headers.get("accept-language"), "en")


def public_message(error: InterlockError, locale: Locale = "en") -> str:
    # Why a database fails is for the log.
    if _is_database(error):
        return limits_text("database", locale)
    return error.texts.get(locale, error.message) if isinstance(error, RateLimited) else error.message


def details_of(error: InterlockError) -> dict[str, Any]:
    """The wrong fields, why nobody was signed in, or how the request ended that somebody else settled first."""
    if isinstance(error, AlreadySettled):
        return error.end.to_json()
    if isinstance(error, SignOnFailed):
        return {"reason": error.reason}
    if isinstance(error, NotEligible):
        return {"needs": error.needs.to_json()}
    if isinstance(error, Claimed):
        return {"claimed_by": error.by, "claimed_until": to_iso(error.until)}
    return {"errors": listed_errors(error)} if isinstance(error, InvalidInput) and error.errors else {}


def listed_errors(error: InvalidInput) -> list[dict[str, str]]:
    return [{"field": one.field, "code": one.code, "message": one.message} for one in error.errors]


def problem(code: int, detail: Any, headers: Mapping[str, str] | None = None, /, **more: Any) -> JSONResponse:
    return LenientJSONResponse({"detail": detail, **more}, code, headers=dict(headers or {}))


class Problems:
    def __init__(self, dialects: Mapping[str, ErrorFormat]) -> None:
        self._dialects = dialects
        self._plain = DefaultErrorFormat()

    def of(self, path: str) -> ErrorFormat:
        formats = (one for prefix, one in self._dialects.items() if path == prefix or path.startswith(f"{prefix}/"))
        return next(formats, self._plain)

    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        return self.of(connection.scope["path"]).turn_away(connection, status, detail, headers)

    def install(self, app: FastAPI) -> None:
        async def core_error(request: Request, error: Exception) -> Response:
            assert isinstance(error, InterlockError)
            if isinstance(error, StorageUnavailable):
                logger.warning("%s %s was refused: %s", request.method, request.url.path, error.message)
            return self.of(request.url.path).refuse(error, request)

        async def refuse_malformed(request: Request, error: Exception) -> Response:
            assert isinstance(error, RequestValidationError)
            return self.of(request.url.path).refuse_malformed(error, request)

        async def http_error(request: Request, error: Exception) -> Response:
            assert isinstance(error, HTTPException)
            return self.turn_away(request, error.status_code, error.detail, error.headers or {})

        app.add_exception_handler(InterlockError, core_error)
        app.add_exception_handler(RequestValidationError, refuse_malformed)
        app.add_exception_handler(HTTPException, http_error)
