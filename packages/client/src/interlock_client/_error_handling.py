"""A handler that acts on every kind of error: it tells the person, clears what is over, and connects again."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping

from interlock_client._confirmations import ConfirmationError, ConfirmationRequest
from interlock_client._handler import ConfirmationHandler
from interlock_client._patience import logger
from interlock_client._wording import Wording


class ErrorHandlingConfirmationClient(ConfirmationHandler):
    """Implement `on_confirmation_requested`; `show_notification` where the person looks."""

    @abstractmethod
    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None: ...

    @property
    def wording(self) -> Wording:
        return Wording.of(self._address.locale)

    async def on_error(self, error: ConfirmationError) -> None:
        await self.handle_confirmation_error(error)

    async def handle_confirmation_error(self, error: ConfirmationError) -> None:
        act = _ACTIONS.get(error.error_type, ErrorHandlingConfirmationClient.show_error)
        await act(self, error)

    async def show_timeout_message(self, error: ConfirmationError) -> None:
        seconds = error.timeout_seconds
        seconds_text = f"{seconds:g}" if seconds is not None else "?"
        await self.show_notification(self.wording.text("timed_out", seconds=seconds_text), "warning")

    async def show_error(self, error: ConfirmationError) -> None:
        detail = f": {error.message}" if self.config.show_detailed_errors else ""
        await self.show_notification(f"{error.error_type}{detail}", "error")

    async def show_notification(self, message: str, level: str = "info") -> None:
        logger.log({"warning": 30, "error": 40}.get(level, 20), "%s", message)

    async def handle_session_expired(self) -> None:
        await self.clear_all_pending_confirmations()
        await self.show_notification(self.wording.text("session_expired"), "error")
        await self.reconnect()

    async def handle_network_error(self, error: ConfirmationError) -> None:
        await self.show_notification(self.wording.text("connection_lost", detail=error.message), "error")

    async def clear_pending_confirmation(self, step_id: str | None) -> None:
        if step_id is not None:
            await self._settle(step_id)

    async def clear_all_pending_confirmations(self) -> None:
        for step_id in [*self.pending_confirmations]:
            await self._settle(step_id)

    async def reconnect(self) -> None:
        """Leave the connection; `connect` opens another one."""
        if self.ws is not None:
            await self.ws.close()

    async def _handle_timeout(self, error: ConfirmationError) -> None:
        await self.show_timeout_message(error)
        await self.clear_pending_confirmation(error.step_id)

    async def _invalid_step(self, error: ConfirmationError) -> None:
        await self.show_error(error)
        if "status" in error.details:
            await self.clear_pending_confirmation(error.step_id)
        else:
            # Not of this session: what is known here is not what the server knows.
            await self.clear_all_pending_confirmations()

    async def _session_not_found(self, _error: ConfirmationError) -> None:
        await self.handle_session_expired()


_ACTIONS: Mapping[str, Callable[[ErrorHandlingConfirmationClient, ConfirmationError], Awaitable[None]]] = {
    "timeout": ErrorHandlingConfirmationClient._handle_timeout,  # pyright: ignore[reportPrivateUsage]
    "invalid_step_id": ErrorHandlingConfirmationClient._invalid_step,  # pyright: ignore[reportPrivateUsage]
    "session_not_found": ErrorHandlingConfirmationClient._session_not_found,  # pyright: ignore[reportPrivateUsage]
    "network_error": ErrorHandlingConfirmationClient.handle_network_error,
}
