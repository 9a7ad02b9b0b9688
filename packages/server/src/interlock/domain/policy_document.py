"""A policy as people write it: TOML, or the same as JSON. Everything wrong with it is found at once, with its line."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import RequestKind
from interlock.domain.policy import FACTS, Facts, Rule, Ruling
from interlock.domain.risk import RISK_LEVELS
from interlock.domain.terms import Terms
from interlock.domain.terms_reading import TERMS_KEYS, read_terms

MOST_RULES = 500
LONGEST_TEXT = 512 * 1024
LONGEST_CONDITION = 4096
LONGEST_NAME = 80
_RULE_KEYS = ("name", "then", "when", "tools", "max_risk", "reason", *TERMS_KEYS)
_PATTERN_FROM_CALL = re.compile(r"\bmatches\s*\((?:[^()]*,)?\s*args\b(?=[^,()]*\))")
_SHELL_TEXT = re.compile(r"\bargs\.(command|cmd|script|code)\b")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a policy, or, as a warning, something that its author should know."""

    message: str
    line: int | None = None
    rule: str | None = None
    is_warning: bool = False
    test: int | None = None
    """Which of the policy's own tests fails, where that is what is wrong."""


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """Facts that the author gives, and what the rules have to say of them."""

    facts: Facts
    then: Ruling
    rule: str | None = None
    line: int | None = None
    people: int | None = None
    """How many people it has to be put to; None: any number."""


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    rules: tuple[Rule, ...] = ()
    tests: tuple[PolicyTest, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_right(self) -> bool:
        return is_usable(self.problems)


def is_usable(problems: Sequence[Problem]) -> bool:
    return all(problem.is_warning for problem in problems)


def read(text: str) -> PolicyDocument:
    """The document, with all that is wrong with it; conditions are not compiled here."""
    if len(text) > LONGEST_TEXT:
        return PolicyDocument(problems=(Problem(f"a policy has {LONGEST_TEXT} characters at most"),))
    try:
        raw = _parse(text)
    except _Unreadable as error:
        return PolicyDocument(problems=(error.problem,))
    reader = _Reader(text)
    rules = reader.rules(raw.get("rule", []))
    tests = reader.tests(raw.get("test", []))
    reader.unknown(raw, ("rule", "test"), None, None)
    reader.check_together(rules, tests)
    return PolicyDocument(tuple(rules), tuple(tests), tuple(reader.problems))


class _Unreadable(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def _parse(text: str) -> JsonObject:
    try:
        raw: JsonValue = json.loads(text, object_pairs_hook=_unique) if _is_json(text) else tomllib.loads(text)
    except RecursionError:
        raise _Unreadable(Problem("the policy is nested too deeply")) from None
    except (ValueError, UnicodeError) as error:
        line = re.search(r"at line (\d+)|line (\d+) column", str(error))
        number = int(line[1] or line[2]) if line else None
        if "end of document" in str(error):
            number = len(text.splitlines())
        raise _Unreadable(Problem(f"the policy cannot be read: {error}", number)) from None
    return cast("JsonObject", raw)


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]:\n]')


