"""Tables by which servers and workers know of each other."""

from sqlalchemy import BigInteger, Column, Integer, Table

from interlock.storage._columns import Json, Moment, SafeText, metadata

marks = Table(
    "marks",
    metadata,
    Column("name", SafeText, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

unfollowed = Table(
    "unfollowed",
    metadata,
    Column("thread_id", SafeText, primary_key=True),
    Column("mark", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("node", SafeText, nullable=False),
    Column("kind", SafeText, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("capacity", Integer, nullable=False),
    Column("running", Integer, nullable=False),
    Column("measured", Json, nullable=False),
)
