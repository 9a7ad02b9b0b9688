"""A request to an application that has no port."""

from typing import Any

from fastapi import FastAPI, Request


def request_to(app: FastAPI) -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [],
        "app": app,
    }
    return Request(scope)
