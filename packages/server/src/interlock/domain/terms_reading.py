"""What a rule says about people, as it is written."""

from collections.abc import Callable, Sequence
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.terms import (
    EVERYBODY,
    GROUP,
    MOST_CANDIDATES,
    MOST_LEVELS,
    MOST_PLACES,
    MOST_STEPS,
    PERSON,
    AtEnd,
    Level,
    Step,
    Terms,
)

TERMS_KEYS = ("people", "from", "steps", "separate", "code", "refusals", "levels", "at_end", "deadline")
LONGEST = 30 * 24 * 3600
"""Seconds that a level or a deadline is away, at most."""

Problems = Callable[[str], None]


def read_terms(raw: JsonObject, problem: Problems) -> Terms | None:
    """The terms that a rule has; None where it says nothing about people. Everything wrong is told to `problem`."""
    if not any(key in raw for key in TERMS_KEYS):
        return None
    reader = _Reader(problem)
    steps = reader.steps(raw)
    people = sum(step.people for step in steps)
    levels = reader.levels(raw.get("levels", []), steps)
    deadline = reader.number(raw, "deadline", 1, LONGEST) if "deadline" in raw else None
    if deadline is not None and levels and sum(level.after for level in levels) >= deadline:
        problem("a level would open only after the deadline: it never comes")
    at_end = raw.get("at_end", AtEnd.WAIT.value)
    if at_end not in list(AtEnd):
        problem(f"at_end is one of {', '.join(AtEnd)}")
    elif at_end != AtEnd.WAIT and not levels:
        problem("at_end says what comes after the last level, and there are no levels")
    refusals = reader.number(raw, "refusals", 1, MOST_PLACES) if "refusals" in raw else 1
    if refusals > 1 and people < 2:
        problem("refusals goes with more than one person")
    return Terms(
        steps=steps,
        separate=reader.flag(raw, "separate", default=people > 1),
        code=reader.flag(raw, "code", default=False),
        refusals=refusals,
        levels=levels,
        at_end=AtEnd(at_end) if at_end in list(AtEnd) else AtEnd.WAIT,
        deadline=deadline,
    )


def read_candidates(raw: JsonValue, name: str, problem: Problems) -> tuple[str, ...]:
    """Names of groups and people."""
    given = cast("list[JsonValue]", raw) if isinstance(raw, list) else []
    if not 1 <= len(given) <= MOST_CANDIDATES or not all(_is_candidate(one) for one in given):
        problem(f'{name} is a list of 1 to {MOST_CANDIDATES} names such as "{GROUP}payments" or "{PERSON}ann"')
        return (EVERYBODY,)
    return tuple(dict.fromkeys(given))


def _is_candidate(one: JsonValue) -> bool:
    if not isinstance(one, str) or len(one) > 80 or not one.isprintable():
        return False
    return one.startswith((GROUP, PERSON)) and bool(one.partition(":")[2].strip())


class _Reader:
    def __init__(self, problem: Problems) -> None:
        self._problem = problem

    def steps(self, raw: JsonObject) -> tuple[Step, ...]:
        if "steps" not in raw:
            candidates = read_candidates(raw["from"], "from", self._problem) if "from" in raw else (EVERYBODY,)
            people = self.number(raw, "people", 1, MOST_PLACES) if "people" in raw else 1
            self._check_enough([Step(candidates, people)])
            return (Step(candidates, people),)
        if "people" in raw or "from" in raw:
            self._problem("steps goes without people and from: each step has its own")
        found = [self._step(one) for one in self._tables(raw["steps"], "steps", MOST_STEPS)]
        if sum(step.people for step in found) > MOST_PLACES:
            self._problem(f"all steps together have {MOST_PLACES} people at most")
        self._check_enough(found)
        return tuple(found) or (Step(),)

    def levels(self, raw: JsonValue, steps: Sequence[Step]) -> tuple[Level, ...]:
        if raw == []:
            return ()
        known = {one for step in steps for one in step.candidates}
        levels: list[Level] = []
        for table in self._tables(raw, "levels", MOST_LEVELS):
            self._unknown(table, "levels", ("from", "after"))
            candidates = read_candidates(table.get("from"), "levels.from", self._problem)
            if set(candidates) <= known:
                self._problem("a level names only whom an earlier one, or the rule itself, has asked")
            known |= set(candidates)
            levels.append(Level(candidates, self.number(table, "after", 1, LONGEST, "levels.after")))
        return tuple(levels)

    def number(self, raw: JsonObject, key: str, least: int, most: int, name: str | None = None) -> int:
        value = raw.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self._problem(f"{name or key} is a whole number from {least} to {most}")
            return least
        return value

    def flag(self, raw: JsonObject, key: str, *, default: bool) -> bool:
        value = raw.get(key, default)
        if not isinstance(value, bool):
            self._problem(f"{key} is true or false")
            return default
        return value

    def _step(self, raw: JsonObject) -> Step:
        self._unknown(raw, "steps", ("from", "people"))
        candidates = read_candidates(raw.get("from"), "steps.from", self._problem)
        people = self.number(raw, "people", 1, MOST_PLACES, "steps.people") if "people" in raw else 1
        return Step(candidates, people)

    def _check_enough(self, steps: Sequence[Step]) -> None:
        """People who are named are known: fewer of them than places is a wait without end."""
        for step in steps:
            if all(one.startswith(PERSON) for one in step.candidates) and len(step.candidates) < step.people:
                self._problem("fewer people are named than are needed")

    def _tables(self, raw: JsonValue, name: str, most: int) -> list[JsonObject]:
        tables = cast("list[JsonValue]", raw) if isinstance(raw, list) else []
        if not 1 <= len(tables) <= most or not all(isinstance(one, dict) for one in tables):
            self._problem(f"{name} is a list of 1 to {most} tables")
            return []
        return cast("list[JsonObject]", tables)

    def _unknown(self, table: JsonObject, name: str, known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                self._problem(f"{name}.{key} is not known here; known are {', '.join(known)}")
