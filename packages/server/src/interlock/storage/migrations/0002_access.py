"""Keys, grants, saved values, webhooks; and the columns by which pending requests are listed."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_PENDING = sa.text("status = 'pending'")


def upgrade() -> None:
    _threads()
    _pauses()
    _requests()
    _fill_requests()
    _audit_heads()
    _server_keys()
    _api_keys()
    _tickets()
    _grants()
    _saved_secrets()
    _replies()
    _webhooks()
    _deliveries()


def _threads() -> None:
    op.add_column("threads", sa.Column("asker_id", sa.Text()))
    op.add_column("threads", sa.Column("face", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_threads_face", "threads", ["face", "owner_id"])


def _pauses() -> None:
    op.add_column("pauses", sa.Column("opened_seq", sa.BigInteger()))


def _requests() -> None:
    for name in ("definition", "toolset"):
        op.add_column("requests", sa.Column(name, sa.Text()))
    op.add_column("requests", sa.Column("warn_at", sa.DateTime(timezone=True)))
    for name in ("owner_id", "agent", "risk", "tool"):
        op.add_column("requests", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_requests_settled", "requests", ["settled_at", "id"])
    op.create_index("ix_requests_settled_owner", "requests", ["owner_id", "settled_at", "id"])
    warned = sa.text("status = 'pending' AND warn_at IS NOT NULL")
    op.create_index("ix_requests_warn", "requests", ["warn_at"], sqlite_where=warned, postgresql_where=warned)
    for name, columns in {"all": (), "owner": ("owner_id",), "agent": ("agent",)}.items():
        op.create_index(
            f"ix_requests_pending_{name}",
            "requests",
            [*columns, "created_at", "id"],
            sqlite_where=_PENDING,
            postgresql_where=_PENDING,
        )


def _fill_requests() -> None:
    """Requests of before know their thread's owner and agent from now on."""
    for column in ("owner_id", "agent"):
        found = f"(SELECT threads.{column} FROM threads WHERE threads.id = requests.thread_id)"
        op.execute(sa.text(f"UPDATE requests SET {column} = COALESCE({found}, '')"))
    connection = op.get_bind()
    asked = connection.execute(sa.text("SELECT id, body FROM requests WHERE kind = 'approval'")).all()
    for row in asked:
        body = json.loads(row.body)
        values = {"risk": body.get("risk_level", ""), "tool": body.get("tool_name", ""), "id": row.id}
        connection.execute(sa.text("UPDATE requests SET risk = :risk, tool = :tool WHERE id = :id"), values)


def _audit_heads() -> None:
    op.create_index("ix_audit_at", "audit", ["at", "thread_id", "number"])
    op.create_table(
        "audit_heads",
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("mac", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("thread_id", name="pk_audit_heads"),
    )


def _server_keys() -> None:
    op.create_table(
        "server_keys",
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("purpose", "id", name="pk_server_keys"),
    )


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text()),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("hash", name="uq_api_keys_hash"),
    )
    op.create_index("ix_api_keys_owner", "api_keys", ["owner_id", "created_at"])


def _tickets() -> None:
    op.create_table(
        "tickets",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text()),
        sa.Column("key_id", sa.Text()),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_tickets"),
    )
    op.create_index("ix_tickets_expires", "tickets", ["expires_at"])


def _grants() -> None:
    op.create_table(
        "grants",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text()),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text()),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("action", sa.Text()),
        sa.Column("allow", sa.Boolean(), nullable=False),
        sa.Column("by_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_by", sa.Text()),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_grants"),
    )
    live = sa.text("revoked_at IS NULL")
    op.create_index("ix_grants_live", "grants", ["owner_id", "agent"], sqlite_where=live, postgresql_where=live)


def _saved_secrets() -> None:
    op.create_table(
        "saved_secrets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_saved_secrets"),
        sa.UniqueConstraint("owner_id", "agent", "name", name="uq_saved_secrets_owner_id_agent_name"),
    )


def _replies() -> None:
    op.create_table(
        "replies",
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body_hash", sa.Text(), nullable=False),
        sa.Column("reply", sa.LargeBinary()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("principal_id", "operation", "key", name="pk_replies"),
    )
    op.create_index("ix_replies_created", "replies", ["created_at"])


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("agents", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("webhook_id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("last_status", sa.Integer()),
        sa.Column("last_error", sa.Text()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    waiting = sa.text("status = 'waiting'")
    op.create_index("ix_deliveries_due", "deliveries", ["due_at"], sqlite_where=waiting, postgresql_where=waiting)
    op.create_index("ix_deliveries_webhook", "deliveries", ["webhook_id", "created_at", "id"])
