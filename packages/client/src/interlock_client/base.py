"""The base of every wire model: strict types, so that `false` is not taken for a number or `1` for a text."""

import math
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict


class Sent(BaseModel):
    """What clients send. Unknown fields are ignored, as clients of several versions send them."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Told(BaseModel):
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
