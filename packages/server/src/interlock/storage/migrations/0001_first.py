"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _users()
    _threads()
    _runs()
    _pauses()
    _requests()
    _answers()
    _events()
    _effects()
    _audit()
    _secrets()
    _checkpoints()
    _checkpoint_blobs()
    _checkpoint_writes()


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("reviews", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tokens_after", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("username", name="uq_users_username"),
    )


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("lease_worker", sa.Text()),
        sa.Column("lease_run", sa.Text()),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
    )
    where = sa.text("lease_worker IS NOT NULL")
    op.create_index("ix_threads_lease", "threads", ["lease_until"], sqlite_where=where, postgresql_where=where)
    op.create_index("ix_threads_owner", "threads", ["owner_id", "updated_at"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_seq", sa.BigInteger(), nullable=False),
        sa.Column("stop_reason", sa.Text()),
        sa.Column("detached", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    where = sa.text("status = 'queued'")
    op.create_index("ix_runs_queued", "runs", ["created_at"], sqlite_where=where, postgresql_where=where)
    op.create_index("ix_runs_thread", "runs", ["thread_id", "number"])
    where = sa.text("status IN ('queued', 'running')")
    op.create_index("uq_runs_active", "runs", ["thread_id"], unique=True, sqlite_where=where, postgresql_where=where)


def _pauses() -> None:
    op.create_table(
        "pauses",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_pauses"),
    )
    op.create_index("ix_pauses_thread", "pauses", ["thread_id", "status", "seq"])


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pause_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("interrupt_id", sa.Text()),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text()),
        sa.Column("message_id", sa.Text()),
        sa.Column("digest", sa.Text()),
        sa.Column("timeout_seconds", sa.Float()),
        sa.Column("deadline", sa.DateTime(timezone=True)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_requests"),
    )
    where = sa.text("status = 'pending' AND deadline IS NOT NULL")
    op.create_index("ix_requests_deadline", "requests", ["deadline"], sqlite_where=where, postgresql_where=where)
    op.create_index("ix_requests_pause", "requests", ["pause_id", "position"])


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("by_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("request_id", name="pk_answers"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "seq", name="pk_events"),
    )


def _effects() -> None:
    op.create_table(
        "effects",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("args", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("idempotent", sa.Boolean(), nullable=False),
        sa.Column("asks", sa.Integer(), nullable=False),
        sa.Column("result", sa.LargeBinary()),
        sa.Column("parent_task_id", sa.Text()),
        sa.Column("parent_call_id", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "task_id", "call_id", name="pk_effects"),
    )
    op.create_index("ix_effects_open", "effects", ["thread_id", "state"])
    op.create_index("ix_effects_order", "effects", ["thread_id", "number"])


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "number", name="pk_audit"),
    )


def _secrets() -> None:
    op.create_table(
        "secrets",
        sa.Column("handle", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("handle", name="pk_secrets"),
    )
    op.create_index("ix_secrets_thread", "secrets", ["thread_id", "number"])


def _checkpoints() -> None:
    op.create_table(
        "checkpoints",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("ns", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.Text()),
        sa.Column("run_id", sa.Text()),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", "ns", "id", name="pk_checkpoints"),
    )
    op.create_index("ix_checkpoints_order", "checkpoints", ["thread_id", "ns", "seq"])


def _checkpoint_blobs() -> None:
    op.create_table(
        "checkpoint_blobs",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("ns", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("thread_id", "ns", "channel", "version", name="pk_checkpoint_blobs"),
    )


def _checkpoint_writes() -> None:
    op.create_table(
        "checkpoint_writes",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("ns", sa.Text(), nullable=False),
        sa.Column("checkpoint_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("idx", sa.Integer(), nullable=False),
        sa.Column("task_path", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("thread_id", "ns", "checkpoint_id", "task_id", "idx", name="pk_checkpoint_writes"),
    )
