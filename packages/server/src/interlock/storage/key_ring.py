"""The server's own keys. They are in the database, sealed under the master key, so that the master key can be changed.

The newest "secrets" key seals; those before it still open. The one "tokens" key signs, and what those before it signed
holds no more. "audit" stays what it is, since what it signed has to be checked later; "replies" hashes what callers
sent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Row, RowMapping, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection
from typing_extensions import override

from interlock.domain.errors import InvalidInput, StorageUnavailable, Unreadable
from interlock.ports.access import EVERYBODY
from interlock.storage.access import SqlAccess
from interlock.storage.audit import chain_hash
from interlock.storage.database import Database
from interlock.storage.schema import audit, server_keys
from interlock.storage.sealing import FIRST, KEY_BYTES, Sealer, decrypt, derive, encrypt

SECRETS = "secrets"
TOKENS = "tokens"
_OTHERS = ("audit", "replies")
_DERIVED = FIRST
"""The number of the tokens key that earlier versions derived of the first master key, and never changed."""
_VERSION = b"\x01"
_LOCK = 0x696E7465726C6B72
"""The number of an advisory lock; any will do that nobody else uses."""

_ALL = select(server_keys).order_by(server_keys.c.purpose, server_keys.c.id)
# A key that somebody seals with is not dropped before that is committed. Nobody waits for anybody here: what a rotation
# is about to drop is skipped, and it never drops the newest.
_KEY_ROWS = (
    select(server_keys.c.id)
    .where(server_keys.c.purpose == SECRETS)
    .with_for_update(read=True, key_share=True, skip_locked=True)
)
_NEWEST_OF_TOKENS = select(func.max(server_keys.c.id)).where(server_keys.c.purpose == TOKENS)
_FIRST_ENTRIES = select(audit).where(audit.c.number == FIRST).limit(20)

Keys = Mapping[tuple[str, int], bytes]
"""By purpose and number."""


class MasterKey(Protocol):
    """Where the master key is kept. Only whoever has called `lock` writes it."""

    def current(self) -> bytes | None:
        """The key as it is now; None when none was made yet."""
        ...

    def pending(self) -> bytes | None:
        """The key of a rotation that may or may not have been committed."""
        ...

    def make(self) -> bytes:
        """The first key, durably kept."""
        ...

    def prepare(self) -> bytes:
        """The key after this one, durably kept as the coming one."""
        ...

    def promote(self) -> None:
        """The coming key is the one that counts."""
        ...

    def discard(self) -> None:
        """The coming key, if there is one, was never used."""
        ...

    def advice(self) -> str:
        """That the key is not the right one, and what to do about it."""
        ...


@dataclass(frozen=True, slots=True)
class OpenKeyRing:
    """The keys of a database, and the master key that opened them."""

    master: bytes = field(repr=False)
    keys: Keys = field(repr=False)

    @property
    def secrets(self) -> dict[int, bytes]:
        return {number: key for (purpose, number), key in self.keys.items() if purpose == SECRETS}

    @property
    def tokens(self) -> dict[int, bytes]:
        return {number: key for (purpose, number), key in self.keys.items() if purpose == TOKENS}

    @property
    def audit(self) -> bytes:
        return self.keys["audit", FIRST]


class KeyRing(Sealer):
    """The keys as a server holds them, and a sealer that follows rotations made by other processes."""

    def __init__(self, master: MasterKey, opened: OpenKeyRing) -> None:
        super().__init__(opened.secrets)
        self._master = master
        self.audit, self.replies = (opened.keys[purpose, FIRST] for purpose in _OTHERS)
        self.tokens = opened.tokens

    @override
    async def ready(self, connection: AsyncConnection) -> None:
        numbers = {_number(row) for row in (await connection.execute(_KEY_ROWS)).all()}
        if max(numbers, default=0) == self.newest:
            return
        try:
            await self.reload(connection)
        except Unreadable:
            # A server whose environment has the old master key may go on until the next rotation.
            if self.newest not in numbers:
                raise

    @override
    async def reload(self, connection: AsyncConnection) -> None:
        try:
            opened = await unlock(connection, self._master)
        except InvalidInput as error:
            raise Unreadable(f"a secret cannot be opened: {error.message}") from error
        self.use(opened.secrets)
        self.tokens = opened.tokens


async def open_ring(database: Database, master: MasterKey, at: datetime) -> KeyRing:
    """The ring of this database, made when it has none; `InvalidInput` when the master key is not the right one."""
    async with database.write() as connection:
        await lock(connection)
        return KeyRing(master, await load(connection, master, at))


async def lock(connection: AsyncConnection) -> None:
    """Nobody else makes, rotates or settles keys until this transaction ends."""
    # SQLite has one writer at a time anyway.
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


async def load(connection: AsyncConnection, master: MasterKey, at: datetime) -> OpenKeyRing:
    """The keys, for whoever is alone with them; what a rotation that died left of the master key is settled."""
    rows = (await connection.execute(_ALL)).all()
    if not rows:
        return await _create(connection, master, at)
    found = _unlock(rows, master)
    if found.master == master.current():
        master.discard()
    else:
        master.promote()
    return await renew_tokens(connection, found, at) if _DERIVED in found.tokens else found


async def unlock(connection: AsyncConnection, master: MasterKey) -> OpenKeyRing:
    """The keys as they are, of which nothing is made or settled; `InvalidInput` when the master key is another."""
    return _unlock((await connection.execute(_ALL)).all(), master)


async def _create(connection: AsyncConnection, master: MasterKey, at: datetime) -> OpenKeyRing:
    """The first keys: those that a database without a ring was used with, so that what they signed still holds."""
    present = master.current()
    entries = (await connection.execute(_FIRST_ENTRIES)).mappings().all()
    if not _were_signed_with(present, entries):
        raise InvalidInput(master.advice())
    key = present or master.make()
    keys: Keys = {
        (SECRETS, FIRST): derive(key, SECRETS),
        # Whoever knew the first master key would know a derived one for good: only where entries need it.
        ("audit", FIRST): derive(key, "audit") if entries else random_key(),
        ("replies", FIRST): random_key(),
        (TOKENS, _DERIVED + 1): random_key(),
    }
    rows = [row_of(key, purpose, number, one, at) for (purpose, number), one in keys.items()]
    await connection.execute(insert(server_keys), rows)
    return OpenKeyRing(key, keys)


async def renew_tokens(connection: AsyncConnection, before: OpenKeyRing, at: datetime) -> OpenKeyRing:
    """The ring with a new key for tokens, for whoever is alone with it. What was signed until now holds no more."""
    number, key = max(before.tokens) + 1, random_key()
    await connection.execute(delete(server_keys).where(server_keys.c.purpose == TOKENS))
    await connection.execute(insert(server_keys), row_of(before.master, TOKENS, number, key, at))
    # Whoever follows a stream with such a token is looked up again.
    await SqlAccess(connection).record_change(EVERYBODY)
    rest = {name: kept for name, kept in before.keys.items() if name[0] != TOKENS}
    return OpenKeyRing(before.master, {**rest, (TOKENS, number): key})


def _were_signed_with(master: bytes | None, entries: Sequence[RowMapping]) -> bool:
    """Whether the database was used with this key: one entry that it signed is enough, and so is none at all."""
    if master is None or not entries:
        return not entries
    key = derive(master, "audit")
    plain = [{name: value for name, value in entry.items() if name != "hash"} for entry in entries]
    return any(entry["hash"] == chain_hash(key, "", rest) for entry, rest in zip(entries, plain, strict=True))


def row_of(master: bytes, purpose: str, number: int, key: bytes, at: datetime) -> dict[str, Any]:
    identity = key_id(number)
    sealed = _VERSION + encrypt(_cipher(master), key, _bind(purpose, identity))
    return {"purpose": purpose, "id": identity, "sealed": sealed, "created_at": at}


def random_key() -> bytes:
    return AESGCM.generate_key(bit_length=KEY_BYTES * 8)


def key_id(number: int) -> str:
    """As the table has it."""
    return f"{number:08x}"


def _number(row: Row[Any]) -> int:
    return int(row.id, 16)


def _cipher(master: bytes) -> AESGCM:
    return AESGCM(derive(master, "ring"))


def _bind(purpose: str, identity: str) -> bytes:
    return _VERSION + f"{purpose}/{identity}".encode()


def _unlock(rows: Sequence[Row[Any]], master: MasterKey) -> OpenKeyRing:
    for candidate in _candidates(master):
        keys = _open_keys(candidate, rows)
        if keys:
            return _complete(OpenKeyRing(candidate, keys), len(rows))
    raise InvalidInput(master.advice())


def _candidates(master: MasterKey) -> Iterator[bytes]:
    """Read one by one, and the present one twice: the coming one may take its place between two looks."""
    looks: tuple[Callable[[], bytes | None], ...] = (master.current, master.pending, master.current)
    for look in looks:
        key = look()
        if key is not None:
            yield key


def _open_keys(master: bytes, rows: Sequence[Row[Any]]) -> dict[tuple[str, int], bytes]:
    cipher = _cipher(master)
    keys: dict[tuple[str, int], bytes] = {}
    for row in rows:
        try:
            keys[row.purpose, _number(row)] = decrypt(cipher, bytes(row.sealed)[1:], _bind(row.purpose, row.id))
        except (InvalidTag, ValueError):
            continue
    return keys


def _complete(found: OpenKeyRing, expected: int) -> OpenKeyRing:
    lacking = [purpose for purpose in _OTHERS if (purpose, FIRST) not in found.keys]
    if lacking or not found.secrets or not found.tokens or len(found.keys) != expected:
        raise InvalidInput(
            "the table server_keys was changed: the master key is right, but not every key in it opens. Restore the "
            "database from a backup"
        )
    return found


class RingTokenKeys:
    """The keys behind people's tokens: those of the ring, and of the database where another process changed them."""

    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring

    async def newest(self) -> tuple[int, bytes]:
        async with self._database.read() as connection:
            if await connection.scalar(_NEWEST_OF_TOKENS) != key_id(max(self._ring.tokens)):
                await self._reload(connection)
        number = max(self._ring.tokens)
        return number, self._ring.tokens[number]

    async def get(self, number: int) -> bytes | None:
        # Numbers only grow: an older one that is not here was retired, and the database need not be asked.
        if number > max(self._ring.tokens):
            async with self._database.read() as connection:
                await self._reload(connection)
        return self._ring.tokens.get(number)

    async def _reload(self, connection: AsyncConnection) -> None:
        try:
            await self._ring.reload(connection)
        except Unreadable as error:
            raise StorageUnavailable(
                "the keys were rotated, and this server has the old master key: nobody can sign in here until it has "
                "the new one"
            ) from error
