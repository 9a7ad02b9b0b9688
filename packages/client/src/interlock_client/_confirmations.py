"""What is confirmed and what is replied on the confirmation socket, what may go wrong, and how a client is set up."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Self

from interlock_client.errors import InterlockError, InvalidInput, NetworkError

HIGH_RISK = ("high", "critical")


@dataclass
class ConfirmationRequest:
    step_id: str
    message: str
    tool_name: str
    tool_description: str
    tool_args: dict[str, Any]
    kind: str = "approval"
    """`approval`, or what else is asked: `clarification`, `decision`, `env_var`, `questions`."""
    request: dict[str, Any] = field(default_factory=dict[str, Any])
    """The whole of what is asked."""
    risk_level: str = "medium"

    @property
    def is_high_risk(self) -> bool:
        return self.risk_level in HIGH_RISK

    @classmethod
    def read(cls, message: Mapping[str, Any]) -> Self:
        """From an `agent.user_confirm`."""
        metadata: Mapping[str, Any] = message.get("metadata") or {}
        return cls(
            str(message.get("step_id") or ""),
            str(message.get("content") or ""),
            str(metadata.get("tool_name") or ""),
            str(metadata.get("tool_description") or ""),
            dict(metadata.get("tool_args") or {}),
            str(metadata.get("kind") or "approval"),
            dict(metadata.get("request") or {}),
            str(metadata.get("risk_level") or "medium"),
        )


@dataclass
class ConfirmationResponse:
    confirmed: bool
    reason: str | None = None
    user_id: str | None = None
    metadata: dict[str, Any] | None = None
    """`args`: run the tool with these instead; `response`: the answer to what is no approval."""

    def content(self) -> dict[str, Any]:
        more = {"reason": self.reason, "user_id": self.user_id, "metadata": self.metadata}
        return {"confirmed": self.confirmed, **{name: value for name, value in more.items() if value}}


class ConfirmationError(InterlockError):
    """What went wrong, as the server or the connection reports it."""

    def __init__(
        self,
        message: str,
        *,
        error_type: str,
        step_id: str | None = None,
        timestamp: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code=error_type, details=details)
        self.error_type = error_type
        """`timeout`, `invalid_step_id`, `session_not_found`, `network_error`, or another one that the server gave."""
        self.step_id = step_id
        self.timestamp = timestamp or datetime.now(UTC).isoformat().replace("+00:00", "Z")

    @property
    def timeout_seconds(self) -> float | None:
        return self.details.get("timeout_seconds")


class ConfirmationTimeout(ConfirmationError):
    """Nobody decided in time; the tool did not run."""


class InvalidStepId(ConfirmationError):
    """A step that does not exist, or that is settled: then `details` has its `status`."""


class SessionNotFound(ConfirmationError):
    pass


class ConnectionLost(ConfirmationError, NetworkError):
    """A `NetworkError` of the confirmation socket."""


_KINDS: Mapping[str, type[ConfirmationError]] = {
    "timeout": ConfirmationTimeout,
    "invalid_step_id": InvalidStepId,
    "session_not_found": SessionNotFound,
    "network_error": ConnectionLost,
}
_OTHER_NAMES = {"confirmation_timeout": "timeout"}


def confirmation_error(message: Mapping[str, Any]) -> ConfirmationError:
    """From an `agent.error` or a `system.error`."""
    metadata: Mapping[str, Any] = message.get("metadata") or {}
    sent_type = str(metadata.get("error_type") or "error")
    known_type = _OTHER_NAMES.get(sent_type, sent_type)
    return _KINDS.get(known_type, ConfirmationError)(
        str(message.get("content") or known_type),
        error_type=known_type,
        step_id=metadata.get("step_id") or metadata.get("received_step_id") or message.get("step_id"),
        timestamp=message.get("timestamp"),
        details=metadata,
    )


def timeout_error(request: ConfirmationRequest, seconds: float) -> ConfirmationTimeout:
    details = {"timeout_seconds": seconds}
    text = "User confirmation timeout"
    return ConfirmationTimeout(text, error_type="timeout", step_id=request.step_id, details=details)


def connection_lost(message: str) -> ConnectionLost:
    return ConnectionLost(message, error_type="network_error")


@dataclass(frozen=True, slots=True)
class ConfirmationConfig:
    """Times are in seconds; under the camelCase names of a JSON configuration they are in milliseconds."""

    confirmation_timeout: float = 300.0
    """How long this client waits for its person; the server has a deadline of its own."""
    auto_reconnect: bool = True
    reconnect_interval: float = 3.0
    max_reconnect_attempts: int = 5
    show_detailed_errors: bool = True

    @classmethod
    def of(cls, given: "ConfirmationConfig | Mapping[str, Any] | None") -> "ConfirmationConfig":
        if isinstance(given, ConfirmationConfig):
            return given
        values: dict[str, Any] = {}
        for name, value in (given or {}).items():
            own = _CAMEL_CASE.get(name, name)
            if own not in {one.name for one in fields(cls)}:
                raise InvalidInput(f"{name} is no setting of a confirmation client; known: {', '.join(_CAMEL_CASE)}")
            values[own] = value / 1000 if name in _MILLISECONDS else value
        return cls(**values)


_CAMEL_CASE = {
    "confirmationTimeout": "confirmation_timeout",
    "autoReconnect": "auto_reconnect",
    "reconnectInterval": "reconnect_interval",
    "maxReconnectAttempts": "max_reconnect_attempts",
    "showDetailedErrors": "show_detailed_errors",
}
_MILLISECONDS = ("confirmationTimeout", "reconnectInterval")
