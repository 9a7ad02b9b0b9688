"""What a kind of channel has to be told to be set up, described so that a page can ask for it."""

from dataclasses import dataclass
from typing import Literal

FieldType = Literal["text", "number", "choice", "list", "secret"]


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting; one of type `secret` is a credential."""

    name: str
    type: FieldType = "text"
    required: bool = False
    options: tuple[str, ...] = ()
    default: str = ""
