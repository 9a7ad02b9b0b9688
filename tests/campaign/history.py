"""What clients saw of the servers, from outside: what the checkers know, and all that they know."""

import itertools
import json
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Came = Literal["accepted", "lost", "refused", "unknown"]
"""Of a call: it counted; somebody else's had counted before; nothing was changed; nobody knows, since no reply came."""
Verb = Literal["say", "answer", "look"]
Purpose = Literal["approval", "doubt", "question"]
SETTLED = ("answered", "cancelled", "expired")


@dataclass
class Call:
    """A message, an answer or a look, from the moment it was sent to its reply; without one it may still count."""

    number: int
    who: str
    face: str
    verb: Verb
    about: str
    """The thread of a message, the request of an answer or a look."""
    value: str
    """What makes it this one and no other, in the words of `winner`."""
    sent: float
    returned: float | None = None
    came: Came = "unknown"
    told: str = ""
    """To who lost, or looked: what counts, as `value` says it; of a look without one, the status."""
    repeats: bool = False
    """At a face that gives the same person the same reply when they send the same once more."""
    note: str = ""
    """Of an unknown one: what came in place of a reply."""


@dataclass(frozen=True)
class Frame:
    """One event of a stream: its number in the log, and what tells it from others."""

    id: str
    key: str


@dataclass
class Segment:
    """One connection to a stream: where it went on from, and what it was sent until it ended or broke off."""

    who: str
    face: str
    thread: str
    after: str
    frames: list[Frame] = field(default_factory=list[Frame])


@dataclass(frozen=True)
class Asked:
    """A request that clients were shown."""

    request: str
    thread: str
    purpose: Purpose
    effect: str = ""


@dataclass(frozen=True)
class Effect:
    """What a tool was to do once it may, and how often the witness saw it done."""

    name: str
    thread: str
    count: int
    results: int
    """How often the conversation tells the tool's own result."""


@dataclass(frozen=True)
class Ending:
    """A thread after everything: its status, the marks of what was said, its log on each face, and what failed."""

    thread: str
    status: str
    said: tuple[str, ...]
    logs: Mapping[str, tuple[Frame, ...]]
    failures: tuple[str, ...] = ()


Entry = Call | Segment | Asked | Effect | Ending
_KINDS = {kind.__name__: kind for kind in (Call, Segment, Asked, Effect, Ending)}


class History:
    """Written by many threads at once; a call is in it from the moment before it is sent."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._begun = time.monotonic()

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)

    @contextmanager
    def calling(self, who: str, face: str, verb: Verb, about: str, value: str = "") -> Generator[Call]:
        """A call; what came of it is set on it inside of the block. What breaks the block off leaves it unknown."""
        call = self.begin(who, face, verb, about, value)
        yield call
        call.returned = self.now()

    def begin(self, who: str, face: str, verb: Verb, about: str, value: str = "") -> Call:
        call = Call(next(self._numbers), who, face, verb, about, value, self.now())
        self.add(call)
        return call

    def now(self) -> float:
        return round(time.monotonic() - self._begun, 6)

    @property
    def entries(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)

    @property
    def calls(self) -> list[Call]:
        return [one for one in self.entries if isinstance(one, Call)]

    @property
    def segments(self) -> list[Segment]:
        return [one for one in self.entries if isinstance(one, Segment)]

    @property
    def asked(self) -> list[Asked]:
        return list({one.request: one for one in self.entries if isinstance(one, Asked)}.values())

    @property
    def effects(self) -> list[Effect]:
        return [one for one in self.entries if isinstance(one, Effect)]

    @property
    def endings(self) -> list[Ending]:
        return [one for one in self.entries if isinstance(one, Ending)]

    def write(self, path: Path) -> None:
        path.write_text("".join(f"{line(one)}\n" for one in self.entries))

    @classmethod
    def read(cls, path: Path) -> "History":
        history = cls()
        for text in path.read_text().splitlines():
            history.add(_entry(json.loads(text)))
        return history


def line(entry: Entry) -> str:
    return json.dumps({"is": type(entry).__name__, **asdict(entry)}, ensure_ascii=False)


def _entry(fields: dict[str, Any]) -> Entry:
    kind = _KINDS[fields.pop("is")]
    if kind is Segment:
        fields["frames"] = _frames(fields["frames"])
    if kind is Ending:
        fields |= {name: tuple(fields[name]) for name in ("said", "failures")}
        fields["logs"] = {face: tuple(_frames(frames)) for face, frames in fields["logs"].items()}
    return kind(**fields)


def _frames(frames: list[dict[str, str]]) -> list[Frame]:
    return [Frame(**one) for one in frames]


def winner(by: str | None, value: str) -> str:
    """An answer, as who sent it and who is told of it both know it."""
    return f"{by}: {value}"
