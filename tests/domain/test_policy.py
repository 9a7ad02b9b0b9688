"""Rules: which one decides, and that nothing that goes wrong becomes a permission."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.policy import ConditionError, Facts, Rule, Ruling, decide
from interlock.domain.policy_document import MOST_RULES, read
from interlock.domain.terms import Terms
from interlock.services.policies.deciding import judge

pytestmark = pytest.mark.promise("P24")

HOW = st.sampled_from(["yes", "no", "error"])
RULES = st.lists(st.tuples(st.sampled_from(list(Ruling)), HOW), max_size=6)


def decided(rules: Sequence[tuple[Ruling, str]], facts: Facts = Facts(tool="t")) -> tuple[Ruling, str | None]:
    def holds(rule: Rule) -> bool:
        if rule.when == "error":
            raise ConditionError("why")
        return rule.when == "yes"

    named = [Rule(f"rule {number}", then, when) for number, (then, when) in enumerate(rules)]
    found = decide(named, facts, holds)
    return found.ruling, found.rule.name if found.rule else None


@given(RULES)
def test_the_first_that_applies_decides_and_a_refusal_goes_before_all(rules: list[tuple[Ruling, str]]) -> None:
    ruling, name = decided(rules)
    applying = [(then, f"rule {number}") for number, (then, how) in enumerate(rules) if how == "yes"]
    refusals = [one for one in applying if one[0] is Ruling.DENY]
    if refusals:
        assert (ruling, name) == refusals[0]
    elif not applying:
        assert (ruling, name) == (Ruling.ASK, None)
    elif ruling is Ruling.ALLOW:
        # Nothing that may have decided otherwise went wrong.
        before = rules[: int(name.removeprefix("rule "))] if name else rules
        assert (ruling, name) == applying[0]
        assert all(how != "error" for _, how in before)
        assert (Ruling.DENY, "error") not in rules
    else:
        assert ruling is Ruling.ASK


WITH_TERMS = st.lists(st.tuples(st.sampled_from(list(Ruling)), HOW, st.booleans()), max_size=6)


@pytest.mark.promise("P19")
@given(WITH_TERMS)
def test_a_rule_that_cannot_be_evaluated_asks_no_fewer_people(rules: list[tuple[Ruling, str, bool]]) -> None:
    """Whatever a condition in doubt would have said: the call takes the yes of those whom its rule names, or is
    refused."""

    def named(how: Sequence[str]) -> list[Rule]:
        return [
            Rule(str(number), then, now, terms=Terms() if has_terms and then is Ruling.ASK else None)
            for number, ((then, _, has_terms), now) in enumerate(zip(rules, how, strict=True))
        ]

    def holds(rule: Rule) -> bool:
        if rule.when == "error":
            raise ConditionError("why")
        return rule.when == "yes"

    found = decide(named([how for _, how, _ in rules]), Facts(tool="t"), holds)
    # Had each that failed applied alone: where that is put to certain people, so is this.
    for number, (_, how, _) in enumerate(rules):
        if how != "error":
            continue
        others = ["no" if one == "error" else one for _, one, _ in rules]
        applied = decide(named([*others[:number], "yes", *others[number + 1 :]]), Facts(tool="t"), holds)
        if applied.ruling is not Ruling.ALLOW:
            assert found.ruling is not Ruling.ALLOW
        if applied.rule is not None and applied.rule.terms is not None:
            assert found.ruling is Ruling.DENY or (found.rule is not None and found.rule.terms is not None)


@pytest.mark.parametrize(
    ("risk", "max_risk", "ruling"),
    [
        ("low", "medium", Ruling.ALLOW),
        ("medium", "medium", Ruling.ALLOW),
        ("high", "medium", Ruling.ASK),
        ("critical", "high", Ruling.ASK),
        ("high", "critical", Ruling.ALLOW),
        ("unheard-of", "critical", Ruling.ASK),
        ("", "critical", Ruling.ASK),
    ],
)
def test_a_permission_has_a_ceiling(risk: str, max_risk: str, ruling: Ruling) -> None:
    rule = Rule("r", Ruling.ALLOW, tools=("t",), max_risk=max_risk)
    assert decide([rule], Facts(tool="t", risk=risk), lambda _: True).ruling is ruling


def test_only_approvals_are_allowed_or_denied() -> None:
    rules = [Rule("no", Ruling.DENY, "x"), Rule("yes", Ruling.ALLOW, "x")]
    assert decide(rules, Facts(kind="env_var"), lambda _: True).ruling is Ruling.ASK


def test_a_policy_is_read_from_toml_and_from_json() -> None:
    toml = '[[rule]]\nname = "docs"\ntools = ["read_file"]\nwhen = "true"\nthen = "allow"\n'
    json = '{"rule": [{"name": "docs", "tools": ["read_file"], "when": "true", "then": "allow"}]}'
    (rule,) = read(toml).rules
    assert (rule.name, rule.tools, rule.then, rule.max_risk, rule.line) == (
        "docs",
        ("read_file",),
        Ruling.ALLOW,
        "medium",
        1,
    )
    assert [one.name for one in read(json).rules] == ["docs"]
    assert read(toml).is_right


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("[[rule]]\nname = ", 2, "cannot be read"),
        ("{", 1, "cannot be read"),
        ('{"rule": [], "rule": []}', None, "stands twice"),
        ("rule = 3", None, "[[rule]]"),
        (
            '{\n"rule": [{"name": "a\\"[{", "then": "ask",\n"levels": []},\n{"name": "r", "then": "x"}]}',
            4,
            "then is one of",
        ),
        ('{"rule": [],\n"test": [\n\n{"facts": {"tool": 3}, "expect": {"then": "ask"}}]}', 4, "facts.tool"),
        ('[[rule]]\nthen = "ask"', 1, "needs a name"),
        ('rule = [\n{name = "a", then = "ask"},\n{name = "b", then = "x"},\n]', 3, "then is one of"),
        ('\n[[rule]]\nname = "r"\nthen = "permit"', 2, "then is one of"),
        ('[[rule]]\nname = "r"\nthen = "ask"\npersons = 2', 1, "persons is not known"),
        ('[[rule]]\nname = "r"\nthen = "allow"', 1, "would allow every call"),
        ('[[rule]]\nname = "r"\nthen = "allow"\nwhen = " "', 1, "would allow every call"),
        ('[[rule]]\nname = "r"\nthen = "deny"\ntools = "all"', 1, "list of names"),
        ('[[rule]]\nname = "r"\nthen = "deny"\nmax_risk = "high"', 1, "max_risk goes with"),
        ('[[rule]]\nname = "r"\nthen = "ask"\n[[rule]]\nname = "r"\nthen = "deny"', 4, "another rule has this name"),
        ('[[rule]]\nname = "a\\u0007"\nthen = "ask"', 1, "printable"),
        ('[[test]]\nfacts = {tools = "x"}\nexpect = {then = "ask"}', 1, "tools is not known"),
        ('[[test]]\nfacts = {owner_groups = "x"}\nexpect = {then = "ask"}', 1, "facts.owner_groups"),
        ('[[test]]\nfacts = {tool = 3}\nexpect = {then = "ask"}', 1, "facts.tool"),
        ('[[test]]\nfacts = {at = "noon"}\nexpect = {then = "ask"}', 1, "facts.at"),
        ('[[test]]\nfacts = {}\nexpect = {then = "ask", rule = "x"}', 1, "names no rule: x"),
        ('[[rule]]\nname = "r"\nthen = "deny"\ntools = ["rm\\u200b"]', 1, "nobody sees"),
        ('[[rule]]\nname = "r"\nthen = "deny"\nwhen = "tool == \'a\\u202e\'"', 1, "nobody sees"),
        ('{"rule": [{"name": "r", "then": "allow", "when": "true\\u0000 && false"}]}', None, "nobody sees"),
        ('[[rule]]\nname = "r"\nthen = "allow"\nwhen = "args.a.matches(args.b)"', 1, "pattern of matches"),
        ('#\u2028\n[[rule]]\nthen = "ask"', 2, "needs a name"),
        ("[[rules]]", None, "rules is not known"),
        ("[" * 5000, None, "cannot be read"),
        ('{"rule":' + "[" * 100_000, None, "nested too deeply"),
        ("x" * 600_000, None, "characters at most"),
        ('[[rule]]\nname = "r"\nthen = "ask"\n' * (MOST_RULES + 1), None, f"{MOST_RULES} rules at most"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int | None, part: str) -> None:
    document = read(text)
    assert not document.is_right
    assert any(part in problem.message for problem in document.problems), document.problems
    if line is not None:
        assert any(part in problem.message and problem.line == line for problem in document.problems)


def test_a_pattern_over_shell_text_is_warned_of_and_taken() -> None:
    document = read('[[rule]]\nname = "ls"\nthen = "allow"\nwhen = \'args.command.startsWith("ls")\'\n')
    assert document.is_right
    assert [problem.is_warning for problem in document.problems] == [True]


class Everything:
    """Conditions that all hold."""

    name, version = "all", "1"

    def reads(self, condition: str) -> tuple[str, ...]:
        return ()

    def check(self, condition: str) -> None: ...

    def read(self, facts: Facts) -> "Everything":
        return self

    def holds(self, condition: str) -> bool:
        return True


def test_a_rule_that_cannot_be_read_may_have_refused() -> None:
    """An older server beside a newer one, whose rules say more than this one knows."""
    text = '[[rule]]\nname = "n"\nthen = "deny"\npeople = 2\n[[rule]]\nname = "y"\ntools = ["t"]\nthen = "allow"\n'
    document = read(text)
    assert [rule.name for rule in document.rules] == ["y"]
    found = judge(Everything(), "all", document, Facts(tool="t"))
    assert (found.ruling, found.rule) == (Ruling.ASK, None)
    assert "cannot read" in found.errors[0][1]
