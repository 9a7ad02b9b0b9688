"""Client of Interlock, the human-in-the-loop server for AI agents, and the wire models of its faces.

Light: importing it imports nothing else. A public name brings what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock_client.answers import Approval, Decision
    from interlock_client.approval import requires_approval
    from interlock_client.client import Interlock
    from interlock_client.confirm import AgentEvents, UserEvents
    from interlock_client.confirmation import (
        CliConfirmationHandler,
        ConfirmationConfig,
        ConfirmationError,
        ConfirmationHandler,
        ConfirmationRequest,
        ConfirmationResponse,
        ConfirmationTimeout,
        ErrorHandlingConfirmationClient,
        GuiConfirmationHandler,
        InvalidStepId,
        MyAgentConfirmationHandler,
        SessionNotFound,
    )
    from interlock_client.errors import (
        AlreadySettled,
        Conflict,
        Expired,
        FieldError,
        Forbidden,
        InterlockError,
        InvalidInput,
        InvalidResponse,
        KeyReused,
        NetworkError,
        NotAnswered,
        NotAuthenticated,
        NotFound,
        NothingPending,
        RateLimited,
        Refused,
        ServerFailed,
        ServerUnavailable,
        ThreadBusy,
        TooLarge,
    )
    from interlock_client.sync import SyncInterlock

__version__ = "0.2.0"

_HOMES = {
    "answers": ("Approval", "Decision"),
    "approval": ("requires_approval",),
    "client": ("Interlock",),
    "confirm": ("AgentEvents", "UserEvents"),
    "confirmation": (
        "CliConfirmationHandler",
        "ConfirmationConfig",
        "ConfirmationError",
        "ConfirmationHandler",
        "ConfirmationRequest",
        "ConfirmationResponse",
        "ConfirmationTimeout",
        "ErrorHandlingConfirmationClient",
        "GuiConfirmationHandler",
        "InvalidStepId",
        "MyAgentConfirmationHandler",
        "SessionNotFound",
    ),
    "errors": (
        "AlreadySettled",
        "Conflict",
        "Expired",
        "FieldError",
        "Forbidden",
        "InterlockError",
        "InvalidInput",
        "InvalidResponse",
        "KeyReused",
        "NetworkError",
        "NotAnswered",
        "NotAuthenticated",
        "NotFound",
        "NothingPending",
        "RateLimited",
        "Refused",
        "ServerFailed",
        "ServerUnavailable",
        "ThreadBusy",
        "TooLarge",
    ),
    "sync": ("SyncInterlock",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AgentEvents",
    "AlreadySettled",
    "Approval",
    "CliConfirmationHandler",
    "ConfirmationConfig",
    "ConfirmationError",
    "ConfirmationHandler",
    "ConfirmationRequest",
    "ConfirmationResponse",
    "ConfirmationTimeout",
    "Conflict",
    "Decision",
    "ErrorHandlingConfirmationClient",
    "Expired",
    "FieldError",
    "Forbidden",
    "GuiConfirmationHandler",
    "Interlock",
    "InterlockError",
    "InvalidInput",
    "InvalidResponse",
    "InvalidStepId",
    "KeyReused",
    "MyAgentConfirmationHandler",
    "NetworkError",
    "NotAnswered",
    "NotAuthenticated",
    "NotFound",
    "NothingPending",
    "RateLimited",
    "Refused",
    "ServerFailed",
    "ServerUnavailable",
    "SessionNotFound",
    "SyncInterlock",
    "ThreadBusy",
    "TooLarge",
    "UserEvents",
    "requires_approval",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
