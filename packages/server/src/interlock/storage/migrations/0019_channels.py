"""Channels: ways out to people, whose addresses are proven, and the notices that go over them."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _channels()
    _people()
    _notices()
    _taps()


def _channels() -> None:
    op.create_table(
        "channels",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("shows", sa.Text(), nullable=False),
        sa.Column("ceiling", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("removed_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_channels"),
    )


def _people() -> None:
    op.create_table(
        "addresses",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("linked_at", _MOMENT, nullable=False),
        sa.Column("off_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_addresses"),
        sa.UniqueConstraint("channel_id", "external_id", name="uq_addresses_channel_id_external_id"),
    )
    op.create_index("ix_addresses_user", "addresses", ["user_id", "channel_id"])
    op.create_table(
        "link_codes",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text()),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("made_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "channel_id", name="pk_link_codes"),
    )
    op.create_table(
        "preferences",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("wanted", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_preferences"),
    )


def _notices() -> None:
    op.create_table(
        "notices",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("address_id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("due_at", _MOMENT),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("ref", sa.Text()),
        sa.Column("ending", sa.Text()),
        sa.Column("last_error", sa.Text()),
        sa.Column("sent_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.UniqueConstraint("request_id", "address_id", name="uq_notices_request_id_address_id"),
    )
    _add_partial_index("ix_notices_due", ["due_at"], "due_at IS NOT NULL")
    _add_partial_index("ix_notices_open", ["request_id"], "ending IS NULL AND status IN ('waiting', 'sent')")
    op.create_index("ix_notices_channel", "notices", ["channel_id", "created_at", "id"])


def _add_partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "notices", columns, sqlite_where=where, postgresql_where=where)


def _taps() -> None:
    op.create_table(
        "notice_tokens",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("notice_id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("ends_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_notice_tokens"),
    )
    op.create_index("ix_notice_tokens_ends", "notice_tokens", ["ends_at"])
    op.create_table(
        "taps",
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("channel_id", "event_id", name="pk_taps"),
    )
    op.create_index("ix_taps_at", "taps", ["at"])