def _lines_of(text: str, name: str) -> Iterator[int]:
    """Where the objects of one list begin, in JSON that was read before."""
    line, depth, word, key = 1, 0, "", ""
    for token in _JSON_TOKEN.findall(text):
        if token == "\n":
            line += 1
        elif token == ":" and depth == 1:
            key = json.loads(word)
        elif token in "{[":
            depth += 1
            if (token, depth, key) == ("{", 3, name):
                yield line
        elif token in "}]":
            depth -= 1
        else:
            word = token


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    """An object, and no rule lost: of two members with one name JSON keeps the last."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.problems: list[Problem] = []
        self._text = text

    def rules(self, raw: JsonValue) -> list[Rule]:
        lines = self._headers("rule")
        tables = self._tables(raw, "rule")
        placed = [_at(lines, number) or self._line_of(one) for number, one in enumerate(tables[:MOST_RULES])]
        rules = [self._rule(one, placed[number], number) for number, one in enumerate(tables[:MOST_RULES])]
        if len(tables) > MOST_RULES:
            self._problem(f"a policy has {MOST_RULES} rules at most", None, None)
        return [rule for rule in rules if rule is not None]

    def tests(self, raw: JsonValue) -> list[PolicyTest]:
        lines = self._headers("test")
        tables = self._tables(raw, "test")
        tests = [self._test(one, _at(lines, number)) for number, one in enumerate(tables[:MOST_RULES])]
        if len(tables) > MOST_RULES:
            self._problem(f"a policy has {MOST_RULES} tests at most", None, None)
        return [test for test in tests if test is not None]

    def check_together(self, rules: Sequence[Rule], tests: Sequence[PolicyTest]) -> None:
        names = [rule.name for rule in rules]
        for number, rule in enumerate(rules):
            if rule.name in names[:number]:
                self._problem("another rule has this name", rule.line, rule.name)
        for test in tests:
            if test.rule is not None and test.rule not in names:
                self._problem(f"expect.rule names no rule: {test.rule}", test.line, None)

    def unknown(self, table: JsonObject, known: Sequence[str], line: int | None, rule: str | None) -> None:
        for key in table:
            if key not in known:
                self._problem(f"{key} is not known here; known are {', '.join(known)}", line, rule)

    def _rule(self, raw: JsonObject, line: int | None, number: int) -> Rule | None:
        before = len(self.problems)
        name = raw.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            self._problem(f"rule {number + 1} needs a name of 1 to {LONGEST_NAME} printable characters", line, None)
            name = None
        self.unknown(raw, _RULE_KEYS, line, name)
        then = self._one_of(raw.get("then"), [one.value for one in Ruling], "then", line, name)
        risk = self._one_of(raw.get("max_risk", "medium"), RISK_LEVELS, "max_risk", line, name)
        tools: JsonValue = raw.get("tools", [])
        if not isinstance(tools, list) or not all(isinstance(one, str) and one for one in cast("list[object]", tools)):
            self._problem("tools is a list of names", line, name)
        elif not all(one.isprintable() and one == one.strip() for one in cast("list[str]", tools)):
            self._problem("tools has a name with characters that nobody sees", line, name)
        when = self._text_of(raw, "when", LONGEST_CONDITION, line, name)
        reason = self._text_of(raw, "reason", LONGEST_CONDITION, line, name)
        if not all(one.isprintable() or one in "\t\r\n" for one in when):
            self._problem("when has characters that nobody sees: write them as escapes, such as \\u200b", line, name)
        if then == Ruling.ALLOW and _PATTERN_FROM_CALL.search(when):
            self._problem("the pattern of matches stands in the rule: who writes the call would write it", line, name)
        if then == Ruling.ALLOW and not when.strip() and not tools:
            self._problem("a rule that allows needs tools or when: it would allow every call", line, name)
        if then != Ruling.ALLOW and "max_risk" in raw:
            self._problem('max_risk goes with then = "allow"', line, name)
        if then == Ruling.ALLOW and _SHELL_TEXT.search(when):
            warning = "a pattern over the text of a command is no boundary: a shell has many ways to say one thing"
            self.problems.append(Problem(warning, line, name, is_warning=True))
        terms = self._terms(raw, then, line, name)
        if any(not problem.is_warning for problem in self.problems[before:]) or name is None:
            return None
        return Rule(name, Ruling(then), when, tuple(cast("list[str]", tools)), risk, reason, terms, line)

    def _terms(self, raw: JsonObject, then: str, line: int | None, rule: str | None) -> Terms | None:
        terms = read_terms(raw, lambda message: self._problem(message, line, rule))
        if terms is not None and then != Ruling.ASK:
            named = ", ".join(one for one in TERMS_KEYS if one in raw)
            self._problem(f'{named}: only a rule with then = "ask" has this', line, rule)
        return terms

    def _test(self, raw: JsonObject, line: int | None) -> PolicyTest | None:
        before = len(self.problems)
        self.unknown(raw, ("facts", "expect"), line, None)
        facts, expect = raw.get("facts"), raw.get("expect")
        if not isinstance(facts, dict) or not isinstance(expect, dict):
            self._problem("a test has facts and expect", line, None)
            return None
        given, wanted = cast("JsonObject", facts), cast("JsonObject", expect)
        self.unknown(given, FACTS, line, None)
        self.unknown(wanted, ("then", "rule", "people"), line, None)
        then = self._one_of(wanted.get("then"), [one.value for one in Ruling], "expect.then", line, None)
        rule = wanted.get("rule")
        if rule is not None and not isinstance(rule, str):
            self._problem("expect.rule is the name of a rule", line, None)
        people = wanted.get("people")
        if people is not None and (not isinstance(people, int) or isinstance(people, bool)):
            self._problem("expect.people is a whole number", line, None)
        known = self._facts(given, line)
        return PolicyTest(known, Ruling(then), rule, line, people) if len(self.problems) == before else None

    def _facts(self, given: JsonObject, line: int | None) -> Facts:
        kinds = {"tool": str, "args": dict, "agent": str, "owner": str, "outside": bool, "face": str}
        for name, kind in kinds.items():
            if name in given and not isinstance(given[name], kind):
                self._problem(f"facts.{name} has another type", line, None)
        if "risk" in given:
            self._one_of(given["risk"], RISK_LEVELS, "facts.risk", line, None)
        if "kind" in given:
            self._one_of(given["kind"], [one.value for one in RequestKind], "facts.kind", line, None)
        groups: JsonValue = given.get("owner_groups", [])
        if not isinstance(groups, list) or not all(isinstance(one, str) for one in cast("list[object]", groups)):
            self._problem("facts.owner_groups is a list of names", line, None)
        at = given.get("at")
        if isinstance(at, str):
            try:
                at = datetime.fromisoformat(at)
            except ValueError:
                self._problem("facts.at is no moment", line, None)
        if at is not None and not (isinstance(at, datetime) and at.tzinfo):
            self._problem("facts.at is a moment with its zone", line, None)
            at = None
        known: JsonObject = {name: value for name, value in given.items() if name in FACTS}
        known["at"] = at
        return Facts(**known)

    def _tables(self, raw: JsonValue, name: str) -> list[JsonObject]:
        tables = cast("list[JsonValue]", raw) if isinstance(raw, list) else []
        if not isinstance(raw, list) or not all(isinstance(one, dict) for one in tables):
            self._problem(f"{name} is a list of tables: write [[{name}]]", None, None)
            return []
        return cast("list[JsonObject]", tables)

    def _one_of(self, value: JsonValue, known: Sequence[str], name: str, line: int | None, rule: str | None) -> str:
        if value in known:
            return value
        self._problem(f"{name} is one of {', '.join(known)}", line, rule)
        return known[0]

    def _text_of(self, raw: JsonObject, name: str, longest: int, line: int | None, rule: str | None) -> str:
        value = raw.get(name, "")
        if not isinstance(value, str) or len(value) > longest:
            self._problem(f"{name} is a text of {longest} characters at most", line, rule)
            return ""
        return value

    def _problem(self, message: str, line: int | None, rule: str | None) -> None:
        self.problems.append(Problem(message, line, rule))

    def _headers(self, name: str) -> list[int | None]:
        if _is_json(self._text):
            return list(_lines_of(self._text, name))
        header = re.compile(rf"\s*\[\[\s*[\"']?{name}[\"']?\s*\]\]")
        return [number for number, line in enumerate(self._text.split("\n"), 1) if header.match(line)]

    def _line_of(self, rule: JsonObject) -> int | None:
        """Of a rule in a list that is written inline, by its name."""
        named = re.compile(rf"\bname\s*=\s*([\"']){re.escape(str(rule.get('name')))}\1")
        return next((number for number, line in enumerate(self._text.split("\n"), 1) if named.search(line)), None)


def _at(lines: Sequence[int | None], number: int) -> int | None:
    return lines[number] if number < len(lines) else None
