"""Single sign-on: a provider that says who somebody is, and what is kept of it."""

from datetime import datetime
from typing import Protocol

from interlock.domain.sign_on import Identity, SignOnClaims


class SignOn(Protocol):
    """A provider that the operator named. `SignOnFailed` where it cannot be reached, or says what cannot be taken."""

    @property
    def name(self) -> str:
        """What people know it by."""
        ...

    @property
    def issuer(self) -> str: ...

    async def address(self, state: str, nonce: str, challenge: str) -> str:
        """Where a browser goes to sign in; it comes back with the state and a code."""
        ...

    async def claims(self, code: str, verifier: str, nonce: str, issuer: str | None) -> SignOnClaims:
        """Whose the code is. Everything in the answer has been verified: by whom and for whom it was made, when, and
        for this attempt. `issuer` is what came back with the code, where the provider sends one."""
        ...

    async def end_address(self) -> str | None:
        """Where a browser goes to sign out of the provider too, where it has such a place and can be reached."""
        ...


class Identities(Protocol):
    async def add(self, identity: Identity) -> bool:
        """False where the subject of that issuer belongs to an account already, whose ever that is."""
        ...

    async def get(self, identity_id: str) -> Identity | None: ...

    async def of_subject(self, issuer: str, subject: str) -> Identity | None: ...

    async def of_user(self, user_id: str) -> list[Identity]: ...

    async def all(self) -> list[Identity]: ...

    async def renew(self, identity: Identity) -> None:
        """Replace what its last sign-in said: label, groups, and when that was."""
        ...

    async def remove(self, identity_id: str) -> None: ...

    async def forget_of(self, user_id: str) -> None:
        """Keep nothing of what was said of somebody who is gone; issuer and subject stay theirs."""
        ...

    async def use_state(self, state: str, expires_at: datetime) -> bool:
        """Use up the state of one attempt: True for the first caller, False for all others."""
        ...

    async def purge_states(self, before: datetime) -> None: ...
