"""JSON whose texts may hold halves of characters: agents write them, and a strict encoder fails on them."""

from datetime import datetime
from typing import Any

from fastapi.responses import JSONResponse
from typing_extensions import override

from interlock.domain.canonical import json_text
from interlock.domain.moment import to_iso


class LenientJSONResponse(JSONResponse):
    @override
    def render(self, content: Any) -> bytes:
        text = json_text(content, ensure_ascii=False, separators=(",", ":"), default=_encode_moment)
        # What cannot be encoded becomes the escape that JSON has for it.
        return text.encode("utf-8", "backslashreplace")


def _encode_moment(value: Any) -> str:
    if isinstance(value, datetime):
        return to_iso(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
