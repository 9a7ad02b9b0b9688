"""Keys, remembered permissions, saved values and the audit trail."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock_client import Forbidden, Interlock, InvalidInput, NotAuthenticated, NotFound
from tests.client.asking import Person, asking, within
from tests.support.server import ServerProcess


async def test_a_key_works_until_it_is_revoked(server: ServerProcess, alice: Person) -> None:
    soon = datetime.now(UTC) + timedelta(days=1)
    made = await alice.create_key("laptop", expires_at=soon)
    assert made.key.startswith("ms_sk_")
    async with Interlock(server.url, key=f" {made.key}\n") as client:
        assert made.id in [key.id for key in await client.keys()]
        await alice.revoke_key(made.id)
        with pytest.raises(NotAuthenticated) as ended:
            await client.keys()
    assert ended.value.status == 401
    with pytest.raises(NotFound):
        await alice.revoke_key("key_unknown")


async def test_only_an_admin_sees_everybodys_keys(root: Interlock, bob: Interlock) -> None:
    await bob.create_key("theirs")
    assert "theirs" in [key.name for key in await root.keys(everybody=True)]
    with pytest.raises(Forbidden):
        await bob.keys(everybody=True)


async def test_a_remembered_permission_answers_until_it_is_taken_back(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_approval("send", {"to": "ann"})) as asked:
        await alice.answers(agent, granted=True, remember=True, duration="forever", scope="this_tool")
        await within(asked)
    assert (await within(agent.ask_approval("send", {"to": "bob"}))).granted
    [grant] = [one for one in await alice.grants() if one.conversation_id or one.tool == "send"]
    assert (grant.scope, grant.duration, grant.allow) == ("this_tool", "forever", True)
    await alice.revoke_grant(grant.id)
    async with asking(agent.ask_approval("send", {"to": "cid"})):
        assert await alice.sees(agent)


async def test_a_saved_value_answers_until_it_is_deleted(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_env_vars(["TOKEN"])) as asked:
        await alice.answers(agent, values={"TOKEN": "s3cret"}, save=True)
        await within(asked)
    assert await within(agent.ask_env_vars(["TOKEN"])) == {"TOKEN": "s3cret"}
    [saved] = await alice.secrets()
    assert (saved.name, "s3cret" in saved.model_dump_json()) == ("TOKEN", False)
    await alice.delete_secret(saved.id)
    assert await alice.secrets() == []


async def test_the_audit_trail_is_read_over_its_pages(agent: Interlock, alice: Person) -> None:
    for number in range(3):
        async with asking(agent.ask_clarification("Well?")) as asked:
            await alice.answers(agent, answer=str(number))
            await within(asked)
    entries = [entry async for entry in alice.audit(agent.conversation_id, page_size=2)]
    assert [entry.number for entry in entries] == [*range(len(entries), 0, -1)]
    answered = [entry async for entry in alice.audit(agent.conversation_id, action="request.answered")]
    assert {entry.actor for entry in answered} == {"alice"}
    assert len(answered) == 3


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8000", "ftp://somewhere", "http://", "", "http://ann:pw@somewhere", "http://127.0.0.1:99999"],
)
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidInput):
        Interlock(url)


def test_a_key_and_a_token_are_not_given_together() -> None:
    with pytest.raises(InvalidInput):
        Interlock(key="a", token="b")


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "a b"])
def test_what_is_no_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Interlock(key=key)
    assert key not in str(refused.value)


def test_a_client_does_not_show_its_key() -> None:
    assert repr(Interlock(key="ms_sk_secret")) == "Interlock('http://127.0.0.1:8000')"


async def test_a_wrong_password_is_not_taken(server: ServerProcess, alice: Person) -> None:
    with pytest.raises(NotAuthenticated):
        await Interlock.sign_in(server.url, "alice", "guess")


async def test_the_environment_names_the_server_and_the_key(
    server: ServerProcess, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_URL", server.url)
    monkeypatch.setenv("INTERLOCK_KEY", key)
    async with Interlock.from_environment() as client:
        assert client.url == server.url
        assert [one async for one in client.pending()] == []
