"""The rules of the gateway: what passes, what asks, how risky it is, and what is wrong with a file of rules."""

from typing import Any

import pytest

from interlock.domain.errors import InvalidInput
from interlock.domain.gateway import ToolPolicy, definition_digest, read_policy, read_upstreams

READ = {"name": "t", "annotations": {"readOnlyHint": True}}
WRITE = {"name": "t", "annotations": {"destructiveHint": False, "openWorldHint": False}}
SEND = {"name": "t", "annotations": {"destructiveHint": False}}
DELETE = {"name": "t", "annotations": {"openWorldHint": False}}
UNKNOWN = {"name": "t"}


@pytest.mark.parametrize(
    ("definition", "ruling", "risk"),
    [
        (READ, "allow", "low"),
        (WRITE, "ask", "medium"),
        (SEND, "ask", "high"),
        (DELETE, "ask", "high"),
        (UNKNOWN, "ask", "critical"),
    ],
)
def test_trusted_hints_decide_and_what_is_unsaid_counts_as_the_riskier(
    definition: dict[str, Any], ruling: str, risk: str
) -> None:
    terms = ToolPolicy({"*": "by_hint"}, trust=True).terms_of("t", definition)
    assert (terms.ruling, terms.risk) == (ruling, risk)


def test_hints_that_are_not_trusted_ask_and_make_nothing_repeatable() -> None:
    hinted = {"name": "t", "annotations": {"readOnlyHint": True, "idempotentHint": True}}
    terms = ToolPolicy({"*": "by_hint"}).terms_of("t", hinted)
    assert (terms.ruling, terms.is_idempotent) == ("ask", False)
    trusted = ToolPolicy({"*": "by_hint"}, trust=True).terms_of("t", hinted)
    assert (trusted.ruling, trusted.is_idempotent) == ("allow", True)


def test_the_first_pattern_that_fits_decides_and_what_none_fits_asks() -> None:
    policy = ToolPolicy({"read_secret": "deny", "read_*": "pass"}, risk={"*_all": "critical"}, idempotent=["set_*"])
    assert [policy.rule(tool) for tool in ("read_secret", "read_note", "write")] == ["deny", "pass", "ask"]
    assert policy.terms_of("delete_all", UNKNOWN).risk == "critical"
    assert policy.terms_of("set_note", {}).is_idempotent
    assert [policy.needs_definition(tool) for tool in ("read_secret", "read_note", "write")] == [False, False, True]


def test_any_change_of_a_definition_is_another_digest_and_so_is_another_upstream() -> None:
    digests = {
        definition_digest(upstream, {"name": "t", "description": said, **more})
        for upstream in ("a", "b")
        for said in ("x", "y")
        for more in ({}, {"laterMember": 1})
    }
    assert len(digests) == 8


def test_secrets_are_put_in_and_not_shown() -> None:
    file = {"web": {"url": "https://host/mcp", "headers": {"Authorization": "Bearer secret:TOKEN", "X-Team": "a"}}}
    [settings] = read_upstreams(file, {"TOKEN": "planted"})
    assert settings.headers == {"Authorization": "Bearer planted", "X-Team": "a"}
    assert "planted" not in repr(settings)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"url": "https://h/mcp", "tools": {"a": "aks"}}, "is ask meant?"),
        ({"url": "https://h/mcp", "polcy": "default"}, "is policy meant?"),
        ({"url": "https://h/mcp", "policy": "defualt"}, "is default meant?"),
        ({"url": "https://h/mcp", "risk": {"a": "hihg"}}, "is high meant?"),
        ({"url": "ftp://h"}, "web.url"),
        ({}, "either url or command"),
        ({"url": "https://h/mcp", "command": ["x"]}, "either url or command"),
        ({"command": "x --y"}, "web.command"),
        ({"url": "https://h/mcp", "trust": "yes"}, "web.trust"),
        ({"url": "https://h/mcp", "timeout": 0}, "web.timeout"),
        ({"url": "https://h/mcp", "headers": {"A": "secret:NONE"}}, "there is no secret 'NONE'"),
        ("https://h/mcp", "web: it must be a mapping"),
    ],
)
def test_every_fault_of_a_file_says_where_it_is_and_what_is_meant(entry: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_upstreams({"web": entry}, {})
    assert said in caught.value.message


def test_a_name_has_to_fit_into_an_address() -> None:
    with pytest.raises(InvalidInput, match="/mcp/g/NAME"):
        read_upstreams({"a/b": {"url": "https://h/mcp"}}, {})


def test_rules_alone_are_read_as_in_a_file() -> None:
    policy = read_policy({"tools": {"read_*": "pass"}, "policy": "default"})
    assert dict(policy.tools) == {"read_*": "pass", "*": "ask"}
