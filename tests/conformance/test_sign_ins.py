"""Sign-ins, held against `ports.people.SignIns`, and the sessions that are built on them."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import NotAuthenticated
from interlock.domain.sign_in import Origin, SignIn, new_sign_in
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import SystemClock
from interlock.ports.store import Store
from interlock.services.access import sign_ins
from interlock.services.access.accounts import create_user
from interlock.services.core import Core
from interlock.storage.database import Database
from interlock.storage.key_ring import row_of
from interlock.storage.schema import server_keys
from tests.conformance.examples import AT, a_user, after

KEY = 7
ORIGIN = Origin("password", "127.0.0.1", "curl/8.5.0")


@pytest.fixture(autouse=True)
async def token_key(database: Database) -> None:
    async with database.write() as connection:
        await connection.execute(insert(server_keys), row_of(bytes(32), "tokens", KEY, bytes(32), AT))


def core_of(store: Store) -> Core:
    return Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords())


def of_ann(seconds: int) -> SignIn:
    return new_sign_in("u-ann", after(seconds), KEY, ORIGIN)


async def test_sign_ins_are_listed_by_when_they_were_last_used_while_their_tokens_hold(store: Store) -> None:
    first, second, old_key = of_ann(1), of_ann(2), new_sign_in("u-ann", after(3), KEY - 1, ORIGIN)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        for one in (first, second, old_key):
            await tx.sign_ins.add(one)
        await tx.sign_ins.add(new_sign_in("u-ann", first.issued_at, KEY, None, after(60)))
        listed, total = await tx.sign_ins.page("u-ann", after(60), 10)
        assert [(one.id, one.used_at, one.program) for one in listed] == [
            (first.id, after(60), "curl/8.5.0"),
            (second.id, after(2), "curl/8.5.0"),
        ]
        assert total == 2
        assert await tx.sign_ins.page("u-ann", after(60), 1) == (listed[:1], 2)
        await tx.users.end_token("u-ann", first.issued_at, first.expires_at, after(61))
        # A use that was on its way is noted, and lists nothing that has ended.
        await tx.sign_ins.add(new_sign_in("u-ann", first.issued_at, KEY, None, after(62)))
        assert (await tx.sign_ins.page("u-ann", after(62), 10))[0] == [second]
        assert (await tx.sign_ins.page("u-ann", second.expires_at, 10)) == ([], 0)


async def test_ending_all_tokens_also_ends_one_of_a_server_whose_clock_is_ahead(store: Store) -> None:
    ahead = of_ann(600)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.sign_ins.add(ahead)
        assert await tx.users.by_token("u-ann", ahead.issued_at, KEY) is not None
        assert await tx.users.end_tokens("u-ann", after(60)) == 1
        assert await tx.users.by_token("u-ann", ahead.issued_at, KEY) is None
        assert await tx.users.by_token("u-ann", after(61), KEY) is not None


async def test_a_token_that_a_server_of_an_earlier_version_gave_out_is_listed_when_it_is_used(store: Store) -> None:
    core = core_of(store)
    user = await create_user(core, "ann", "wonderland", role=None)
    issued_at = core.clock.now()
    principal = await sign_ins.principal_by_token(core, user.id, issued_at, KEY)
    ((listed,), total) = await sign_ins.list_sessions(core, principal)
    assert (listed.issued_at, listed.how, listed.program, total) == (issued_at, None, None, 1)


async def test_nobody_is_signed_in_with_a_password_that_was_changed_while_it_was_checked(store: Store) -> None:
    core = core_of(store)
    stale = await create_user(core, "ann", "wonderland", role=None)
    await sign_ins.reset_password(core, "ann", "looking-glass")
    late = new_sign_in(stale.id, core.clock.now() + timedelta(seconds=1), KEY, ORIGIN)
    with pytest.raises(NotAuthenticated):
        await sign_ins.open_session(core, stale, late)
    async with store.snapshot() as tx:
        assert await tx.sign_ins.page(stale.id, core.clock.now(), 10) == ([], 0)
