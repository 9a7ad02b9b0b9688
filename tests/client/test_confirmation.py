"""Handlers confirm the tools of a hosted agent over the confirmation socket, and lose nothing when it breaks."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from interlock_client import (
    ConfirmationConfig,
    ConfirmationError,
    ConfirmationHandler,
    ConfirmationRequest,
    ConfirmationResponse,
    ConfirmationTimeout,
    ErrorHandlingConfirmationClient,
    InvalidInput,
    InvalidStepId,
    MyAgentConfirmationHandler,
    NetworkError,
    NotAuthenticated,
    SessionNotFound,
)
from interlock_client.confirm import AgentEvents, UserEvents
from tests.client.approvals import NAME, approval, approvals
from tests.client.asking import Person, until, within
from tests.client.network import Network
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess

QUICK = {"reconnect_interval": 0.05, "max_reconnect_attempts": 50}


class Handler(ConfirmationHandler):
    """Keeps what it is told; `reply`, if there is one, is sent at once."""

    def __init__(self, ws_url: str, **options: Any) -> None:
        options = {"config": QUICK, "locale": "en", **options}
        super().__init__(ws_url, **options)
        self.reply: ConfirmationResponse | None = None
        self.requests: list[ConfirmationRequest] = []
        self.events: list[dict[str, Any]] = []
        self.errors: list[ConfirmationError] = []
        self.answers: list[str] = []

    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
        self.requests.append(request)
        if self.reply is not None:
            await self.send_confirmation(request.step_id, self.reply)

    async def on_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    async def on_error(self, error: ConfirmationError) -> None:
        self.errors.append(error)

    async def on_final_answer(self, answer: str) -> None:
        self.answers.append(answer)

    async def has(self, look: Callable[["Handler"], int], count: int = 1) -> None:
        async def now() -> int:
            return look(self)

        await until(now, lambda seen: seen >= count)

    async def asked(self, count: int = 1) -> ConfirmationRequest:
        await self.has(lambda handler: len(handler.requests), count)
        return self.requests[count - 1]

    async def answered(self, count: int = 1) -> str:
        await self.has(lambda handler: len(handler.answers), count)
        return self.answers[count - 1]

    async def failed(self, count: int = 1) -> ConfirmationError:
        await self.has(lambda handler: len(handler.errors), count)
        return self.errors[count - 1]


def socket_of(url: str) -> str:
    return url.replace("http://", "ws://") + "/ws"


@pytest.fixture
async def handler(server: ServerProcess, token: str) -> AsyncGenerator[Handler]:
    async with Handler(socket_of(server.url), token=token) as connected:
        await connected.create_session(NAME)
        yield connected


def test_both_names_are_one_class() -> None:
    assert MyAgentConfirmationHandler is ConfirmationHandler


async def test_a_tool_that_is_confirmed_runs(handler: Handler) -> None:
    handler.reply = ConfirmationResponse(True, reason="fine")
    await handler.send_message(approval("delete_file", path="a"))
    assert await handler.answered() == 'delete_file accept {"path": "a"}'
    [request] = handler.requests
    assert (request.tool_name, request.tool_args, request.kind) == ("delete_file", {"path": "a"}, "approval")
    assert "delete_file" in request.message
    assert request.tool_description == "A test's tool"
    assert handler.get_pending_confirmations() == []


async def test_a_tool_that_is_refused_does_not_and_the_agent_is_told_why(handler: Handler) -> None:
    handler.reply = ConfirmationResponse(False, reason="too important")
    await handler.send_message(approval("delete_file", path="a"))
    assert await handler.answered() == 'delete_file reject {"path": "a"} too important'


async def test_arguments_may_be_changed(handler: Handler) -> None:
    handler.reply = ConfirmationResponse(True, metadata={"args": {"path": "b"}})
    await handler.send_message(approval("delete_file", path="a"))
    assert await handler.answered() == 'delete_file edit {"path": "b"}'


async def test_what_is_pending_is_known_until_it_is_replied_to(handler: Handler) -> None:
    await handler.send_message(approval("delete_file"))
    request = await handler.asked()
    assert handler.get_pending_confirmation(request.step_id) == request
    assert handler.pending_confirmations == {request.step_id: request}
    await handler.send_confirmation(request.step_id, ConfirmationResponse(True))
    assert handler.get_pending_confirmation(request.step_id) is None
    await handler.answered()


async def test_a_step_is_replied_to_once(handler: Handler) -> None:
    handler.reply = ConfirmationResponse(True)
    await handler.send_message(approval("delete_file"))
    await handler.answered()
    with pytest.raises(InvalidStepId):
        await handler.send_confirmation(handler.requests[0].step_id, ConfirmationResponse(False))


async def test_a_message_without_a_session_makes_one(server: ServerProcess, token: str) -> None:
    async with Handler(socket_of(server.url), token=token) as handler:
        handler.reply = ConfirmationResponse(True)
        with pytest.raises(RuntimeError):
            await handler.send_confirmation("step_1_confirm_x", ConfirmationResponse(True))
        await handler.send_message(script(calls(("guarded", {"name": "x"}))))
        assert await handler.answered() == "done x"
        assert (handler.session_id or "").startswith("sess_")


async def test_the_address_of_the_server_will_do(server: ServerProcess, token: str) -> None:
    async with Handler(server.url, token=token) as handler:
        assert await handler.create_session() == handler.session_id


async def test_other_questions_are_answered_over_it_too(server: ServerProcess, token: str) -> None:
    async with Handler(server.url, token=token) as handler:
        handler.reply = ConfirmationResponse(True, metadata={"response": {"answer": "blue"}})
        await handler.send_message(script(calls(("request_clarification", {"question": "Which colour?"}))))
        assert "blue" in await handler.answered()
        [request] = handler.requests
        assert (request.kind, request.request["question"]) == ("clarification", "Which colour?")


async def test_a_reply_that_is_not_taken_is_asked_for_again(server: ServerProcess, token: str) -> None:
    async with Handler(server.url, token=token) as handler:
        await handler.send_message(script(calls(("request_clarification", {"question": "Which colour?"}))))
        request = await handler.asked()
        await handler.send_confirmation(request.step_id, ConfirmationResponse(True))
        assert (await handler.asked(2)).step_id == request.step_id
        assert (await handler.failed()).step_id == request.step_id
        reply = ConfirmationResponse(True, metadata={"response": {"answer": "red"}})
        await handler.send_confirmation(request.step_id, reply)
        assert "red" in await handler.answered()


async def test_what_somebody_else_answered_first_is_told(handler: Handler, alice: Person) -> None:
    await handler.send_message(approval("delete_file"))
    request = await handler.asked()
    assert handler.session_id is not None
    [seen] = [one async for one in alice.pending(handler.session_id)]
    await alice.respond(seen.request_id, granted=True)
    await handler.answered()
    await handler.send_confirmation(request.step_id, ConfirmationResponse(False))
    error = await handler.failed()
    assert isinstance(error, InvalidStepId)
    assert (error.step_id, error.details["status"]) == (request.step_id, "answered")


async def test_what_somebody_else_refused_is_no_longer_pending(handler: Handler, alice: Person) -> None:
    await handler.send_message(approval("delete_file"))
    await handler.asked()
    assert handler.session_id is not None
    [seen] = [one async for one in alice.pending(handler.session_id)]
    await alice.respond(seen.request_id, granted=False)
    await handler.answered()
    assert handler.get_pending_confirmations() == []


async def test_the_run_is_stopped_by_a_cancel(handler: Handler) -> None:
    await handler.send_message(approval("delete_file"))
    await handler.asked()
    await handler.cancel()
    await handler.has(lambda one: sum(event["event"] == AgentEvents.INTERRUPTED for event in one.events))
    assert handler.answers == []


async def test_what_the_client_waits_for_too_long_is_given_up(server: ServerProcess, token: str) -> None:
    class Slow(Handler):
        async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
            await asyncio.get_running_loop().create_future()

    async with Slow(server.url, token=token, config={"confirmationTimeout": 200}) as handler:
        await handler.create_session(NAME)
        await handler.send_message(approval("delete_file"))
        error = await handler.failed()
        assert isinstance(error, ConfirmationTimeout)
        assert (error.error_type, error.timeout_seconds) == ("timeout", 0.2)
        assert handler.get_pending_confirmations() == []


async def test_a_broken_connection_loses_nothing(server: ServerProcess, token: str) -> None:
    with Network(server.url) as network:
        async with Handler(network.url, token=token) as handler:
            await handler.create_session(NAME)
            await handler.send_message(approvals("one", "two"))
            first = await handler.asked()
            network.cut()
            await handler.send_confirmation(first.step_id, ConfirmationResponse(True))
            second = await handler.asked(2)
            network.cut()
            await handler.has(lambda one: sum(_is_reconnected(event) for event in one.events), 2)
            await handler.send_confirmation(second.step_id, ConfirmationResponse(False, "no"))
            assert await handler.answered() == "one accept {}; two reject {} no"
    assert [request.tool_name for request in handler.requests] == ["one", "two"]
    assert handler.errors == []


async def test_a_reply_that_got_lost_is_sent_again_and_taken_once(server: ServerProcess, token: str) -> None:
    with Network(server.url) as network:
        async with Handler(network.url, token=token) as handler:
            await handler.create_session(NAME)
            await handler.send_message(approval("delete_file"))
            request = await handler.asked()
            network.swallowing = True
            await handler.send_confirmation(request.step_id, ConfirmationResponse(True))
            network.swallowing = False
            network.cut()
            assert await handler.answered() == "delete_file accept {}"
    assert (len(handler.requests), handler.errors) == (1, [])


def _is_reconnected(event: dict[str, Any]) -> bool:
    return event["event"] == AgentEvents.SESSION_CREATED and bool(event["metadata"].get("reconnected"))


async def test_a_connection_that_is_gone_for_good_is_an_error(server: ServerProcess, token: str) -> None:
    with Network(server.url) as network:
        handler = Handler(network.url, token=token, config={**QUICK, "max_reconnect_attempts": 2})
        connecting = asyncio.create_task(handler.connect())
        await within(handler.create_session(NAME))
        network.target = "http://127.0.0.1:9"
        network.cut()
        with pytest.raises(NetworkError):
            await within(connecting)
        assert [error.error_type for error in handler.errors] == ["network_error"]
        with pytest.raises(NetworkError):
            await handler.send_message("anybody?")


async def test_without_auto_reconnect_a_break_is_the_end(server: ServerProcess, token: str) -> None:
    with Network(server.url) as network:
        handler = Handler(network.url, token=token, config=ConfirmationConfig(auto_reconnect=False))
        connecting = asyncio.create_task(handler.connect())
        await within(handler.create_session(NAME))
        network.cut()
        with pytest.raises(NetworkError):
            await within(connecting)


async def test_a_session_that_is_unknown_is_told(server: ServerProcess, token: str) -> None:
    handler = Handler(server.url, token=token)
    handler.session_id = "sess_unknown"
    async with handler:
        assert isinstance(await handler.failed(), SessionNotFound)
        assert handler.session_id is None


async def test_a_deleted_session_ends(handler: Handler, alice: Person) -> None:
    await handler.send_message(approval("delete_file"))
    await handler.asked()
    assert handler.session_id is not None
    await alice.delete_thread(handler.session_id)
    await handler.has(lambda one: one.session_id is None)
    assert handler.get_pending_confirmations() == []


async def test_nobody_connects_without_a_credential_that_holds(server: ServerProcess, alice: Person) -> None:
    with pytest.raises(NotAuthenticated):
        await within(Handler(server.url).connect())
    with pytest.raises(NotAuthenticated):
        async with Handler(server.url, key="ms_sk_none"):
            pass
    made = await alice.create_key("short")
    handler = Handler(server.url, key=made.key)
    connecting = asyncio.create_task(handler.connect())
    await within(handler.create_session())
    await alice.revoke_key(made.id)
    with pytest.raises(NotAuthenticated):
        await within(connecting)


async def test_where_nobody_listens_is_told_at_once() -> None:
    with pytest.raises(NetworkError):
        await within(Handler("ws://127.0.0.1:9/ws").connect())
    with pytest.raises(InvalidInput):
        await within(Handler("somewhere").connect())


async def test_a_bad_event_is_an_error_and_the_connection_stays(handler: Handler) -> None:
    await handler.send_message("   ")
    assert (await handler.failed()).error_type == "empty_message"
    handler.reply = ConfirmationResponse(True)
    await handler.send_message(approval("delete_file"))
    await handler.answered()


def test_a_configuration_may_come_in_either_spelling() -> None:
    camel = {"confirmationTimeout": 5000, "autoReconnect": False, "reconnectInterval": 250, "maxReconnectAttempts": 7}
    config = ConfirmationConfig.of({**camel, "showDetailedErrors": False})
    assert config == ConfirmationConfig(5.0, False, 0.25, 7, False)
    assert ConfirmationConfig.of({"reconnect_interval": 2}).reconnect_interval == 2
    assert ConfirmationConfig.of(None) == ConfirmationConfig(300.0, True, 3.0, 5, True)
    with pytest.raises(InvalidInput):
        ConfirmationConfig.of({"confirmTimeout": 1})


class Telling(ErrorHandlingConfirmationClient):
    def __init__(self) -> None:
        super().__init__("ws://127.0.0.1:9")
        self.told: list[tuple[str, str]] = []

    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
        return

    async def show_notification(self, message: str, level: str = "info") -> None:
        self.told.append((message, level))


def confirm_event(step_id: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "tool_name": "delete_file",
        "tool_description": "",
        "tool_args": {},
        "requires_confirmation": True,
    }
    return {"event": AgentEvents.USER_CONFIRM, "step_id": step_id, "content": "confirm", "metadata": metadata}


def error_event(event: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"event": event, "session_id": "sess_abc123", "content": content, "metadata": metadata}


async def pending(client: Telling) -> None:
    for step_id in ("step_5_confirm_delete_file", "step_6_confirm_delete_file"):
        await client._handle_message(confirm_event(step_id))  # pyright: ignore[reportPrivateUsage]


async def test_a_timeout_is_shown_and_its_step_cleared() -> None:
    client = Telling()
    await pending(client)
    told = {"error_type": "confirmation_timeout", "step_id": "step_5_confirm_delete_file", "timeout_seconds": 300}
    event = error_event("agent.error", "User confirmation timeout", **told)
    await client._handle_message(event)  # pyright: ignore[reportPrivateUsage]
    assert client.told == [("确认请求已超时 (300秒)", "warning")]
    assert [*client.pending_confirmations] == ["step_6_confirm_delete_file"]


async def test_a_step_of_another_session_clears_everything() -> None:
    client = Telling()
    await pending(client)
    told = {"error_type": "invalid_step_id", "received_step_id": "invalid_step_123"}
    event = error_event("system.error", "Invalid step_id in user response", **told)
    await client._handle_message(event)  # pyright: ignore[reportPrivateUsage]
    assert client.pending_confirmations == {}


async def test_an_expired_session_clears_everything_and_is_shown() -> None:
    client = Telling()
    await pending(client)
    event = error_event("system.error", "Session not found", error_type="session_not_found")
    await client._handle_message(event)  # pyright: ignore[reportPrivateUsage]
    assert client.told == [("会话已过期，请重新连接", "error")]
    assert client.pending_confirmations == {}


def test_the_constants_are_those_of_the_protocol() -> None:
    assert UserEvents.RESPONSE == "user.response"
    assert AgentEvents.USER_CONFIRM == "agent.user_confirm"
