"""To which ask an answer belongs: to the asker and the words that it was given to, and to nothing else.

LangGraph hands the answers of a task out by position. That is enough for a node that asks the same things in the same
order, and not where calls run side by side, are left out after a crash, have their result given by a person, or where
a list became shorter or a price higher in between.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from interlock.domain.effect import NODE_EFFECT, UNKEPT
from interlock.domain.json_value import JsonObject, JsonValue

INSIDE = " > "
"""Stands between the names of effects, the outermost first, that make an asker."""
_OUTER = re.compile(r"\|(?!\d+(?:\||$))")


@dataclass(frozen=True, slots=True)
class AskBinding:
    asker: str | None
    """The effect inside of which it was asked, empty for a node's own code; None where a crash took that knowledge."""
    value: str
    """The digest of what was asked."""
    site: str | None = None
    """Where in the code it was asked."""
    changes: int = 0
    """How often in a row this place asked in other words than those that had been answered, this time included."""
    acts: str | None = None
    """The digest of the calls around it, with their arguments. None where a version before this one asked."""
    space: str | None = None
    """The namespace of the graph that asked. None where that is not known."""

    def is_same_place(self, other: "AskBinding") -> bool:
        return self.site is not None and (self.asker, self.site) == (other.asker, other.site)

    def to_json(self) -> JsonObject:
        # `alone` is for a worker of the version before, which then goes by the words too.
        return {
            "asker": self.asker,
            "asked": self.value,
            "site": self.site,
            "changes": self.changes,
            "acts": self.acts,
            "space": self.space,
            "alone": False,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> "AskBinding | None":
        """None for a request that was written before bindings were."""
        if "asked" not in data:
            return None
        known = data["asker"], data["asked"], data["site"]
        return cls(*known, data.get("changes", 0), data.get("acts"), data.get("space"))


Answers = Sequence[AskBinding | None]
"""What the answers of a task were given to, by position; None where that is not known."""


def own_answer(ask: AskBinding, spellings: Collection[str], answers: Answers, taken: Collection[int]) -> int | None:
    """The position of the first answer that was given to these words of this asker, and that nobody has taken yet.

    `spellings` are the digests that these words may have on record. An answer about other arguments is none.
    """
    for index, given in enumerate(answers):
        if index in taken or given is None or given.value not in spellings or given.acts not in (None, ask.acts):
            continue
        if given.asker in (None, ask.asker) and not _is_replaced(given, answers[index + 1 :]):
            return index
    return None


def _is_replaced(given: AskBinding, later: Answers) -> bool:
    """Whether its place has asked in other words since: what was said before that does not hold any more."""
    return any(one is not None and one.changes and one.is_same_place(given) for one in later)


def changes_of(ask: AskBinding, answers: Answers, taken: Collection[int]) -> int:
    """How often in a row the place has changed its words, if it asks these now: none of its answers fits them."""
    here = [index for index, one in enumerate(answers) if one is not None and one.is_same_place(ask)]
    if not here or any(index in taken for index in here):
        return 0
    last = answers[here[-1]]
    return 1 + (last.changes if last is not None else 0)


def is_about(asked_in: str | None, run_in: str | None) -> bool:
    """Whether what a graph asked may be about a call of another: one of them is inside the other, or nothing is known.

    Graphs side by side do not speak for each other, though their models may give calls the same id.
    """
    asker_graphs, runner_graphs = _graphs(asked_in), _graphs(run_in)
    shared = min(len(asker_graphs), len(runner_graphs))
    return asker_graphs[:shared] == runner_graphs[:shared]


def are_in_same_calls(asker: str | None, other: str) -> bool:
    """Whether both are inside the same tool calls, or nothing is known.

    What is asked inside of a call is about calls that are made there: not about that one, which runs already, and not
    about those beside it, though an inner model may give its calls the ids that they have.
    """
    return asker is None or _calls(asker) == _calls(other)


def _calls(asker: str) -> list[str]:
    names = [name for name in asker.split(INSIDE) if not name.startswith(UNKEPT)]
    return [name for name in names if not name.partition("/")[2].startswith(NODE_EFFECT)]


def _graphs(space: str | None) -> list[str]:
    """The graphs from the outside in. A number tells those apart that one task called."""
    return _OUTER.split(space) if space else []
