"""A rule that is drafted from approved calls allows those, and next to nothing beside them."""

from typing import Any

import pytest

from interlock.conditions import CelConditions
from interlock.domain.likeness import Calls, DraftRule, differences, draft_rule, with_rule
from interlock.domain.policy import Facts, Ruling
from interlock.domain.policy_document import read
from interlock.services.policies.deciding import judge

pytestmark = pytest.mark.promise("P10")

ENGINE = CelConditions()
Args = dict[str, Any]


def drafted(*args: Args, tool: str = "edit", names: tuple[str, ...] = (), is_low: bool = False) -> DraftRule | None:
    return draft_rule(Calls(tool, "demo", 'an"n', is_outside=False, is_low=is_low, args=args), names)


def rule_of(*args: Args, **how: Any) -> DraftRule:
    rule = drafted(*args, **how)
    assert rule is not None
    return rule


def ruling(rule: DraftRule, args: Args, **facts: Any) -> Ruling:
    document = read(rule.text)
    assert document.problems == ()
    given: dict[str, Any] = {"tool": "edit", "agent": "demo", "owner": 'an"n', "risk": "medium", **facts}
    return judge(ENGINE, ENGINE.name, document, Facts(args=args, **given)).ruling


@pytest.mark.parametrize(
    ("calls", "others"),
    [
        pytest.param(
            [{"path": f"docs/{name}", "mode": "w"} for name in ("a.md", "b/c.md", "d.md")],
            [
                {"path": "docs/e.md", "mode": "a"},
                {"path": "src/a.py", "mode": "w"},
                {"path": "docs/../src/a.py", "mode": "w"},
                {"path": "docs2/a.md", "mode": "w"},
                {"path": "docs/a.md", "mode": "w", "force": True},
                {"path": "docs/a.md"},
                {"path": 7, "mode": "w"},
            ],
            id="a folder, and what was equal",
        ),
        pytest.param([{"n": 1}] * 3, [{"n": True}, {"n": "1"}, {"n": 2}, {}], id="a number is no truth"),
        pytest.param([{"all": True}] * 3, [{"all": 1}, {"all": False}], id="a truth is no number"),
        pytest.param([Args()] * 3, [{"x": None}], id="no arguments"),
        pytest.param([{"x": None}] * 3, [{}, {"x": 0}], id="null"),
        pytest.param(
            [{"a b": "\"';\\\n\u200b😀", "of": {"z": [1, 2.5, None]}}] * 3,
            [{"a b": "\"';\\\n😀", "of": {"z": [1, 2.5, None]}}, {"a b": "\"';\\\n\u200b😀", "of": {"z": [1, 2.5]}}],
            id="quotes, names and nested values",
        ),
        pytest.param(
            [{"path": f"/srv/data/{number}/x", "n": number} for number in range(3)],
            [{"path": "/srv/x", "n": 1}, {"path": "//srv/../etc", "n": 1}, {"n": 1}],
            id="an absolute folder",
        ),
    ],
)
def test_it_allows_the_calls_and_asks_about_others(calls: list[Args], others: list[Args]) -> None:
    rule = rule_of(*calls)
    assert [ruling(rule, one) for one in calls] == [Ruling.ALLOW] * len(calls)
    assert [ruling(rule, one) for one in others] == [Ruling.ASK] * len(others)
    for name, value in {"agent": "other", "owner": "bob", "outside": True, "risk": "high", "tool": "remove"}.items():
        assert ruling(rule, calls[0], **{name: value}) is Ruling.ASK


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([{"n": 1}] * 2, id="two calls only"),
        pytest.param([{"command": f"cat docs/{one}"} for one in "abc"], id="a command is no path"),
        pytest.param([{"path": one} for one in ("docs/a", "src/b", "docs/c")], id="no folder in common"),
        pytest.param([{"path": f"/{one}"} for one in "abc"], id="the root"),
        pytest.param([{"path": f"{one}.md"} for one in "abc"], id="the folder that one happens to be in"),
        pytest.param([{"path": f"docs/../{one}"} for one in "abc"], id="a way out"),
        pytest.param([{"path": f"~/docs/{one}"} for one in "abc"], id="a home"),
        pytest.param([{"n": 1, "x": 0}, {"n": True, "x": 1}, {"n": 1.5, "x": 2}], id="equal to Python only"),
        pytest.param([{"n": 2**70}] * 3, id="a number that no condition can say"),
        pytest.param([{"text": "a\0b"}] * 3, id="a character that no condition can say"),
        pytest.param([{"text": "x" * 5_000}] * 3, id="longer than a condition"),
    ],
)
def test_nothing_is_drafted_that_would_be_too_wide(calls: list[Args]) -> None:
    assert drafted(*calls) is None


def test_it_says_which_arguments_may_be_anything() -> None:
    rule = rule_of(*({"branch": "main", "message": text} for text in ("one", "two", "three")))
    assert rule.free == ("message",)
    assert rule.text.startswith('# "message" may be anything\n')
    assert ruling(rule, {"branch": "main", "message": "four"}) is Ruling.ALLOW
    assert ruling(rule, {"branch": "prod", "message": "one"}) is Ruling.ASK


def test_of_low_calls_it_allows_low_ones_only() -> None:
    rule = rule_of({}, {}, {}, is_low=True)
    assert ruling(rule, {}, risk="low") is Ruling.ALLOW
    assert ruling(rule, {}, risk="medium") is Ruling.ASK


OLDER = '[[rule]]\nname = "edit, as approved before"\ntools = ["edit"]\nthen = "ask"\n'


@pytest.mark.parametrize(
    "before",
    [
        OLDER,
        f'{OLDER}\n[[test]]\nfacts = {{tool = "edit"}}\nexpect = {{then = "ask"}}',
        '{"rule": [{"name": "edit, as approved before", "tools": ["edit"], "then": "ask"}]}',
    ],
)
def test_rules_that_are_there_go_before_it(before: str) -> None:
    rule = rule_of({}, {}, {}, names=("edit, as approved before",))
    document = read(with_rule(before, rule))
    assert document.problems == ()
    assert [one.name for one in document.rules] == ["edit, as approved before", "edit, as approved before 2"]
    facts = Facts(tool="edit", agent="demo", owner='an"n', risk="medium")
    assert judge(ENGINE, ENGINE.name, document, facts).ruling is Ruling.ASK


def test_the_first_rule_is_the_whole_policy() -> None:
    rule = rule_of({}, {}, {})
    assert with_rule("", rule) == rule.text


def test_the_longest_name_of_a_tool_makes_a_name() -> None:
    rule = rule_of({}, {}, {}, tool="x" * 300, names=())
    assert read(rule.text).problems == ()


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("a", "changed", ("1",))]),
        ({"a": 2**60}, {"a": 2**60 + 1}, [("a", "changed", (str(2**60),))]),
        ({"a": None}, {}, [("a", "removed", ("null",))]),
        ({}, {"a": None}, [("a", "added", ())]),
        ({"a": {"y": 1, "x": 2}}, {"a": {"x": 2, "y": 1}}, []),
        ({"b": "x", "a": [1]}, {"b": "y", "a": []}, [("a", "changed", ("[", "  1", "]")), ("b", "changed", ('"x"',))]),
    ],
)
def test_differences_are_told_by_argument(before: Args, now: Args, expected: list[tuple[str, str, Any]]) -> None:
    assert [(one.name, one.change, one.before) for one in differences(before, now)] == expected
