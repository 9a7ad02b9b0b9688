"""The code flow against a strict provider, and against one that misbehaves: the port `ports.sign_on.SignOn`."""

import asyncio
import base64
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock.domain.errors import SignOnFailed
from interlock.domain.sign_on import SignOnClaims
from interlock.sign_on import OidcSettings, OidcSignOn
from tests.support.oidc_provider import CLIENT_ID, CLIENT_SECRET, Misbehaviour, OidcProvider

HERE = "http://127.0.0.1:8000"
NONCE, STATE, VERIFIER = "n" * 43, "s" * 43, "v" * 43


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@pytest.fixture(scope="module")
def house() -> Generator[OidcProvider]:
    with OidcProvider() as running:
        running.environment(HERE)
        yield running


@pytest.fixture
def provider(house: OidcProvider) -> Generator[OidcProvider]:
    house.behave()
    house.person = {"sub": "ann-1", "preferred_username": "ann", "groups": ["/payments"]}
    house.calls.clear()
    yield house
    house.behave()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def settings(
    provider: OidcProvider, *, client_secret: str = CLIENT_SECRET, hosts: tuple[str, ...] = ()
) -> OidcSettings:
    places = f"{HERE}/login/return", f"{HERE}/login"
    return OidcSettings(provider.issuer, CLIENT_ID, *places, client_secret=client_secret, hosts=hosts)


@pytest.fixture
async def sign_on(provider: OidcProvider, clock: Clock) -> AsyncGenerator[OidcSignOn]:
    made = OidcSignOn(settings(provider), clock)
    yield made
    await made.close()


async def back(sign_on: OidcSignOn, provider: OidcProvider) -> dict[str, str]:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    return provider.authorize(await sign_on.address(STATE, NONCE, challenge))


async def sign_in(sign_on: OidcSignOn, provider: OidcProvider) -> SignOnClaims:
    given = await back(sign_on, provider)
    return await sign_on.claims(given["code"], VERIFIER, NONCE, given.get("iss"))


async def test_who_signed_in_is_told_by_issuer_and_subject(sign_on: OidcSignOn, provider: OidcProvider) -> None:
    said = await sign_in(sign_on, provider)
    assert said == SignOnClaims(provider.issuer, "ann-1", ("ann",), ("/payments",))
    again = await sign_in(sign_on, provider)
    assert again == said
    # What the provider says of itself, and its keys, are asked for once.
    assert provider.calls.count("/realm/keys") == 1
    assert provider.calls.count("/realm/.well-known/openid-configuration") == 1


NOW = int(time.time())
HOUR = 3600
TOKENS: dict[str, Misbehaviour] = {
    "another nonce": Misbehaviour(claims={"nonce": "m" * 43}),
    "no nonce": Misbehaviour(claims={"nonce": None}),
    "another audience": Misbehaviour(claims={"aud": "another-client"}),
    "two audiences, no azp": Misbehaviour(claims={"aud": [CLIENT_ID, "another-client"]}),
    "another azp": Misbehaviour(claims={"azp": "another-client"}),
    "another issuer": Misbehaviour(claims={"iss": "http://127.0.0.1:1/realm"}),
    "expired": Misbehaviour(claims={"exp": NOW - HOUR}),
    "no end": Misbehaviour(claims={"exp": None}),
    "an end that is true": Misbehaviour(claims={"exp": True}),
    "an end that is a text": Misbehaviour(claims={"exp": "9999999999"}),
    "of the future": Misbehaviour(claims={"iat": NOW + HOUR, "exp": NOW + 2 * HOUR}),
    "not yet": Misbehaviour(claims={"nbf": NOW + HOUR}),
    "of long ago": Misbehaviour(claims={"iat": NOW - HOUR}),
    "no subject": Misbehaviour(claims={"sub": None}),
    "an empty subject": Misbehaviour(claims={"sub": ""}),
    "a subject that is a number": Misbehaviour(claims={"sub": 7}),
    "a subject beyond ASCII": Misbehaviour(claims={"sub": "\u0430nn"}),
    "unsigned": Misbehaviour(algorithm="none"),
    "signed with the public key": Misbehaviour(algorithm="HS256"),
    "another algorithm than the key's": Misbehaviour(algorithm="RS512"),
    "an unknown key": Misbehaviour(kid="key-9"),
}


