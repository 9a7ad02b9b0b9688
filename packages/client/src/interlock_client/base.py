"""The base of every wire model, strict, so that `false` is no number and `1` no text; the words that faces share."""

import math
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict

Kind = Literal["approval", "clarification", "decision", "env_var", "questions"]
RequestStatus = Literal["pending", "answered", "cancelled", "expired"]
Risk = Literal["low", "medium", "high", "critical"]
MessageRole = Literal["user", "assistant", "tool", "system"]
GrantScope = Literal["this_action", "this_tool", "all_tools"]
GrantDuration = Literal["session", "forever"]


class ClientModel(BaseModel):
    """What clients send. Unknown fields are ignored, as clients of several versions send them."""

    model_config = ConfigDict(strict=True, extra="ignore")


class ServerModel(BaseModel):
    """What the server says."""

    model_config = ConfigDict(extra="forbid")


def _finite(value: Any) -> Any:
    """Parsers of Python take numbers that no other reads: one of them would spoil every list that it is shown in."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("NaN and Infinity are no JSON")
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value)
        _finite(list(value.values()))
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            _finite(one)
    return cast("Any", value)


Json = Annotated[Any, AfterValidator(_finite)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_finite)]
