"""The store on SQLAlchemy Core: SQLite by default, PostgreSQL at scale, one schema and one set of repositories."""