@pytest.mark.parametrize("wrong", TOKENS.values(), ids=TOKENS.keys())
async def test_an_id_token_that_is_wrong_in_one_thing_signs_nobody_in(
    sign_on: OidcSignOn, provider: OidcProvider, wrong: Misbehaviour
) -> None:
    provider.wrong = wrong
    with pytest.raises(SignOnFailed) as refused:
        await sign_in(sign_on, provider)
    assert refused.value.reason == "refused"


async def test_a_shared_token_with_the_right_azp_is_taken(sign_on: OidcSignOn, provider: OidcProvider) -> None:
    provider.wrong = Misbehaviour(claims={"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID})
    assert (await sign_in(sign_on, provider)).subject == "ann-1"


PLACES: dict[str, tuple[Misbehaviour, str]] = {
    "another issuer": (Misbehaviour(issuer="http://127.0.0.1/other"), "refused"),
    "a redirect": (Misbehaviour(redirects_to="http://localhost/elsewhere"), "unreachable"),
    "too much": (Misbehaviour(is_huge=True), "unreachable"),
    "a token endpoint elsewhere": (Misbehaviour(places={"token_endpoint": "https://evil.example/token"}), "refused"),
    "keys elsewhere": (Misbehaviour(places={"jwks_uri": "https://evil.example/keys"}), "refused"),
    "a script": (Misbehaviour(places={"authorization_endpoint": "javascript:alert(1)"}), "refused"),
    "a place that is none": (Misbehaviour(places={"token_endpoint": ["x"]}), "refused"),
    "methods that are none": (
        Misbehaviour(places={"token_endpoint_auth_methods_supported": 5, "jwks_uri": 5}),
        "refused",
    ),
    "a port that is none": (Misbehaviour(places={"token_endpoint": "http://127.0.0.1:x/"}), "refused"),
    "a sign-out elsewhere": (Misbehaviour(places={"end_session_endpoint": "https://evil.example/end"}), "refused"),
}


@pytest.mark.parametrize(("wrong", "reason"), PLACES.values(), ids=PLACES.keys())
async def test_a_description_that_leads_elsewhere_is_not_followed(
    sign_on: OidcSignOn, provider: OidcProvider, wrong: Misbehaviour, reason: str
) -> None:
    provider.wrong = wrong
    with pytest.raises(SignOnFailed) as refused:
        await back(sign_on, provider)
    assert refused.value.reason == reason
    # Nothing of it stays: it is asked again.
    provider.behave()
    assert (await sign_in(sign_on, provider)).subject == "ann-1"


async def test_an_endpoint_on_a_host_that_the_operator_named_is_taken(provider: OidcProvider, clock: Clock) -> None:
    provider.wrong = Misbehaviour(
        places={"token_endpoint": f"{provider.issuer}/token".replace("127.0.0.1", "localhost")}
    )
    made = OidcSignOn(settings(provider, hosts=("localhost",)), clock)
    assert (await sign_in(made, provider)).subject == "ann-1"
    await made.close()


async def test_a_provider_that_is_not_there_is_said_to_be_unreachable(provider: OidcProvider, clock: Clock) -> None:
    made = OidcSignOn(OidcSettings("http://127.0.0.1:9/realm", CLIENT_ID, "x", "y"), clock)
    with pytest.raises(SignOnFailed) as refused:
        await made.address(STATE, NONCE, "c")
    assert refused.value.reason == "unreachable"
    await made.close()


async def test_a_provider_that_is_slow_is_not_waited_for(
    sign_on: OidcSignOn, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.sign_on.SECONDS", 1.0)
    provider.misbehave(Misbehaviour(is_slow=True))
    # Who waits for the same waits no longer than the first.
    tried = await asyncio.gather(*(back(sign_on, provider) for _ in range(5)), return_exceptions=True)
    assert {one.reason for one in tried if isinstance(one, SignOnFailed)} == {"unreachable"}
    assert provider.calls.count("/realm/.well-known/openid-configuration") == 1
    monkeypatch.undo()
    provider.behave()
    assert (await back(sign_on, provider))["state"] == STATE


async def test_rotated_keys_are_read_again_but_not_with_every_token(
    sign_on: OidcSignOn, provider: OidcProvider, clock: Clock
) -> None:
    await sign_in(sign_on, provider)
    provider.rotate()
    try:
        with pytest.raises(SignOnFailed):
            await sign_in(sign_on, provider)
        clock.ahead = timedelta(seconds=31)
        assert (await sign_in(sign_on, provider)).subject == "ann-1"
        assert provider.calls.count("/realm/keys") == 2
        provider.wrong = Misbehaviour(kid="made up")
        for _ in range(5):
            with pytest.raises(SignOnFailed):
                await sign_in(sign_on, provider)
        assert provider.calls.count("/realm/keys") == 2
    finally:
        provider.rotate()


async def test_a_code_is_taken_once_and_with_its_verifier_and_secret_only(
    sign_on: OidcSignOn, provider: OidcProvider, clock: Clock
) -> None:
    given = await back(sign_on, provider)
    await sign_on.claims(given["code"], VERIFIER, NONCE, None)
    for code, verifier in ((given["code"], VERIFIER), ((await back(sign_on, provider))["code"], "w" * 43)):
        with pytest.raises(SignOnFailed):
            await sign_on.claims(code, verifier, NONCE, None)
    other = OidcSignOn(settings(provider, client_secret="guessed"), clock)
    with pytest.raises(SignOnFailed):
        await sign_in(other, provider)
    await other.close()


@pytest.mark.parametrize("issuer", [None, "https://evil.example"])
async def test_a_code_of_another_issuer_is_not_handed_over(
    sign_on: OidcSignOn, provider: OidcProvider, issuer: str | None
) -> None:
    provider.wrong = Misbehaviour(sends_issuer=True)
    given = await back(sign_on, provider)
    assert given["iss"] == provider.issuer
    provider.calls.clear()
    with pytest.raises(SignOnFailed):
        await sign_on.claims(given["code"], VERIFIER, NONCE, issuer)
    assert "/realm/token" not in provider.calls
    assert (await sign_on.claims(given["code"], VERIFIER, NONCE, given["iss"])).subject == "ann-1"


OVERAGE: dict[str, dict[str, Any]] = {
    "named elsewhere": {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}},
    "named elsewhere, and some sent": {"_claim_names": {"groups": "src1"}, "groups": ["/admins"]},
    "too many for a browser": {"hasgroups": True},
    "thousands": {"groups": [f"/g{number}" for number in range(2_000)]},
}


@pytest.mark.parametrize("claims", OVERAGE.values(), ids=OVERAGE.keys())
async def test_groups_that_the_provider_left_out_are_none_and_the_log_says_what_to_change(
    sign_on: OidcSignOn, provider: OidcProvider, claims: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    provider.person = {"sub": "ann-1", **claims}
    with caplog.at_level(logging.WARNING):
        said = await sign_in(sign_on, provider)
    assert (said.groups, said.groups_left_out) == ((), True)
    assert "INTERLOCK_OIDC_GROUPS_CLAIM" in caplog.text


async def test_one_signs_out_of_the_provider_where_it_says(sign_on: OidcSignOn, provider: OidcProvider) -> None:
    address = await sign_on.end_address()
    assert address is not None
    assert address.startswith(f"{provider.issuer}/end?client_id={CLIENT_ID}&post_logout_redirect_uri=")


async def test_nothing_secret_reaches_the_log(
    sign_on: OidcSignOn, provider: OidcProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.wrong = Misbehaviour(claims={"nonce": "m" * 43})
    with caplog.at_level(logging.DEBUG):
        given = await back(sign_on, provider)
        for _ in range(2):
            with pytest.raises(SignOnFailed):
                await sign_on.claims(given["code"], VERIFIER, NONCE, None)
    written = caplog.text + json.dumps([repr(record.__dict__) for record in caplog.records])
    assert "single sign-on failed" in written
    for secret in (given["code"], VERIFIER, NONCE, CLIENT_SECRET, "eyJ"):
        assert secret not in written
    assert CLIENT_SECRET not in repr(settings(provider))
