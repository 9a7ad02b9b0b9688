"""Bring a database up to date. Servers that start at the same moment wait for each other here."""

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from alembic.script.revision import RevisionError
from sqlalchemy import Connection, text

from interlock.domain.errors import StorageUnavailable
from interlock.storage.database import Database

_STEPS = Path(__file__).parent / "migrations"
_LOCK = 0x696E7465726C6F63  # "interloc", so that no other program's lock is meant


async def migrate(database: Database) -> list[str]:
    """Apply what is missing, all of it or nothing; returns the revisions that were applied."""
    async with database.write() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        return await connection.run_sync(_apply)


async def is_current(database: Database) -> bool:
    async with database.read() as connection:
        return await connection.run_sync(_is_current)


def _directory() -> ScriptDirectory:
    return ScriptDirectory(str(_STEPS), version_locations=[str(_STEPS)])


def _apply(connection: Connection) -> list[str]:
    directory = _directory()
    context = MigrationContext.configure(connection)
    current = context.get_current_revision()
    try:
        missing = list(directory.iterate_revisions("head", current or "base"))
    except RevisionError as error:
        raise StorageUnavailable(
            f"the database is of a newer version: it is at {current!r}", revision=current
        ) from error
    applied: list[str] = []
    for step in reversed(missing):
        with Operations.context(context):
            step.module.upgrade()
        context.stamp(directory, step.revision)
        applied.append(step.revision)
    return applied


def _is_current(connection: Connection) -> bool:
    return set(MigrationContext.configure(connection).get_current_heads()) == set(_directory().get_heads())
