"""Single sign-on: roles from groups, names from claims, and the paths that one may come back to."""

import pytest

from interlock.domain.names import is_like_any, names_from
from interlock.domain.principal import Role
from interlock.domain.sign_on import groups_of, local_path, read_role_rules, role_of

RULES = read_role_rules(["admin=ops", "reviewer:refunds=money", "reviewer:mailer=money", "reviewer:refunds=shop"])


@pytest.mark.parametrize(
    ("groups", "role", "agents"),
    [
        ((), Role.OWNER, ()),
        (("Ops", "op", "opsx"), Role.OWNER, ()),
        (("shop",), Role.REVIEWER, ("refunds",)),
        (("money", "shop"), Role.REVIEWER, ("mailer", "refunds")),
        (("money", "ops"), Role.ADMIN, ()),
    ],
)
def test_the_highest_role_of_the_groups_counts(groups: tuple[str, ...], role: Role, agents: tuple[str, ...]) -> None:
    assert role_of(RULES, groups) == (role, agents)


@pytest.mark.parametrize("word", ["admin", "admin=", "admin:x=y", "reviewer=x", "reviewer:=x", "owner=x", "agent=x"])
def test_a_rule_that_says_nothing_clear_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="no rule"):
        read_role_rules([word])


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (None, ()),
        ("one", ("one",)),
        (["b", "a", "a"], ("a", "b")),
        ([1, None, {"a": 1}, "", "x" * 257, "kept"], ("kept",)),
        ({"admins": True}, ()),
        (True, ()),
        ([f"g{number}" for number in range(1_001)], None),
    ],
)
def test_groups_are_the_texts_of_the_claim(claim: object, groups: tuple[str, ...] | None) -> None:
    assert groups_of(claim) == groups


@pytest.mark.parametrize("path", ["/", "/inbox", "/requests/perm_1?from=mail", "/settings/account#x"])
def test_a_path_of_this_server_is_gone_back_to(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "", "inbox", "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example",
        "/.//evil.example",
        "/..//evil.example", "/inbox/../..//evil.example", "/\t/evil.example", "/\n/evil.example", " /inbox",
        "javascript:alert(1)", "/" + "x" * 2_000, "http:/inbox", "///evil.example", "/a//b", "/\u4e2d",
    ],
)  # fmt: skip
def test_no_other_place_is_gone_to(path: str) -> None:
    assert local_path(path) is None


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("ann", "ann"),
        ("ann@corp.example", "ann@corp.example"),
        ("Ann Lee", "Ann.Lee"),
        ("  李明  ", "李明"),
        ("<img src=x onerror=alert(1)>", "img.src.x.onerror.alert.1"),
        ("a\u202egnp\0", "a.gnp"),
        ("\uff41nn", "ann"),
        ("\u0430nn", "person"),
        ("...", "person"),
        ("x" * 300, "x" * 48),
    ],
)
def test_a_name_is_made_of_what_the_provider_says(wish: str, name: str) -> None:
    assert next(names_from([wish], "tail")) == name


def test_a_taken_name_gets_a_number_and_at_last_a_tail_that_is_nobodys() -> None:
    tried = list(names_from(["ann"], "0a1b2c3d"))
    assert tried == [
        "ann", "ann-2", "ann-3", "ann-4", "ann-5", "ann-0a1b2c3d",
        "person", "person-2", "person-3", "person-4", "person-5", "person-0a1b2c3d",
    ]  # fmt: skip
    assert not any(is_like_any(name, tried[:place]) for place, name in enumerate(tried))
