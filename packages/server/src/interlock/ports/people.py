"""Repositories about people: their accounts, and where they are signed in."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.principal import Role, User
from interlock.domain.sign_in import SignIn


class Users(Protocol):
    async def add(self, user: User) -> None:
        """Add a user; `Conflict` when the name is taken (names are compared exactly)."""
        ...

    async def get(self, user_id: str) -> User | None:
        """Also one who is gone."""
        ...

    async def lock(self, user_id: str) -> User | None:
        """The same; until the transaction ends nobody else changes the password, the role or the access of theirs."""
        ...

    async def by_name(self, username: str) -> User | None: ...

    async def all(self) -> list[User]: ...

    async def names(self) -> list[str]: ...

    async def names_of(self, user_ids: Collection[str]) -> dict[str, str]: ...

    async def count(self) -> int: ...

    async def alone(self) -> None:
        """Keep everybody else from adding users, and from changing who is an admin, until the transaction ends."""
        ...

    async def set_password(self, user_id: str, password_hash: str, tokens_after: datetime) -> int:
        """Change the password, and end every token, as `end_tokens` does."""
        ...

    async def set_role(self, user_id: str, role: Role, reviews: Sequence[str]) -> None: ...

    async def count_admins(self) -> int:
        """Of those who may sign in."""
        ...

    async def set_disabled(self, user_id: str, at: datetime | None) -> None:
        """Keep them out from then on, or with None let them in again."""
        ...

    async def delete(self, user_id: str, at: datetime) -> None:
        """They are gone, and have no password; the row keeps the name. What they left is to be cleared."""
        ...

    async def to_clear(self) -> list[tuple[User, datetime]]:
        """Who is gone and may have left something that runs or waits, with since when they are."""
        ...

    async def mark_cleared(self, user_id: str, at: datetime) -> None: ...

    async def by_token(self, user_id: str, issued_at: datetime, key: int) -> User | None:
        """Whose token of that moment it is; None once it was ended: by itself, a new password, or with its key."""
        ...

    async def end_tokens(self, user_id: str, tokens_after: datetime, *, but: datetime | None = None) -> int:
        """End every token issued before that, and every sign-in that is listed, but for the one issued at `but`; how
        many of those there were."""
        ...

    async def end_token(self, user_id: str, issued_at: datetime, expires_at: datetime, now: datetime) -> None:
        """End one token; that is kept for as long as it would have held. What has expired by now is swept away."""
        ...


class SignIns(Protocol):
    """What is listed of people's tokens. Whether one holds is for `Users.by_token` to say."""

    async def add(self, sign_in: SignIn) -> None:
        """List one; or, where its token is listed already, note that it was used."""
        ...

    async def get(self, sign_in_id: str) -> SignIn | None: ...

    async def of_token(self, user_id: str, issued_at: datetime) -> SignIn | None: ...

    async def of_identity(self, user_id: str, identity_id: str) -> list[SignIn]:
        """Those of theirs that were opened through single sign-on with this identity."""
        ...

    async def page(self, user_id: str, now: datetime, limit: int) -> tuple[list[SignIn], int]:
        """Those whose tokens hold, the last used first, and how many there are."""
        ...

    async def purge(self, before: datetime) -> None:
        """Drop those that expired before then."""
        ...
