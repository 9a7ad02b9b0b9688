"""Calls of Feishu's interface, with the token of the app, and what its refusals mean."""

import json
import time
from dataclasses import dataclass, field
from typing import Any, cast

from interlock.domain.json_value import JsonObject
from interlock.ports.calls import Caller, HttpReply, NoReply, NotReached
from interlock.ports.channels import AddressGone, CutOff, Refused, Unchangeable, Unreachable

EARLY_SECONDS = 300.0
"""So long before its end a token is not used any more."""
_TOKEN_ENDED = frozenset({99991661, 99991663, 99991664, 99991668, 99991671, 99991677})
_GONE = frozenset({230013, 230034, 99992351, 99992361})
"""Nobody of that id, somebody who may not use the app, or an id of another app."""
_FIXED = frozenset({230011, 230031, 230110})
"""Recalled, older than 14 days, deleted."""
_TOO_OFTEN = frozenset({230020, 99991400, 11232})
_OF_THE_APP = frozenset({10003, 10014, 10012, 10005, 230006, 230027, 99991662, 99991672, 99991543, 514, 403})
"""A wrong secret, an app that is off or not published, a permission that it lacks."""


@dataclass(slots=True)
class FeishuApi:
    caller: Caller
    api: str
    app: str
    secret: str = field(repr=False)
    _token: str = field(default="", repr=False)
    _ends_at: float = 0.0

    async def call(self, method: str, path: str, given: JsonObject) -> JsonObject:
        """The data of the answer. A token that has ended before its time is replaced once."""
        for is_last in (False, True):
            reply = await self._send(method, path, given, {"authorization": f"Bearer {await self._present_token()}"})
            answer = object_of(reply.body)
            if answer.get("code") in _TOKEN_ENDED and not is_last:
                self._token = ""
                continue
            return object_of(_checked(path, reply, answer).get("data"))
        raise AssertionError("the second answer was returned or raised")

    async def call_openly(self, path: str, given: JsonObject) -> JsonObject:
        """Of what takes the secret itself. That it was not taken concerns every message."""
        reply = await self._send("POST", path, given, {})
        try:
            return _checked(path, reply, object_of(reply.body))
        except Refused as error:
            raise Unreachable(str(error)) from error

    async def _present_token(self) -> str:
        if not self._token or self._ends_at <= time.monotonic():
            given: JsonObject = {"app_id": self.app, "app_secret": self.secret}
            answer = await self.call_openly("/open-apis/auth/v3/tenant_access_token/internal", given)
            lasts = answer.get("expire")
            self._token = str(answer.get("tenant_access_token", ""))
            self._ends_at = time.monotonic() + (float(lasts) if isinstance(lasts, int) else 0.0) - EARLY_SECONDS
        return self._token

    async def _send(self, method: str, path: str, given: JsonObject, headers: dict[str, str]) -> HttpReply:
        body = json.dumps(given, ensure_ascii=False).encode()
        headers = {"content-type": "application/json; charset=utf-8", **headers}
        try:
            return await self.caller.call(method, f"{self.api}{path}", body, headers)
        except NotReached as error:
            raise Unreachable(str(error)) from error
        except NoReply as error:
            raise CutOff(str(error)) from error


def _checked(path: str, reply: HttpReply, answer: JsonObject) -> JsonObject:
    """Errors by their numbers: what stands beside them may repeat what was sent."""
    code, what = answer.get("code"), path.partition("?")[0].rpartition("/")[2][:40]
    if code == 0 and reply.status < 400:
        return answer
    said = f"{what}: Feishu answered {code if isinstance(code, int) else f'status {reply.status}'}"
    if reply.status == 429 or code in _TOO_OFTEN:
        after = reply.headers.get("x-ogw-ratelimit-reset") or reply.headers.get("retry-after", "")
        raise Unreachable(said, float(after) if after.isascii() and after.isdigit() else None)
    if reply.status >= 500 or code in _OF_THE_APP or code in _TOKEN_ENDED:
        raise Unreachable(said)
    if code in _GONE:
        raise AddressGone(said)
    raise (Unchangeable if code in _FIXED else Refused)(said)


def object_of(value: Any) -> JsonObject:
    """As an object, from text or not; an empty one where it is none."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return cast("JsonObject", value) if isinstance(value, dict) else {}
