"""`interlock backup` and `interlock restore`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, require_database
from interlock_client.cli._server import hidden_prompt

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.storage.backup_format import Manifest
    from interlock.storage.backup_reading import BackupFile
    from interlock.storage.database import Database as Opened

Target = Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")]
Source = Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `interlock backup`.")]
WithKey = Annotated[bool, typer.Option("--with-key", help="Include the master key, sealed with a passphrase.")]
PassphraseFile = Annotated[
    Path | None, typer.Option(help="A file whose first line is the passphrase. [default: prompt]")
]


def backup(
    file: Target,
    with_key: WithKey = False,
    passphrase_file: PassphraseFile = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Write a snapshot of the database to one file. Servers can keep running."""
    import asyncio

    from interlock.config import load
    from interlock.domain.errors import InvalidInput
    from interlock.storage.backup_format import check_passphrase

    if passphrase_file is not None and not with_key:
        raise InvalidInput("--passphrase-file is for --with-key: without it there is nothing to seal")
    config = load({"data": data, "database": database})
    require_database(config)
    passphrase = _passphrase(passphrase_file, twice=True) if with_key else None
    if passphrase is not None:
        check_passphrase(passphrase)
    manifest = asyncio.run(_backup(config, file, passphrase))
    typer.echo(f"{file}: {manifest.rows} rows of {len(manifest.parts)} tables")
    if passphrase is None:
        typer.echo("the master key is not in it: keep a copy of secret.key, or of INTERLOCK_SECRET_KEY, apart from it")


def restore(file: Source, passphrase_file: PassphraseFile = None, data: Data = None, database: Database = None) -> None:
    """Restore a backup into an empty database, SQLite or PostgreSQL. Stop all servers first."""
    import asyncio

    from interlock.config import load

    manifest, ended = asyncio.run(_restore(load({"data": data, "database": database}), file, passphrase_file))
    taken = f"{manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
    typer.echo(f"restored {manifest.rows} rows of {len(manifest.parts)} tables, as they were at {taken}")
    if ended:
        typer.echo(f"{ended} runs that were under way then were ended, and go on when a person says so")


async def _backup(config: "Config", file: Path, passphrase: str | None) -> "Manifest":
    from interlock import __version__
    from interlock.bootstrap import open_core
    from interlock.master_key import master_key
    from interlock.services.operations.backups import record_backup
    from interlock.storage.backup_writing import take_backup

    async with open_core(config) as (database, core):
        at = core.clock.now()
        manifest = await take_backup(database, master_key(config), file, __version__, at, passphrase)
        await record_backup(core, manifest.audit_record | {"with_key": passphrase is not None})
    return manifest


async def _restore(config: "Config", file: Path, passphrase_file: Path | None) -> "tuple[Manifest, int]":
    from contextlib import ExitStack

    from interlock.master_key import replace_master_key
    from interlock.storage.backup_reading import open_backup
    from interlock.storage.database import open_database, sqlite_file
    from interlock.storage.folder_lock import FolderLock

    with ExitStack() as stack:
        backup = stack.enter_context(open_backup(file))
        backup.check()
        key = _key(config, backup, passphrase_file)
        if (on_disk := sqlite_file(config.database_url)) is not None:
            lock = FolderLock(on_disk)
            lock.acquire()
            stack.callback(lock.release)
        if key is not None:
            stack.enter_context(replace_master_key(config, key))
        database = open_database(config.database_url)
        try:
            return backup.manifest, await _fill(config, database, backup)
        finally:
            await database.close()


async def _fill(config: "Config", database: "Opened", backup: "BackupFile") -> int:
    from interlock.master_key import master_key
    from interlock.ports.clock import SystemClock
    from interlock.services.operations.backups import settle_restored
    from interlock.storage.backup_restoring import restore
    from interlock.storage.store import SqlTransaction

    ended = 0

    async def then(tx: SqlTransaction) -> None:
        nonlocal ended
        at, manifest = SystemClock().now(), backup.manifest
        ended = await settle_restored(tx, manifest.taken_at, at, config.locale, manifest.audit_record)

    await restore(database, backup, master_key(config), then)
    return ended


def _key(config: "Config", backup: "BackupFile", passphrase_file: Path | None) -> bytes | None:
    """The master key out of the backup; where there is one here already, it is taken only if somebody asks for it."""
    from interlock.master_key import master_key

    is_wanted = backup.sealed_key is not None and master_key(config).current() is None
    if passphrase_file is None and not is_wanted:
        return None
    return backup.key(_passphrase(passphrase_file, twice=False))


def _passphrase(file: Path | None, *, twice: bool) -> str:
    import sys

    from interlock.domain.errors import InvalidInput

    if file is not None:
        try:
            return file.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{file} cannot be read: {error}") from error
    if not sys.stdin.isatty():
        raise InvalidInput("a passphrase is needed, and this is no terminal to ask at: name a --passphrase-file")
    return hidden_prompt("Passphrase", twice=twice)
