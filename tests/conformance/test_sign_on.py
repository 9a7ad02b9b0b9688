"""Identities, held against `ports.sign_on.Identities`, and what a sign-in at the provider makes of an account."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import Conflict, NotFound, PasswordsOff, SignInForbidden, SignOnFailed
from interlock.domain.principal import SYSTEM, Principal, Role, principal_of
from interlock.domain.sign_on import SignOnClaims, read_role_rules
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import SystemClock
from interlock.ports.store import Store
from interlock.services.access import accounts, people, sign_ins, sign_on
from interlock.services.core import Core, OperatorSettings
from interlock.services.teams import groups
from tests.conformance.examples import AT

ISSUER = "https://id.example"
RULES = read_role_rules(["admin=ops", "reviewer:refunds=money", "reviewer:nobody/refunds=money"])


class Provider:
    """Only named: none of these tests asks it anything."""

    name = "Test House"
    issuer = ISSUER

    async def address(self, state: str, nonce: str, challenge: str) -> str:
        return f"{ISSUER}/authorize?state={state}"

    async def claims(self, code: str, verifier: str, nonce: str, issuer: str | None) -> SignOnClaims:
        return claims(code)

    async def end_address(self) -> str | None:
        return None


def core_of(store: Store, settings: OperatorSettings | None = None) -> Core:
    given = settings or OperatorSettings()
    return Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords(), given, sign_on=Provider())


def claims(subject: str, name: str = "ann", *groups: str, left_out: bool = False) -> SignOnClaims:
    return SignOnClaims(ISSUER, subject, (name,), groups, left_out)


async def admin_of(core: Core) -> Principal:
    return principal_of(await accounts.create_user(core, "boss", None, role=Role.ADMIN))


async def actions(core: Core) -> list[str]:
    async with core.store.snapshot() as tx:
        return [one.action for one in await tx.audit.entries("server", 0, 100)]


async def test_a_first_sign_in_makes_an_account_and_a_later_one_finds_it(store: Store) -> None:
    core = core_of(store)
    first = await sign_on.sign_on(core, claims("s-1", "Ann Lee", "one"), "")
    assert (first.user.username, first.user.role, first.user.password_hash) == ("Ann.Lee", Role.OWNER, "")
    again = await sign_on.sign_on(core, claims("s-1", "somebody else", "two"), "")
    assert (again.user.id, again.user.username) == (first.user.id, "Ann.Lee")
    assert (again.identity.groups, again.identity.label) == (("two",), "somebody else")


async def test_nobody_is_linked_by_what_they_are_called(store: Store) -> None:
    core = core_of(store)
    boss = await admin_of(core)
    names = [(await sign_on.sign_on(core, claims(f"s-{number}", "boss"), "")).user for number in range(3)]
    assert boss.id not in {user.id for user in names}
    assert [user.username for user in names] == ["boss-2", "boss-3", "boss-4"]
    assert all(user.role is Role.OWNER for user in names)
    for number, reserved in enumerate(("admin", "system", "b0ss", "adm1n")):
        user = (await sign_on.sign_on(core, claims(f"r-{number}", reserved), "")).user
        assert user.username not in ("admin", "system", "b0ss", "adm1n")


async def test_of_two_first_sign_ins_at_once_one_makes_the_account(store: Store) -> None:
    core = core_of(store)
    both = await asyncio.gather(*(sign_on.sign_on(core, claims("s-1"), "") for _ in range(5)))
    assert len({one.user.id for one in both}) == 1
    async with store.snapshot() as tx:
        assert await tx.users.count() == 1


async def test_where_registration_is_closed_only_linked_identities_sign_in(store: Store) -> None:
    core = core_of(store, OperatorSettings(registration_open=False))
    boss = await admin_of(core)
    with pytest.raises(SignOnFailed) as refused:
        await sign_on.sign_on(core, claims("s-1"), "")
    assert refused.value.reason == "closed"
    await sign_on.link(core, boss, boss.id, "s-1")
    assert (await sign_on.sign_on(core, claims("s-1"), "")).user.id == boss.id


async def test_each_sign_in_replaces_the_groups_that_single_sign_on_brings(store: Store) -> None:
    core = core_of(store)
    boss = await admin_of(core)
    await groups.create(core, boss, "payments", [])

    async def memberships() -> dict[str, tuple[str, list[str]]]:
        return {one.group.name: (one.group.source, list(one.members)) for one in await groups.list_groups(core, boss)}

    await sign_on.sign_on(core, claims("s-1", "ann", "finance", "payments", "/no/name"), "")
    await sign_on.sign_on(core, claims("s-2", "bob", "finance"), "")
    # Nobody gets into a group of this server's own by what a provider calls theirs.
    assert await memberships() == {"finance": ("oidc", ["ann", "bob"]), "payments": ("local", [])}
    await groups.set_members(core, boss, "payments", ["ann"])
    await sign_on.sign_on(core, claims("s-1", "ann", "audit"), "")
    kept = {"audit": ("oidc", ["ann"]), "finance": ("oidc", ["bob"]), "payments": ("local", ["ann"])}
    assert await memberships() == kept
    # Too many to be sent: none, and never the old ones.
    await sign_on.sign_on(core, claims("s-1", "ann", left_out=True), "")
    assert await memberships() == kept | {"audit": ("oidc", [])}
    for changes in (groups.set_members(core, boss, "finance", []), groups.remove(core, boss, "finance")):
        with pytest.raises(Conflict):
            await changes
    bob = await sign_on.sign_on(core, claims("s-2", "bob", "finance"), "")
    await sign_on.unlink(core, boss, bob.user.id, bob.identity.id)
    assert (await memberships())["finance"] == ("oidc", [])
    assert (await actions(core)).count("groups.followed") == 5


async def test_roles_follow_the_groups_at_each_sign_in(store: Store) -> None:
    core = core_of(store, OperatorSettings(role_rules=RULES))
    boss = await admin_of(core)

    async def role(*groups: str, left_out: bool = False) -> tuple[Role, tuple[str, ...]]:
        user = (await sign_on.sign_on(core, claims("s-1", "ann", *groups, left_out=left_out), "")).user
        kept = await sign_ins.person(core, principal_of(user))
        assert (kept.role, kept.reviews) == (user.role, user.reviews)
        return user.role, user.reviews

    assert await role("ops") == (Role.ADMIN, ())
    # There is no user whose agent the other rule names.
    assert await role("money") == (Role.REVIEWER, ("refunds",))
    assert await role("ops", "money") == (Role.ADMIN, ())
    assert await role(left_out=True) == (Role.OWNER, ())
    async with store.snapshot() as tx:
        (identity,) = await tx.identities.all()
    assert (identity.groups, identity.groups_left_out) == ((), True)
    # There is an admin at all times.
    await sign_on.link(core, boss, boss.id, "s-boss")
    assert (await sign_on.sign_on(core, claims("s-boss", "boss"), "")).user.role is Role.ADMIN


async def test_a_new_role_is_seen_by_what_is_open(store: Store) -> None:
    core = core_of(store, OperatorSettings(role_rules=RULES))
    await admin_of(core)
    await sign_on.sign_on(core, claims("s-1", "ann", "ops"), "")
    async with store.snapshot() as tx:
        before = await tx.access.version()
    await sign_on.sign_on(core, claims("s-1", "ann"), "")
    async with store.snapshot() as tx:
        assert await tx.access.version() != before


async def test_without_rules_roles_are_given_here(store: Store) -> None:
    core = core_of(store)
    boss = await admin_of(core)
    await sign_on.link(core, boss, boss.id, "s-boss")
    assert (await sign_on.sign_on(core, claims("s-boss", "boss", "nothing"), "")).user.role is Role.ADMIN


@pytest.mark.parametrize("how", ["disallowed", "deleted"])
async def test_who_is_kept_out_or_gone_stays_out(store: Store, how: str) -> None:
    core = core_of(store, OperatorSettings(role_rules=RULES))
    await admin_of(core)
    user = (await sign_on.sign_on(core, claims("s-1", "ann", "money"), "")).user
    if how == "deleted":
        await people.delete_person(core, SYSTEM, user.username)
    else:
        await people.set_allowed(core, SYSTEM, user.username, allowed=False)
    with pytest.raises(SignInForbidden):
        await sign_on.sign_on(core, claims("s-1", "ann", "ops"), "")
    assert "session.refused" in await actions(core)
    async with store.snapshot() as tx:
        now = await tx.users.get(user.id)
        (identity,) = await tx.identities.of_user(user.id)
    assert now is not None
    assert now.role is Role.REVIEWER
    if how == "deleted":
        assert (identity.label, identity.groups) == ("", ())


async def test_a_subject_belongs_to_one_account(store: Store) -> None:
    core = core_of(store)
    boss = await admin_of(core)
    ann = principal_of((await sign_on.sign_on(core, claims("s-1"), "")).user)
    with pytest.raises(Conflict):
        await sign_on.link(core, boss, boss.id, "s-1")
    with pytest.raises(Conflict):
        await sign_on.link_own(core, boss, claims("s-1"))
    own = await sign_on.link_own(core, ann, claims("s-2", "other", "group"))
    assert (await sign_on.link_own(core, ann, claims("s-2"))).id == own.id
    assert (await sign_on.sign_on(core, claims("s-2"), "")).user.id == ann.id
    assert (await actions(core)).count("identity.linked") == 1


async def test_an_unlinked_identity_signs_in_as_nobody_it_was(store: Store) -> None:
    core = core_of(store)
    boss = await admin_of(core)
    signed_on = await sign_on.sign_on(core, claims("s-1"), "")
    ann = principal_of(signed_on.user)
    with pytest.raises(Conflict):
        await sign_on.unlink(core, ann, ann.id, signed_on.identity.id)
    with pytest.raises(NotFound):
        await sign_on.unlink(core, boss, boss.id, signed_on.identity.id)
    await sign_on.unlink(core, boss, ann.id, signed_on.identity.id)
    again = await sign_on.sign_on(core, claims("s-1"), "")
    assert again.user.id != ann.id
    assert "identity.unlinked" in await actions(core)


async def test_an_attempt_is_used_once(store: Store) -> None:
    core = core_of(store)
    _, attempt = await sign_on.begin(core, "/inbox")
    both = await asyncio.gather(*(sign_on.claims(core, attempt, "s-1", None) for _ in range(5)), return_exceptions=True)
    assert [one.subject for one in both if isinstance(one, SignOnClaims)] == ["s-1"]
    assert {one.reason for one in both if isinstance(one, SignOnFailed)} == {"expired"}
    async with store.transaction() as tx:
        assert [await tx.identities.use_state("kept", AT) for _ in range(2)] == [True, False]
        await tx.identities.purge_states(AT + timedelta(seconds=1))
        assert await tx.identities.use_state("kept", AT)


async def test_who_has_no_password_signs_in_with_none(store: Store) -> None:
    core = core_of(store)
    await accounts.create_user(core, "ann", None, role=None)
    for password in ("", "wonderland"):
        with pytest.raises(Exception, match="wrong username or password"):
            await accounts.sign_in(core, "ann", password, "")


async def test_with_passwords_off_nothing_takes_one(store: Store) -> None:
    on, off = core_of(store), core_of(store, OperatorSettings(passwords=False))
    ann = await accounts.create_user(on, "ann", "wonderland", role=None)
    for call in (
        accounts.sign_in(off, "ann", "wonderland", ""),
        accounts.register(off, "bob", "wonderland"),
        sign_ins.reset_password(off, "ann", "wonderland"),
        sign_ins.check_password(off, principal_of(ann), "wonderland", ""),
    ):
        with pytest.raises(PasswordsOff, match="Test House"):
            await call
    assert replace(await sign_ins.person(off, principal_of(ann))) == ann
