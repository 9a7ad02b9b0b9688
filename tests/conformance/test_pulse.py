"""What a server knows of everybody's access without asking for each of them."""

from interlock.domain.principal import Role
from interlock.ports.store import Store
from tests.conformance.examples import a_user, after
from tests.conformance.trails import core_on


async def test_only_those_are_looked_up_again_whose_access_changed(store: Store) -> None:
    core = core_on(store)
    pulse = core.pulse
    # Nothing is known before the first look.
    assert pulse.has_changed("u-ann", None)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-bob", "bob"))
        await tx.users.set_role("u-bob", Role.REVIEWER, ["demo"])
    await pulse.beat(core)
    first = pulse.access
    assert not pulse.has_changed("u-ann", first)
    assert not pulse.has_changed("u-bob", first)
    async with store.transaction() as tx:
        await tx.users.set_role("u-ann", Role.ADMIN, [])
    assert not pulse.has_changed("u-ann", first)
    await pulse.beat(core)
    assert pulse.has_changed("u-ann", first)
    assert not pulse.has_changed("u-ann", pulse.access)
    assert not pulse.has_changed("u-bob", first)


async def test_what_changed_while_nobody_looked_is_found_afterwards(store: Store) -> None:
    core = core_on(store)
    pulse = core.pulse
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    await pulse.beat(core)
    first = pulse.access
    for number in range(3):
        async with store.transaction() as tx:
            await tx.users.end_token("u-ann", after(number), after(90), after(10))
            await tx.users.end_token(f"u-{number}", after(number), after(90), after(10))
    await pulse.beat(core)
    assert {who for who in ("u-ann", "u-0", "u-1", "u-2", "u-3") if pulse.has_changed(who, first)} == {
        "u-ann",
        "u-0",
        "u-1",
        "u-2",
    }
