"""Keys, tickets, grants, saved values and replies, held against `ports.access`."""

import asyncio
import sqlite3
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.api_key import ApiKey, KeyRole, Ticket, credential_hash, is_key, new_key
from interlock.domain.errors import KeyReused, NotAuthenticated, NotFound
from interlock.domain.grant import Grant, GrantScope
from interlock.domain.principal import principal_of
from interlock.domain.saved_secret import SavedSecret
from interlock.passwords import Argon2Passwords
from interlock.ports.store import Store
from interlock.services.access import keys
from interlock.services.core import Core
from tests.conformance.examples import AT, a_user, after

pytestmark = pytest.mark.promise("P3")


def a_key(key_id: str = "key_1", **changes: Any) -> ApiKey:
    return replace(ApiKey(key_id, "laptop", KeyRole.PERSON, "u-ann", f"hash-{key_id}", AT), **changes)


def a_ticket(name: str = "t", **changes: Any) -> Ticket:
    return replace(Ticket(f"hash-{name}", "u-ann", None, AT, after(30)), **changes)


def a_grant(grant_id: str = "grant_1", **changes: Any) -> Grant:
    scope = GrantScope.THIS_TOOL
    return replace(
        Grant(grant_id, "u-ann", "demo", scope, "definition", True, "u-ann", "ann", "perm_1", AT, tool="delete_file"),
        **changes,
    )


def a_saved(saved_id: str = "saved_1", **changes: Any) -> SavedSecret:
    return replace(SavedSecret(saved_id, "u-ann", "demo", "API_KEY", True, "envv_1", "ann", AT, AT), **changes)


async def test_a_key_is_found_by_its_id_and_its_hash(store: Store) -> None:
    first = a_key(role=KeyRole.AGENT, agent="worker", expires_at=after(60))
    async with store.transaction() as tx:
        await tx.api_keys.add(first)
        await tx.api_keys.add(a_key("key_2", owner_id="u-bob", created_at=after(1)))
    async with store.snapshot() as tx:
        assert await tx.api_keys.get("key_1") == first
        assert await tx.api_keys.by_hash("hash-key_1") == first
        assert await tx.api_keys.by_hash("hash") is None
        assert await tx.api_keys.get("key_1\0") is None
        assert [key.id for key in await tx.api_keys.of_owner("u-ann")] == ["key_1"]
        assert [key.id for key in await tx.api_keys.of_owner(None)] == ["key_2", "key_1"]


