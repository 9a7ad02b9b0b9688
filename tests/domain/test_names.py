"""Names that are too like others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.names import FORM, RESERVED, is_like_any, is_mixed, is_reserved


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
        "adm1n",
        "ADMlN",
        "AdmIn",
        "adrnin",
        "admin1",
        "root0",
        "r00t",
        "ROOT",
        "lnterlock",
        "1NTERL0CK",
        "ｓｙｓｔｅｍ０",
        "ᴀᴅᴍɪɴ",
        "ᏚᎩᏚᎢᎬᎷ",
        "ꮪꮍꮪꭲꭼꮇ",
        "ꓮꓓꓟꓲꓠ",
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


@pytest.mark.parametrize("unseen", ["\u115f", "\u1160", "\u3164", "\uffa0"])
def test_no_name_has_a_letter_that_is_not_seen(unseen: str) -> None:
    assert FORM.match("이순신")
    for name in (unseen, f"admin{unseen}", f"a{unseen}nn"):
        assert not FORM.match(name)


@pytest.mark.parametrize("name", ["王ann", "ann2", "ann.王", "たなか1", "José"])
def test_other_mixtures_are_no_matter(name: str) -> None:
    assert not is_mixed(name)


@pytest.mark.parametrize("name", ["cope", "Cope", "ＣＯＰＥ", "соре", "COPE"])
def test_names_are_compared_as_they_are_seen(name: str) -> None:
    assert is_like_any(name, ["bo", "cope"])
    assert not is_like_any(name, ["copes", "老王"])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("bi11", "bill"),
        ("biIl", "bill"),
        ("BlLL", "bill"),
        ("bill", "BlLL"),
        ("b0b", "bob"),
        ("rnary", "mary"),
        ("vvill", "will"),
        ("０scar", "oscar"),
        ("Ian", "lan"),
    ],
)
def test_strokes_circles_and_pairs_that_are_read_as_others_are_alike(name: str, other: str) -> None:
    assert is_like_any(name, [other])


@pytest.mark.parametrize(("name", "other"), [("ann.", "ann"), ("ann", "_ann"), ("@Ann-", "ann"), ("ann．", "ann")])
def test_signs_at_either_end_make_no_other_name(name: str, other: str) -> None:
    assert is_like_any(name, [other])


@pytest.mark.parametrize(
    ("name", "other"), [("ann.b", "annb"), ("neil", "nell"), ("Neil", "Nell"), ("ann1", "ann2"), ("bo", "bob")]
)
def test_names_that_are_read_apart_are_not_alike(name: str, other: str) -> None:
    assert not is_like_any(name, [other])


seen = st.text("aAnlI1iobm0rvw.@-ѕаｎ王", min_size=1, max_size=8)


@given(seen, seen)
def test_being_alike_is_mutual(name: str, other: str) -> None:
    assert is_like_any(name, [name])
    assert is_like_any(name, [other]) == is_like_any(other, [name])


@given(st.sampled_from(sorted(RESERVED)), st.text("._@-", max_size=3), st.text("0123456789", max_size=3), st.booleans())
def test_signs_case_and_numbers_free_no_reserved_name(name: str, signs: str, number: str, is_upper: bool) -> None:
    assert is_reserved(signs + (name.upper() if is_upper else name) + signs + number)
