"""Handlers for the confirmation socket: for a terminal, for a window, and to build one's own on."""

from interlock_client._confirmations import (
    ConfirmationConfig,
    ConfirmationError,
    ConfirmationRequest,
    ConfirmationResponse,
    ConfirmationTimeout,
    ConnectionLost,
    InvalidStepId,
    SessionNotFound,
)
from interlock_client._error_handling import ErrorHandlingConfirmationClient
from interlock_client._handler import ConfirmationHandler, MyAgentConfirmationHandler
from interlock_client._terminal import CliConfirmationHandler
from interlock_client._window import GuiConfirmationHandler
from interlock_client.confirm import AgentEvents, UserEvents
from interlock_client.errors import NetworkError

__all__ = [
    "AgentEvents",
    "CliConfirmationHandler",
    "ConfirmationConfig",
    "ConfirmationError",
    "ConfirmationHandler",
    "ConfirmationRequest",
    "ConfirmationResponse",
    "ConfirmationTimeout",
    "ConnectionLost",
    "ErrorHandlingConfirmationClient",
    "GuiConfirmationHandler",
    "InvalidStepId",
    "MyAgentConfirmationHandler",
    "NetworkError",
    "SessionNotFound",
    "UserEvents",
]
