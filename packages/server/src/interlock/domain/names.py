"""Names of people and agents: those that nobody may take, and those that are too like another's.

Compared is what a reader sees: compatibility forms (fullwidth letters) and case are folded, and letters of other
scripts that look like Latin ones are taken for those. Names of one script, Chinese ones too, are as free as before.
"""

import re
import unicodedata
from collections.abc import Iterable

FORM = re.compile(r"[\w.@-]{1,64}\Z")
RESERVED = frozenset({"system", "interlock", "server", "admin", "administrator"})
"""Under which the server itself is seen, or would be taken for an operator."""
OF_ADMINS = frozenset({"admin", "administrator"})
"""Of these, what an admin may be called."""

_ALIKE_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_CYRILLIC = dict(zip("аеѕіјорсухһԁԛԝкмтнвѵӏԍ", "aesijopcyxhdqwkmthbvlg", strict=True))
_GREEK = dict(zip("αονιρυκτχεηβμγωϲϳ", "aovipuktxenbmywcj", strict=True))
_OTHERS = {"ı": "i", "ɑ": "a", "ɡ": "g", "օ": "o", "ո": "n", "ս": "u", "ց": "g", "ƽ": "s"}
_LETTERS = str.maketrans(_CYRILLIC | _GREEK | _OTHERS)
_DIGITS = str.maketrans("0135", "oies")


def skeleton(name: str) -> str:
    """The same for two names that a reader may take for each other."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.translate(_LETTERS)


def is_reserved(name: str, names: Iterable[str] = RESERVED) -> bool:
    """Whether it is, or looks like, one of the names; also with digits for letters, and with signs around."""
    bare = "".join(filter(str.isalnum, skeleton(name)))
    return not {bare, bare.translate(_DIGITS), bare.replace("1", "l")}.isdisjoint(names)


def is_mixed(name: str) -> bool:
    """Whether it has letters of several scripts that look alike, as no word of any language has."""
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", name))
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(scripts.intersection(_ALIKE_SCRIPTS)) > 1


def is_like_any(name: str, others: Iterable[str]) -> bool:
    return skeleton(name) in map(skeleton, others)
