"""A connection that is open and dead is noticed, and opened again."""

import pytest

from interlock_client import _confirmation_link
from tests.client.asking import until
from tests.client.test_confirmation import Handler, socket_of
from tests.support.relay import Relay
from tests.support.server import ServerProcess


async def test_a_connection_on_which_nothing_comes_back_is_opened_again(
    server: ServerProcess, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_confirmation_link, "HEARTBEAT", 0.2)
    async with Relay(server.url) as relay, Handler(socket_of(relay.url), token=token) as handler:
        await handler.create_session()
        first = handler.ws
        assert first is not None
        relay.deaf = True

        async def is_given_up() -> bool:
            return first.close_code is not None

        async def is_new() -> bool:
            return handler.ws is not first

        await until(is_given_up, bool)
        relay.deaf = False
        await until(is_new, bool)
        assert handler.session_id is not None
