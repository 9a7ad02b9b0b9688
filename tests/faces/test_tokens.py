"""Tokens and the moment of a reset, to the microsecond."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import NotAuthenticated
from interlock.faces.http.tokens import LIFETIME, Tokens
from interlock.master_key import GivenKey
from interlock.passwords import Argon2Passwords
from interlock.services.access import accounts, sign_ins
from interlock.services.core import Core
from interlock.storage.database import Database
from interlock.storage.key_ring import RingTokenKeys, open_ring
from interlock.storage.store import SqlStore

pytestmark = pytest.mark.promise("P12")


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 1, 12, 0, 0, 100_000, UTC)

    def now(self) -> datetime:
        return self.at


async def token_keys(database: Database) -> RingTokenKeys:
    return RingTokenKeys(database, await open_ring(database, GivenKey("a key of the operator"), Hands().at))


async def test_a_token_of_the_same_second_ends_with_a_reset(store: SqlStore, database: Database) -> None:
    clock, tokens = Hands(), Tokens(await token_keys(database))
    core = Core(store, LocalBus(), clock, NoAgents(), Argon2Passwords())

    async def held(token: str) -> tuple[str, datetime, int]:
        read = await tokens.read(token, clock.now())
        return read.user_id, read.issued_at, read.key

    user = await accounts.register(core, "alice", "wonderland")
    clock.at += timedelta(milliseconds=1)
    before = (await tokens.issue(user.id, clock.now())).text
    assert (await sign_ins.principal_by_token(core, *await held(before))).id == user.id
    clock.at += timedelta(milliseconds=1)
    await sign_ins.reset_password(core, "alice", "looking-glass")
    after = (await tokens.issue(user.id, clock.now())).text
    with pytest.raises(NotAuthenticated):
        await sign_ins.principal_by_token(core, *await held(before))
    assert (await sign_ins.principal_by_token(core, *await held(after))).id == user.id


async def test_a_token_holds_until_its_last_moment(database: Database) -> None:
    clock, tokens = Hands(), Tokens(await token_keys(database))
    token = (await tokens.issue("user_1", clock.now())).text
    clock.at += LIFETIME - timedelta(seconds=1)
    assert (await tokens.read(token, clock.now())).user_id == "user_1"
    clock.at += timedelta(seconds=1)
    with pytest.raises(NotAuthenticated):
        await tokens.read(token, clock.now())
