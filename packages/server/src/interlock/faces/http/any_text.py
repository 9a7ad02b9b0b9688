"""JSON whose texts may hold halves of characters: agents write them, and a strict encoder fails on them."""

import json
from typing import Any

from fastapi.responses import JSONResponse
from typing_extensions import override


class AnyText(JSONResponse):
    @override
    def render(self, content: Any) -> bytes:
        # What cannot be encoded becomes the escape that JSON has for it.
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
