"""`@requires_approval`: a function that a person has to allow, each time that it is called."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from interlock_client.answers import Approval
from interlock_client.errors import InvalidInput, Refused
from interlock_client.hitl import Risk

if TYPE_CHECKING:
    from interlock_client.client import Interlock
    from interlock_client.sync import SyncInterlock

P = ParamSpec("P")
T = TypeVar("T")

_CANNOT_BE_SHOWN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
