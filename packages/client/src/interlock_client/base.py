"""The base of every wire model: strict types, so that `false` is not taken for a number or `1` for a text."""

from pydantic import BaseModel, ConfigDict


class Sent(BaseModel):
    """What clients send. Unknown fields are ignored, as clients of several versions send them."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Told(BaseModel):
    """What the server says."""

    model_config = ConfigDict(extra="forbid")
