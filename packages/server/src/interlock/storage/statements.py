"""Statements that are used again and again, executed without SQLAlchemy's machinery around each call.

SQLAlchemy writes the SQL and knows how each type goes in and comes out; both are asked once. What is left of a call is
the driver's own work, which is a tenth of the whole for the small statements that make up a run.
"""

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Column, Dialect, Float, Numeric, TextClause
from sqlalchemy.sql.compiler import SQLCompiler

_Key = tuple[int, tuple[str, ...]]
Processor = Callable[[Any], Any] | None
Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]
REMEMBERED = 1_000
_DOUBLE = 701
"""PostgreSQL's number of the type that columns of floats have; the other types do not look at it."""


class Rows:
    """What the repositories use of a SQLAlchemy result."""

    def __init__(self, rows: list[Any], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> list[Any]:
        return self._rows

    def first(self) -> Any:
        return self._rows[0] if self._rows else None

    def one_or_none(self) -> Any:
        assert len(self._rows) <= 1, "one row at the most was expected"
        return self.first()

    def one(self) -> Any:
        (row,) = self._rows
        return row

    def mappings(self) -> "Rows":
        return Rows([row._asdict() for row in self._rows], self.rowcount)

    def scalar(self) -> Any:
        return self._rows[0][0] if self._rows else None

    scalar_one = scalar

    def scalars(self) -> "Rows":
        return Rows([row[0] for row in self._rows], self.rowcount)


@dataclass(frozen=True, slots=True)
class _Bind:
    name: str
    """In the SQL."""
    key: str
    is_given: bool
    default: Any
    processor: Processor

    def value(self, parameters: Mapping[str, Any]) -> Any:
        value = parameters[self.key] if self.is_given else self.default
        return value if self.processor is None else self.processor(value)


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    sql: str
    binds: tuple[_Bind, ...]
    make_row: Callable[..., Any]
    processors: tuple[tuple[int, Callable[[Any], Any]], ...]

    def run(self, raw: sqlite3.Connection, parameters: Parameters) -> Rows:
        if isinstance(parameters, Mapping):
            cursor = raw.execute(self.sql, self._values(parameters))
            rows = [self.row(row) for row in cursor.fetchall()] if cursor.description else []
            return Rows(rows, cursor.rowcount)
        return Rows([], raw.executemany(self.sql, [self._values(each) for each in parameters]).rowcount)

    def _values(self, parameters: Mapping[str, Any]) -> list[Any]:
        return [bind.value(parameters) for bind in self.binds]

    def named(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """For a driver that takes values by their names."""
        return {bind.name: bind.value(parameters) for bind in self.binds}

    def row(self, row: Sequence[Any]) -> Any:
        values = list(row)
        for index, process in self.processors:
            values[index] = process(values[index])
        return self.make_row(*values)


class Preparations:
    """Remembers statements by identity: one that is seen a second time is worth preparing."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # Each with the statement itself, so that no other one can have its id meanwhile.
        self._seen: dict[_Key, Any] = {}
        self._tried: dict[_Key, tuple[Any, PreparedStatement | None]] = {}
        """Also what cannot be prepared: it is compiled once for finding that out, and not each time."""

    def find(self, statement: Any, parameters: Parameters) -> PreparedStatement | None:
        names = tuple(parameters if isinstance(parameters, Mapping) else parameters[0])
        key = (id(statement), names)
        known = self._tried.get(key)
        if known is not None:
            return known[1]
        if key not in self._seen:
            _remember(self._seen, key, statement)
            return None
        prepared = prepare(statement, names, self._dialect)
        _remember(self._tried, key, (statement, prepared))
        return prepared


def _remember(known: dict[_Key, Any], key: _Key, what: Any) -> None:
    known[key] = what
    if len(known) > REMEMBERED:
        del known[next(iter(known))]


def prepare(statement: Any, names: tuple[str, ...], dialect: Dialect) -> PreparedStatement | None:
    """The statement with these parameters, ready for the driver; None where its SQL depends on their values."""
    if isinstance(statement, TextClause):
        return None  # It does not tell its columns.
    compiled = cast("SQLCompiler", statement.compile(dialect=dialect, column_keys=list(names)))
    if compiled.post_compile_params or compiled.literal_execute_params:
        return None
    binds = tuple(_bind(compiled, name, names, dialect) for name in compiled.positiontup or compiled.binds)
    columns: list[Any] = list(getattr(statement, "exported_columns", ()))
    if any(isinstance(column.type, Numeric) or _is_computed_float(column) for column in columns):
        return None  # As what PostgreSQL sends such a number is only known of each result.
    make_row: Any = cast("Any", namedtuple)("Row", [str(column.key) for column in columns], rename=True)
    processors = [_implementation(column.type, dialect).result_processor(dialect, _DOUBLE) for column in columns]
    used = tuple((index, process) for index, process in enumerate(processors) if process is not None)
    return PreparedStatement(str(compiled), binds, make_row, used)


def _is_computed_float(column: Any) -> bool:
    return isinstance(column.type, Float) and not isinstance(column, Column)


def _bind(compiled: SQLCompiler, name: str, names: tuple[str, ...], dialect: Dialect) -> _Bind:
    bind: Any = compiled.binds[name]
    key = bind.key if bind.key in names else name
    processor = _implementation(bind.type, dialect).bind_processor(dialect)
    return _Bind(compiled.escaped_bind_names.get(name, name), key, key in names, bind.effective_value, processor)


def _implementation(kind: Any, dialect: Dialect) -> Any:
    return kind.dialect_impl(dialect)
