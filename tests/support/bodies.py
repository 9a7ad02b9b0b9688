"""What a person is shown of a request, as JSON."""

from interlock.domain.json_value import JsonObject
from interlock.domain.request import Request


def shown(request: Request) -> JsonObject:
    return request.body.to_json()
