"""Tokens and the moment of a reset, to the microsecond."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import NotAuthenticated
from interlock.faces.http.tokens import LIFETIME, Tokens
from interlock.passwords import Argon2Passwords
from interlock.services import accounts
from interlock.services.core import Core
from interlock.storage.store import SqlStore


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 1, 12, 0, 0, 100_000, UTC)

    def now(self) -> datetime:
        return self.at


async def test_a_token_of_the_same_second_ends_with_a_reset(store: SqlStore) -> None:
    clock, tokens = Hands(), Tokens(b"k" * 32)
    core = Core(store, LocalBus(), clock, NoAgents(), Argon2Passwords())
    user = await accounts.register(core, "alice", "wonderland")
    clock.at += timedelta(milliseconds=1)
    before = tokens.issue(user.id, clock.now())
    assert (await accounts.principal_by_token(core, *tokens.read(before, clock.now())[:2])).id == user.id
    clock.at += timedelta(milliseconds=1)
    await accounts.reset_password(core, "alice", "looking-glass")
    after = tokens.issue(user.id, clock.now())
    with pytest.raises(NotAuthenticated):
        await accounts.principal_by_token(core, *tokens.read(before, clock.now())[:2])
    assert (await accounts.principal_by_token(core, *tokens.read(after, clock.now())[:2])).id == user.id


def test_a_token_holds_until_its_last_moment() -> None:
    clock, tokens = Hands(), Tokens(b"k" * 32)
    token = tokens.issue("user_1", clock.now())
    clock.at += LIFETIME - timedelta(seconds=1)
    assert tokens.read(token, clock.now())[0] == "user_1"
    clock.at += timedelta(seconds=1)
    with pytest.raises(NotAuthenticated):
        tokens.read(token, clock.now())
