"""The language of whoever runs a program, as their system says it."""

import os
import re
from collections.abc import Mapping

_TAG = re.compile(r"([A-Za-z]{2,3})(?:[_-]([A-Za-z]{2}))?(?=[.@]|$)")


def language(environment: Mapping[str, str] = os.environ) -> str | None:
    """What to send as `Accept-Language`; None where LC_ALL, LC_MESSAGES and LANG name none, as in the C locale.

    A server speaks English and Chinese: who reads neither is better served by English.
    """
    setting = next((text for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (text := environment.get(name))), "")
    found = _TAG.match(setting)
    if found is None:
        return None
    tag = "-".join(part for part in found.groups() if part)
    return tag if found[1].lower() in ("en", "zh") else f"{tag}, en;q=0.5"
