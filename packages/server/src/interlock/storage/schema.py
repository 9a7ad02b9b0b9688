"""The tables. Alembic's migrations build them; a test holds the two against each other."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    text,
)


def storable(value: str) -> str:
    """`value` without what no database takes as text: NUL, and halves of surrogate pairs."""
    if value.isascii():
        return value.replace("\0", "\ufffd")
    return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Words(TypeDecorator[str]):
    """Text that anybody may have written: an id out of an address, an error of a tool, a title."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class Moment(TypeDecorator[datetime]):
    """A moment in UTC. SQLite keeps no zone, so it is put back when read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Json(TypeDecorator[Any]):
    """JSON as plain ASCII text: unlike a database's own type it takes every character an agent may write."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=True, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

users = Table(
    "users",
    metadata,
    Column("id", Words, primary_key=True),
    Column("username", Words, nullable=False, unique=True),
    Column("password_hash", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("reviews", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("tokens_after", Moment, nullable=False),
)

threads = Table(
    "threads",
    metadata,
    Column("id", Words, primary_key=True),
    Column("owner_id", Words, nullable=False),
    Column("agent", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("lease_worker", Words),
    Column("lease_run", Words),
    Column("lease_until", Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("ix_threads_owner", "owner_id", "updated_at"),
    Index(
        "ix_threads_lease",
        "lease_until",
        sqlite_where=text("lease_worker IS NOT NULL"),
        postgresql_where=text("lease_worker IS NOT NULL"),
    ),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Words, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("thread_id", Words, nullable=False),
    Column("cause", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("input", Json, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("started_seq", BigInteger, nullable=False),
    Column("stop_reason", Words),
    Column("detached", Boolean, nullable=False),
    Column("error", Words),
    Column("created_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Index("ix_runs_thread", "thread_id", "number"),
    Index(
        "ix_runs_queued",
        "created_at",
        sqlite_where=text("status = 'queued'"),
        postgresql_where=text("status = 'queued'"),
    ),
    Index(
        "uq_runs_active",
        "thread_id",
        unique=True,
        sqlite_where=text("status IN ('queued', 'running')"),
        postgresql_where=text("status IN ('queued', 'running')"),
    ),
)

pauses = Table(
    "pauses",
    metadata,
    Column("id", Words, primary_key=True),
    Column("thread_id", Words, nullable=False),
    Column("run_id", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("origin", Words, nullable=False),
    Column("node", Words, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("changed_at", Moment),
    Index("ix_pauses_thread", "thread_id", "status", "seq"),
)

requests = Table(
    "requests",
    metadata,
    Column("id", Words, primary_key=True),
    Column("pause_id", Words, nullable=False),
    Column("thread_id", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("position", Integer, nullable=False),
    Column("body", Json, nullable=False),
    Column("interrupt_id", Words),
    Column("form", Json, nullable=False),
    Column("call_id", Words),
    Column("message_id", Words),
    Column("digest", Words),
    Column("timeout_seconds", Float),
    Column("deadline", Moment),
    Column("created_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Index("ix_requests_pause", "pause_id", "position"),
    Index(
        "ix_requests_deadline",
        "deadline",
        sqlite_where=text("status = 'pending' AND deadline IS NOT NULL"),
        postgresql_where=text("status = 'pending' AND deadline IS NOT NULL"),
    ),
)

answers = Table(
    "answers",
    metadata,
    Column("request_id", Words, primary_key=True),
    Column("value", Json, nullable=False),
    Column("by_id", Words, nullable=False),
    Column("by_name", Words, nullable=False),
    Column("source", Words, nullable=False),
    Column("origin", Words, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("at", Moment, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("type", Words, nullable=False),
    Column("data", Json, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("thread_id", "seq"),
)

effects = Table(
    "effects",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("task_id", Words, nullable=False),
    Column("call_id", Words, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("run_id", Words, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("tool", Words, nullable=False),
    Column("args", Json, nullable=False),
    Column("digest", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("idempotent", Boolean, nullable=False),
    Column("asks", Integer, nullable=False),
    Column("result", LargeBinary),
    Column("parent_task_id", Words),
    Column("parent_call_id", Words),
    Column("error", Words),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("thread_id", "task_id", "call_id"),
    Index("ix_effects_order", "thread_id", "number"),
    Index("ix_effects_open", "thread_id", "state"),
)

audit = Table(
    "audit",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("at", Moment, nullable=False),
    Column("actor_id", Words, nullable=False),
    Column("actor_name", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("data", Json, nullable=False),
    Column("hash", Words, nullable=False),
    PrimaryKeyConstraint("thread_id", "number"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("handle", Words, primary_key=True),
    Column("thread_id", Words, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("request_id", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_secrets_thread", "thread_id", "number"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("ns", Words, nullable=False),
    Column("id", Words, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("parent_id", Words),
    Column("run_id", Words),
    Column("type", Words, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("metadata", Json, nullable=False),
    PrimaryKeyConstraint("thread_id", "ns", "id"),
    Index("ix_checkpoints_order", "thread_id", "ns", "seq"),
)

checkpoint_blobs = Table(
    "checkpoint_blobs",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("ns", Words, nullable=False),
    Column("channel", Words, nullable=False),
    Column("version", Words, nullable=False),
    Column("type", Words, nullable=False),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("thread_id", "ns", "channel", "version"),
)

checkpoint_writes = Table(
    "checkpoint_writes",
    metadata,
    Column("thread_id", Words, nullable=False),
    Column("ns", Words, nullable=False),
    Column("checkpoint_id", Words, nullable=False),
    Column("task_id", Words, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("task_path", Words, nullable=False),
    Column("channel", Words, nullable=False),
    Column("type", Words, nullable=False),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("thread_id", "ns", "checkpoint_id", "task_id", "idx"),
)
