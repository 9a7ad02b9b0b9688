"""Bring a database up to date. Servers that start at the same moment wait for each other here."""

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.errors import StorageUnavailable
from interlock.storage.database import Database

_STEPS = Path(__file__).parent / "migrations"
_LOCK = 0x696E7465726C6F63  # "interloc", so that no other program's lock is meant
_LOCK_NOT_AVAILABLE = "55P03"
TABLE_SECONDS = 5


async def migrate(database: Database) -> list[str]:
    """Apply what is missing, all of it or nothing; returns the revisions that were applied."""
    async with database.write() as connection:
        await lock_schema(connection)
        await _wait_for_tables_briefly(connection)
        try:
            return await connection.run_sync(apply)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            raise StorageUnavailable(
                f"a table is in use for more than {TABLE_SECONDS} s, as by a backup; nothing was changed, try it later"
            ) from error


async def _wait_for_tables_briefly(connection: AsyncConnection) -> None:
    """Whoever comes after a migration that waits for a table waits as well, readers too."""
    if connection.dialect.name == "postgresql":
        await connection.execute(text(f"SET LOCAL lock_timeout = '{TABLE_SECONDS}s'"))


async def lock_schema(connection: AsyncConnection) -> None:
    """Nobody else changes the tables until this transaction ends."""
    # SQLite has one writer at a time anyway.
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


async def is_current(database: Database) -> bool:
    async with database.read() as connection:
        return await connection.run_sync(_is_current)


def _directory() -> ScriptDirectory:
    return ScriptDirectory(str(_STEPS), version_locations=[str(_STEPS)])


def is_known(revision: str) -> bool:
    """Whether there is such a revision in this version."""
    return revision in {step.revision for step in _directory().walk_revisions()}


def revision_of(connection: Connection) -> str | None:
    """What the database is at; None when it was never migrated."""
    return MigrationContext.configure(connection).get_current_revision()


def apply(connection: Connection, until: str = "head") -> list[str]:
    """For whoever is alone with the schema: apply what is missing, up to that revision."""
    directory = _directory()
    context = MigrationContext.configure(connection)
    current = context.get_current_revision()
    try:
        missing = list(directory.iterate_revisions(until, current or "base"))
    except RevisionError as error:
        raise StorageUnavailable(f"the database is of a newer version: it is at {current!r}") from error
    applied: list[str] = []
    for step in reversed(missing):
        with Operations.context(context):
            step.module.upgrade()
        context.stamp(directory, step.revision)
        applied.append(step.revision)
    return applied


def _is_current(connection: Connection) -> bool:
    return set(MigrationContext.configure(connection).get_current_heads()) == set(_directory().get_heads())