async def test_a_key_is_revoked_once_and_stays_listed(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.api_keys.add(a_key())
        await tx.api_keys.record_use("key_1", after(5))
        assert await tx.api_keys.revoke("key_1", after(6))
        assert not await tx.api_keys.revoke("key_1", after(7))
        assert not await tx.api_keys.revoke("key_unknown", after(7))
    async with store.snapshot() as tx:
        assert await tx.api_keys.of_owner("u-ann") == [a_key(last_used_at=after(5), revoked_at=after(6))]


@given(st.text(max_size=80))
def test_hardly_any_text_is_a_key_and_a_new_one_always_is(text: str) -> None:
    assert is_key(new_key())
    assert not is_key(text)


async def test_of_many_that_take_a_ticket_one_gets_it(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.tickets.add(a_ticket())

    async def take() -> Ticket | None:
        async with store.transaction() as tx:
            return await tx.tickets.take("hash-t")

    taken = await asyncio.gather(*(take() for _ in range(8)))
    assert [ticket for ticket in taken if ticket is not None] == [a_ticket()]


async def test_a_ticket_that_is_not_committed_is_not_used_up(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.tickets.add(a_ticket(key_id="key_1", user_id=None))

    async def give_up() -> None:
        async with store.transaction() as tx:
            await tx.tickets.take("hash-t")
            raise RuntimeError("given up")

    with pytest.raises(RuntimeError):
        await give_up()
    async with store.transaction() as tx:
        assert await tx.tickets.take("hash-t") == a_ticket(key_id="key_1", user_id=None)


async def test_old_tickets_are_swept_away(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.tickets.add(a_ticket("old", expires_at=after(1)))
        await tx.tickets.add(a_ticket("new", expires_at=after(100)))
        await tx.tickets.purge(after(50))
        assert await tx.tickets.take("hash-old") is None
        assert await tx.tickets.take("hash-new") is not None


class Standing:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.moment = AT

    def now(self) -> datetime:
        return self.moment


async def test_a_ticket_holds_for_half_a_minute_and_a_key_until_it_expires(store: Store) -> None:
    clock = Standing()
    core = Core(store, LocalBus(), clock, NoAgents(), Argon2Passwords())
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    ann = principal_of(a_user())
    early, _ = await keys.issue_ticket(core, ann, AT)
    late, made = await keys.issue_ticket(core, ann, AT)
    assert made.expires_at == after(30)
    assert made.hash == credential_hash(late)
    clock.moment = after(29.9)
    assert (await keys.take_ticket(core, early)).user_id == "u-ann"
    clock.moment = after(30)
    for text in (late, early, "never given out"):
        with pytest.raises(NotAuthenticated):
            await keys.take_ticket(core, text)
    _, key = await keys.create_key(core, ann, "brief", KeyRole.PERSON, expires_at=after(60))
    assert (await keys.principal_by_key(core, key)).id == "u-ann"
    clock.moment = after(60)
    with pytest.raises(NotAuthenticated):
        await keys.principal_by_key(core, key)


async def test_a_key_whose_owner_is_gone_does_not_hold(store: Store) -> None:
    core = Core(store, LocalBus(), Standing(), NoAgents(), Argon2Passwords())
    text = new_key()
    async with store.transaction() as tx:
        await tx.api_keys.add(a_key(hash=credential_hash(text)))
    with pytest.raises(NotAuthenticated):
        await keys.principal_by_key(core, text)


async def test_live_grants_are_one_owners_and_one_agents_the_oldest_first(store: Store) -> None:
    grants = [
        a_grant("grant_b", created_at=after(1), thread_id="ann-1", scope=GrantScope.THIS_ACTION, action="digest"),
        a_grant("grant_a", created_at=after(2), allow=False),
        a_grant("grant_c", agent="other"),
        a_grant("grant_d", owner_id="u-bob"),
        a_grant("grant_e", scope=GrantScope.ALL_TOOLS, tool=None),
    ]
    async with store.transaction() as tx:
        for grant in grants:
            await tx.grants.add(grant)
    async with store.transaction() as tx:
        assert await tx.grants.live("u-ann", "demo") == [grants[4], grants[0], grants[1]]
        assert len(await tx.grants.of_person(None)) == 5
        assert await tx.grants.get("grant_c") == grants[2]


async def test_a_grant_is_listed_for_its_owner_and_for_who_gave_it(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant("grant_own"))
        await tx.grants.add(a_grant("grant_by_bob", by_id="u-bob", by_name="bob", created_at=after(1)))
        await tx.grants.add(a_grant("grant_of_bob", owner_id="u-bob", by_id="u-bob", created_at=after(2)))
    async with store.transaction() as tx:
        assert [grant.id for grant in await tx.grants.of_person("u-ann")] == ["grant_by_bob", "grant_own"]
        assert [grant.id for grant in await tx.grants.of_person("u-bob")] == ["grant_of_bob", "grant_by_bob"]
        assert await tx.grants.of_person("u-cy") == []
        # What answers ann's agents is what stands for ann, whoever gave it.
        assert [grant.id for grant in await tx.grants.live("u-ann", "demo")] == ["grant_own", "grant_by_bob"]


async def test_the_ceiling_of_a_grant_is_kept(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant(ceiling="high"))
        assert await tx.grants.get("grant_1") == a_grant(ceiling="high")


async def test_a_revoked_grant_is_no_longer_live_and_is_kept(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant())
        await tx.grants.record_use("grant_1", after(1))
        await tx.grants.record_use("grant_1", after(2))
        assert await tx.grants.revoke("grant_1", "bob", after(3))
        assert not await tx.grants.revoke("grant_1", "ann", after(4))
        assert await tx.grants.live("u-ann", "demo") == []
        assert await tx.grants.of_person("u-ann") == []
        expected = a_grant(uses=2, last_used_at=after(2), revoked_at=after(3), revoked_by="bob")
        assert await tx.grants.get("grant_1") == expected


async def test_a_grant_that_is_about_to_answer_is_revoked_after_that(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant())
    order: list[str] = []
    reading = asyncio.Event()

    async def answer() -> None:
        async with store.transaction() as tx:
            assert [grant.id for grant in await tx.grants.live("u-ann", "demo")] == ["grant_1"]
            reading.set()
            await asyncio.sleep(0.05)
            await tx.grants.record_use("grant_1", after(1))
            order.append("answered")

    async def revoke() -> None:
        await reading.wait()
        async with store.transaction() as tx:
            await tx.grants.revoke("grant_1", "ann", after(2))
            order.append("revoked")

    async with asyncio.timeout(60):
        await asyncio.gather(answer(), revoke())
    assert order == ["answered", "revoked"]
    async with store.transaction() as tx:
        assert await tx.grants.live("u-ann", "demo") == []


async def test_uses_of_a_grant_at_once_are_all_counted(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant())

    async def use() -> None:
        async with store.transaction() as tx:
            await tx.grants.record_use("grant_1", AT)

    await asyncio.gather(*(use() for _ in range(8)))
    async with store.snapshot() as tx:
        grant = await tx.grants.get("grant_1")
    assert grant is not None
    assert grant.uses == 8


async def test_the_end_of_a_thread_ends_its_grants_only(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.grants.add(a_grant("grant_1", thread_id="ann-1"))
        await tx.grants.add(a_grant("grant_2", thread_id="ann-2"))
        await tx.grants.add(a_grant("grant_3"))
        await tx.grants.end_of_thread("ann-1", after(1))
        assert [grant.id for grant in await tx.grants.live("u-ann", "demo")] == ["grant_2", "grant_3"]


async def test_a_saved_value_is_put_in_place_of_the_earlier_one(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.saved_secrets.put(a_saved(), "first \0 \ud800 日本")
        assert await tx.saved_secrets.value("saved_1") == "first \0 \ud800 日本"
    async with store.transaction() as tx:
        await tx.saved_secrets.put(a_saved("saved_2", sensitive=False, updated_at=after(1)), "second")
        await tx.saved_secrets.put(a_saved("saved_3", name="OTHER"), "third")
    async with store.snapshot() as tx:
        named = await tx.saved_secrets.by_names("u-ann", "demo", None, ["API_KEY", "OTHER", "UNKNOWN"])
        assert {name: saved.id for name, saved in named.items()} == {"API_KEY": "saved_2", "OTHER": "saved_3"}
        assert await tx.saved_secrets.value("saved_2") == "second"
        assert await tx.saved_secrets.get("saved_1") is None
        with pytest.raises(NotFound):
            await tx.saved_secrets.value("saved_1")
        assert await tx.saved_secrets.by_names("u-bob", "demo", None, ["API_KEY"]) == {}
        assert await tx.saved_secrets.by_names("u-ann", "other", None, ["API_KEY"]) == {}


async def test_a_value_saved_for_a_key_is_that_keys_alone(store: Store) -> None:
    async with store.transaction() as tx:
        # As a version before this one kept it for any key: nobody knows whose it was.
        await tx.saved_secrets.put(a_saved("saved_1"), "of nobody")
        await tx.saved_secrets.put(a_saved("saved_2", asker_id="key_1"), "first")
        await tx.saved_secrets.put(a_saved("saved_3", asker_id="key_2"), "other")
        await tx.saved_secrets.put(a_saved("saved_4", asker_id="key_1"), "second")
    async with store.snapshot() as tx:
        for asker, saved_id in ((None, "saved_1"), ("key_1", "saved_4"), ("key_2", "saved_3"), ("key_3", None)):
            found = await tx.saved_secrets.by_names("u-ann", "demo", asker, ["API_KEY"])
            assert [saved.id for saved in found.values()] == ([saved_id] if saved_id else [])
        assert await tx.saved_secrets.value("saved_4") == "second"
        assert await tx.saved_secrets.get("saved_4") == a_saved("saved_4", asker_id="key_1")
        assert len(await tx.saved_secrets.of_owner("u-ann")) == 3


async def test_values_saved_at_once_leave_one_that_can_be_read(store: Store) -> None:
    async def put(number: int) -> None:
        async with store.transaction() as tx:
            await tx.saved_secrets.put(a_saved(f"saved_{number}"), f"value {number}")

    await asyncio.gather(*(put(number) for number in range(6)))
    async with store.snapshot() as tx:
        (saved,) = await tx.saved_secrets.of_owner("u-ann")
        assert await tx.saved_secrets.value(saved.id) == f"value {saved.id.removeprefix('saved_')}"


async def test_a_saved_value_is_listed_by_agent_and_name_and_deleted_once(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.saved_secrets.put(a_saved("saved_1", agent="b"), "1")
        await tx.saved_secrets.put(a_saved("saved_2", agent="a", name="Z"), "2")
        await tx.saved_secrets.put(a_saved("saved_3", agent="a", name="B"), "3")
        await tx.saved_secrets.put(a_saved("saved_4", owner_id="u-bob"), "4")
        assert [saved.id for saved in await tx.saved_secrets.of_owner("u-ann")] == ["saved_3", "saved_2", "saved_1"]
        assert len(await tx.saved_secrets.of_owner(None)) == 4
        assert await tx.saved_secrets.delete("saved_1")
        assert not await tx.saved_secrets.delete("saved_1")
        assert await tx.saved_secrets.get("saved_1") is None


async def test_a_reply_is_given_again_to_the_same_caller_operation_key_and_body(store: Store) -> None:
    async with store.transaction() as tx:
        assert await tx.replies.claim("u-ann", "ask", "k", b"body", AT) is None
        await tx.replies.keep("u-ann", "ask", "k", b"reply")
    async with store.transaction() as tx:
        assert await tx.replies.claim("u-ann", "ask", "k", b"body", AT) == b"reply"
        assert await tx.replies.claim("u-bob", "ask", "k", b"body", AT) is None
        assert await tx.replies.claim("u-ann", "respond", "k", b"body", AT) is None
        with pytest.raises(KeyReused):
            await tx.replies.claim("u-ann", "ask", "k", b"other", AT)


async def test_under_a_key_that_was_recalled_nothing_is_done_any_more(store: Store) -> None:
    async with store.transaction() as tx:
        assert await tx.replies.claim("u-ann", "ask", "k", b"body", AT) is None
        await tx.replies.keep("u-ann", "ask", "k", b"reply")
        assert await tx.replies.recall("u-ann", "ask", "k", AT) == b"reply"
        assert await tx.replies.recall("u-ann", "ask", "late", AT) is None
    async with store.transaction() as tx:
        assert await tx.replies.recall("u-ann", "ask", "k", AT) == b"reply"
        assert await tx.replies.recall("u-ann", "ask", "late", AT) is None
        with pytest.raises(KeyReused):
            await tx.replies.claim("u-ann", "ask", "late", b"body", AT)
        assert await tx.replies.claim("u-bob", "ask", "late", b"body", AT) is None


async def test_a_claim_that_was_rolled_back_leaves_the_key_free(store: Store) -> None:
    async def give_up() -> None:
        async with store.transaction() as tx:
            await tx.replies.claim("u-ann", "ask", "k", b"body", AT)
            raise RuntimeError("given up")

    with pytest.raises(RuntimeError):
        await give_up()
    async with store.transaction() as tx:
        assert await tx.replies.claim("u-ann", "ask", "k", b"another", AT) is None


async def test_of_many_that_claim_a_key_one_acts_and_the_others_are_given_its_reply(store: Store) -> None:
    async def call(number: int) -> bytes:
        async with store.transaction() as tx:
            earlier = await tx.replies.claim("u-ann", "ask", "k", b"body", AT)
            if earlier is not None:
                return earlier
            await asyncio.sleep(0)
            reply = f"reply of {number}".encode()
            await tx.replies.keep("u-ann", "ask", "k", reply)
        return reply

    replies = await asyncio.gather(*(call(number) for number in range(8)))
    assert len(set(replies)) == 1


async def test_of_a_body_only_a_keyed_hash_is_kept(store: Store, database_url: str) -> None:
    async with store.transaction() as tx:
        await tx.replies.claim("u-ann", "respond", "k", b"body with a secret", AT)
        await tx.replies.keep("u-ann", "respond", "k", b"reply")
    if database_url.startswith("sqlite"):
        with sqlite3.connect(database_url.removeprefix("sqlite:///")) as connection:
            (row,) = connection.execute("SELECT * FROM replies").fetchall()
        connection.close()
        assert "secret" not in str(row)
        assert credential_hash("body with a secret") not in str(row)
    async with store.transaction() as tx:
        await tx.replies.purge(after(1))
        assert await tx.replies.claim("u-ann", "respond", "k", b"another", AT) is None
