"""Users, held against `ports.store.Users`."""

import asyncio
from datetime import timedelta, timezone

import pytest
from sqlalchemy import insert

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import Conflict
from interlock.domain.principal import Role
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import SystemClock
from interlock.ports.store import Store
from interlock.services.access.accounts import create_user, local_principal
from interlock.services.core import Core
from interlock.storage.database import Database
from interlock.storage.key_ring import row_of
from interlock.storage.schema import server_keys
from tests.conformance.examples import AT, a_user, after

KEY = 7


@pytest.fixture
async def token_key(database: Database) -> None:
    """A key under the number `KEY`, that tokens are signed with."""
    async with database.write() as connection:
        await connection.execute(insert(server_keys), row_of(bytes(32), "tokens", KEY, bytes(32), AT))


async def test_a_user_is_read_back_as_it_was_added(store: Store) -> None:
    ann = a_user(role=Role.REVIEWER, reviews=("demo", "other"))
    async with store.transaction() as tx:
        await tx.users.add(ann)
    async with store.snapshot() as tx:
        assert await tx.users.get(ann.id) == ann
        assert await tx.users.by_name("ann") == ann
        assert await tx.users.count() == 1


async def test_a_moment_given_in_another_zone_is_read_back_as_the_same_moment(store: Store) -> None:
    moment = AT.astimezone(timezone(timedelta(hours=8)))
    async with store.transaction() as tx:
        await tx.users.add(a_user(created_at=moment))
    async with store.snapshot() as tx:
        ann = await tx.users.get("u-ann")
    assert ann is not None
    assert ann.created_at == AT
    assert ann.created_at.utcoffset() == timedelta(0)


async def test_a_name_that_is_taken_is_a_conflict_and_does_not_spoil_the_transaction(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    async with store.transaction() as tx:
        with pytest.raises(Conflict):
            await tx.users.add(a_user("u-other", "ann"))
        await tx.users.add(a_user("u-bob", "bob"))
    async with store.snapshot() as tx:
        assert [user.username for user in await tx.users.all()] == ["ann", "bob"]


async def test_names_are_compared_exactly(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-2", "Ann"))
        await tx.users.add(a_user("u-3", "ann "))
        assert await tx.users.by_name("ANN") is None
        assert await tx.users.count() == 3


async def test_nobody_has_a_name_that_no_database_can_hold(store: Store) -> None:
    async with store.snapshot() as tx:
        assert await tx.users.by_name("ann\0") is None
        assert await tx.users.by_name("\ud800") is None
        assert await tx.users.get("\0") is None


async def test_a_new_password_comes_with_the_end_of_older_tokens(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-bob", "bob"))
    async with store.transaction() as tx:
        await tx.users.set_password("u-ann", "new", after(60))
    async with store.snapshot() as tx:
        assert await tx.users.get("u-ann") == a_user(password_hash="new", tokens_after=after(60))
        assert await tx.users.get("u-bob") == a_user("u-bob", "bob")


@pytest.mark.usefixtures("token_key")
async def test_a_token_that_was_ended_is_nobodys_and_the_others_go_on(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-bob", "bob"))
    for now in (after(60), after(61)):
        async with store.transaction() as tx:
            await tx.users.end_token("u-ann", after(30), after(90), now)
    async with store.transaction() as tx:
        assert await tx.users.by_token("u-ann", after(30), KEY) is None
        assert await tx.users.by_token("u-ann", after(31), KEY) == a_user()
        assert await tx.users.by_token("u-bob", after(30), KEY) == a_user("u-bob", "bob")
        assert await tx.users.by_token("u-none", after(30), KEY) is None
        before = await tx.access.version()
        await tx.users.end_token("u-bob", after(40), after(200), after(100))
        assert await tx.access.version() > before
        assert await tx.access.list_changed_since(before) == {"u-bob"}
        assert await tx.access.list_changed_since(0) == {"u-ann", "u-bob"}
        # What has expired by itself is not kept.
        assert await tx.users.by_token("u-ann", after(30), KEY) == a_user()


@pytest.mark.usefixtures("token_key")
async def test_a_token_whose_key_was_retired_is_nobodys(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        assert await tx.users.by_token("u-ann", after(30), KEY) == a_user()
        for other in (KEY - 1, KEY + 1):
            assert await tx.users.by_token("u-ann", after(30), other) is None


@pytest.mark.usefixtures("token_key")
async def test_a_token_of_before_a_new_password_is_nobodys(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.set_password("u-ann", "new", after(60))
        assert await tx.users.by_token("u-ann", after(59), KEY) is None
        assert (await tx.users.by_token("u-ann", after(60), KEY)) == a_user(password_hash="new", tokens_after=after(60))


async def test_a_role_is_changed_together_with_what_it_reviews(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.set_role("u-ann", Role.REVIEWER, ["demo"])
    async with store.snapshot() as tx:
        assert await tx.users.get("u-ann") == a_user(role=Role.REVIEWER, reviews=("demo",))


async def test_of_many_first_registrations_at_once_one_is_the_admins(store: Store) -> None:
    core = Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords())
    made = await asyncio.gather(*(create_user(core, f"user{number}", "password", role=None) for number in range(6)))
    assert sorted(user.role for user in made) == [Role.ADMIN, *[Role.OWNER] * 5]


async def test_a_user_of_a_server_without_accounts_is_made_once(store: Store) -> None:
    core = Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords())
    found = await asyncio.gather(*(local_principal(core, "somebody") for _ in range(6)))
    assert len({principal.id for principal in found}) == 1
