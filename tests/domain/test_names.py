"""Names that are too like others."""

import pytest

from interlock.domain.names import is_like_any, is_mixed, is_reserved


@pytest.mark.parametrize(
    "name",
    [
        "system",
        "System",
        "ｓｙｓｔｅｍ",
        "ѕуѕtеm",
        "sys.tem",
        "5ystem",
        "-system-",
        "interlock",
        "1nterlock",
        "ADMIN",
        "аdmin",
        "admın",
    ],
)
def test_what_looks_like_the_server_or_its_operator_is_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["ann", "王小明", "Мария", "Νίκος", "sysadmin2", "admin@example.com", "mail-system"])
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)
    assert not is_mixed(name)


@pytest.mark.parametrize("name", ["аnn", "annа", "αnn", "Мaria", "ｍаry"])
def test_letters_of_scripts_that_look_alike_are_not_mixed(name: str) -> None:
    assert is_mixed(name)


@pytest.mark.parametrize("name", ["王ann", "ann2", "ann.王", "たなか1", "José"])
def test_other_mixtures_are_no_matter(name: str) -> None:
    assert not is_mixed(name)


@pytest.mark.parametrize("name", ["cope", "Cope", "ＣＯＰＥ", "соре", "COPE"])
def test_names_are_compared_as_they_are_seen(name: str) -> None:
    assert is_like_any(name, ["bo", "cope"])
    assert not is_like_any(name, ["copes", "老王"])
