"""Errors as `{detail: text, ...}`: the one table from the core's codes to HTTP, for the faces that speak so."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from interlock.domain.errors import (
    Conflict,
    Forbidden,
    InterlockError,
    InvalidInput,
    LeaseLost,
    NotAuthenticated,
    NotFound,
    StorageUnavailable,
)

STATUS: Mapping[type[InterlockError], int] = {
    InvalidInput: 400,
    NotAuthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    LeaseLost: 500,
    StorageUnavailable: 503,
}


def status_of(error: InterlockError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def install(app: FastAPI) -> None:
    app.add_exception_handler(InterlockError, _core_error)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http_error)


def problem(code: int, detail: Any, headers: Mapping[str, str] | None = None, /, **more: Any) -> JSONResponse:
    return JSONResponse({"detail": detail, **more}, code, headers=dict(headers or {}))


async def _core_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, InterlockError)
    if isinstance(error, NotAuthenticated):
        return problem(401, "Could not validate credentials", {"www-authenticate": "Bearer"})
    if isinstance(error, StorageUnavailable):
        return problem(503, "the database cannot be used right now; nothing was changed", {"retry-after": "1"})
    return problem(status_of(error), error.message, **_context(error))


def _context(error: InterlockError) -> dict[str, Any]:
    more: dict[str, Any] = {"code": error.code}
    if isinstance(error, InvalidInput) and error.errors:
        more["errors"] = [{"field": one.field, "code": one.code, "message": one.message} for one in error.errors]
    return more


async def _malformed(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # Not the input itself: it may hold a password.
    return problem(422, [{"loc": one["loc"], "msg": one["msg"], "type": one["type"]} for one in error.errors()])


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, error.detail, error.headers)
